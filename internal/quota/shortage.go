package quota

import "strings"

// Shortage is what a request for a resource lacks in the flavor that has most of
// it, 0 for nothing. Missing is what is not to be had now without preempting anyone,
// Beyond what its queue can never hold.
type Shortage struct {
	Flavor          string
	Missing, Beyond int64
}

// Room is what a ClusterQueue can get of a resource in a flavor: now, without
// preempting anyone, and ever. Base units.
type Room struct {
	Flavor    string
	Now, Most int64
}

// Room returns what a queue can get of a resource in a flavor.
func (t *Tree) Room(queue, flavor, resource string) Room {
	return Room{flavor, t.Available(queue, flavor, resource), t.Potential(queue, flavor, resource)}
}

// LeastShort compares a request with the rooms that it may use, and returns the
// least shortage. What is said of a waiting job, wherever it is said, rests on it.
func LeastShort(rooms []Room, want int64) Shortage {
	var out Shortage
	for i, r := range rooms {
		missing, beyond := max(want-r.Now, 0), max(want-r.Most, 0)
		if i == 0 || beyond < out.Beyond || beyond == out.Beyond && missing < out.Missing {
			out = Shortage{r.Flavor, missing, beyond}
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
