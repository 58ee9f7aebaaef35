package quota

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// DecidingShortages returns the shortages that decide, of those that a message of Kueue names: all of one resource, of
// accelerators where those are short. A flavor that can never hold the request counts only if all of them cannot;
// never reports that.
func DecidingShortages(message string) (out []words.Shortage, never bool) {
	all := words.Shortages(message)
	hopeless := map[string]bool{}
	for _, s := range all {
		if s.Most != "" {
			hopeless[s.Flavor] = true
		}
	}
	never = len(all) > 0 && !slices.ContainsFunc(all, func(s words.Shortage) bool { return !hopeless[s.Flavor] })
	all = slices.DeleteFunc(all, func(s words.Shortage) bool {
		if never {
			return s.Most == ""
		}
		return hopeless[s.Flavor]
	})
	for _, s := range all {
		if len(out) > 0 && kinds.ResourceRank(s.Resource) < kinds.ResourceRank(out[0].Resource) {
			out = nil
		}
		if len(out) == 0 || s.Resource == out[0].Resource {
			out = append(out, s)
		}
	}
	return out, never
}

// Shortage is what a request for a resource lacks in the flavor that lacks least, 0
// for nothing. Missing is not available now without preemption; Beyond exceeds what
// the queue can ever hold.
type Shortage struct {
	Flavor          string
	Missing, Beyond int64
}

// Less reports whether a shortage is smaller than another one. Beyond counts first.
func (s Shortage) Less(o Shortage) bool {
	return s.Beyond < o.Beyond || s.Beyond == o.Beyond && s.Missing < o.Missing
}

// Availability is what a ClusterQueue can get of a resource in a flavor: Now without
// preemption, and at Most. The units are those of state.Amounts.
type Availability struct {
	Flavor    string
	Now, Most int64
}

// Availability returns what a queue can get of a resource in a flavor.
func (t *Tree) Availability(queue, flavor, resource string) Availability {
	return Availability{flavor, t.Available(queue, flavor, resource), t.Potential(queue, flavor, resource)}
}

// LeastShort compares a request with the flavors that it may use and returns the
// smallest shortage. Every command that says what a waiting job lacks uses it.
func LeastShort(flavors []Availability, want int64) Shortage {
	var out Shortage
	for i, r := range flavors {
		if s := (Shortage{r.Flavor, max(want-r.Now, 0), max(want-r.Most, 0)}); i == 0 || s.Less(out) {
			out = s
		}
	}
	return out
}

// Selects reports whether pods with a node selector can use a flavor. labels are those
// of the flavor's nodes; keys are the label keys of all flavors of its resource group.
// Kueue ignores other keys.
func Selects(selector, labels map[string]string, keys map[string]bool) bool {
	for key, want := range selector {
		if keys[key] && labels[key] != want {
			return false
		}
	}
	return true
}
