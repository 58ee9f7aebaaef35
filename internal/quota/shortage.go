package quota

// Shortage is what a request for a resource lacks in the flavor that has most of
// it, 0 for nothing. Missing is what is not to be had now without preempting anyone,
// Beyond what its queue can never hold.
type Shortage struct {
	Flavor          string
	Missing, Beyond int64
}

// Less reports a shortage that is less than another: what can be had at all comes
// before what cannot.
func (s Shortage) Less(o Shortage) bool {
	return s.Beyond < o.Beyond || s.Beyond == o.Beyond && s.Missing < o.Missing
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
		if s := (Shortage{r.Flavor, max(want-r.Now, 0), max(want-r.Most, 0)}); i == 0 || s.Less(out) {
			out = s
		}
	}
	return out
}

// Selects reports a flavor that pods with a node selector can go to. labels are of
// the flavor's nodes; keys are those of all flavors of its resource group: as in
// Kueue, others do not count.
func Selects(selector, labels map[string]string, keys map[string]bool) bool {
	for key, want := range selector {
		if keys[key] && labels[key] != want {
			return false
		}
	}
	return true
}
