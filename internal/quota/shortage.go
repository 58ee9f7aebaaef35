package quota

import "strings"

// Shortage is what a request for a resource lacks in the flavor that has most of
// it, 0 for nothing. Missing is what is not to be had now without preempting anyone,
// Beyond what its queue can never hold.
type Shortage struct {
	Flavor          string
	Missing, Beyond int64
}

// Shortage compares a request with what a ClusterQueue gets of a resource: of
// several flavors, one that the request may use, with that of the least shortage.
// What is said of a waiting job, wherever it is said, rests on it.
func (t *Tree) Shortage(queue string, flavors []string, resource string, want int64) Shortage {
	var out Shortage
	for i, f := range flavors {
		missing := max(want-max(t.Available(queue, f, resource), 0), 0)
		beyond := max(want-t.Potential(queue, f, resource), 0)
		if i == 0 || beyond < out.Beyond || beyond == out.Beyond && missing < out.Missing {
			out = Shortage{f, missing, beyond}
		}
	}
	return out
}

// RuledOut reports a flavor of which Kueue's message says that a job's pods cannot
// go there (flavorassigner: node affinity and taints).
func RuledOut(message, flavor string) bool {
	if strings.Contains(message, "flavor "+flavor+" doesn't match node affinity") {
		return true
	}
	for _, part := range strings.Split(message, ", ") {
		if strings.Contains(part, "untolerated taint ") && strings.HasSuffix(part, " in flavor "+flavor) {
			return true
		}
	}
	return false
}
