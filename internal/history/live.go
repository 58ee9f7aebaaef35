package history

import (
	"maps"
	"slices"
	"time"
)

// live is what is known at the last sample.
type live struct {
	time time.Time
	jobs map[string]*Track // by UID; only the last change of each
	// ids are the numbers in the segment of the jobs that exist, by UID. count is the next number: a job that comes back
	// gets a new one.
	ids    map[string]int
	count  int
	byID   []string // UIDs, of a segment that is read
	queues map[QueueKey]QueueFigures
	nodes  map[NodeKey]NodeFigures
}

func newLive() *live {
	return &live{jobs: map[string]*Track{}, ids: map[string]int{}, queues: map[QueueKey]QueueFigures{}, nodes: map[NodeKey]NodeFigures{}}
}

// next returns the line of an observation, and what is known after it. whole makes the line of a new segment,
// which has everything.
func (l *live) next(o Observation, whole bool) (line, *live) {
	n := &live{time: o.Time, jobs: maps.Clone(l.jobs), ids: l.ids, count: l.count, queues: l.queues, nodes: l.nodes}
	out := line{Time: o.Time.Unix()}
	if whole {
		n.ids, n.count = map[string]int{}, 0
		for _, uid := range slices.Sorted(maps.Keys(l.jobs)) {
			t := l.jobs[uid]
			out.Jobs = append(out.Jobs, jobLine{n.id(uid), t.Job})
			out.Changes = append(out.Changes, changeLine{n.ids[uid], t.last()})
		}
	} else {
		n.ids = maps.Clone(l.ids)
	}
	seen := make(map[string]bool, len(o.Jobs))
	for _, j := range o.Jobs {
		if j.UID == "" || len(j.Phases) == 0 {
			continue
		}
		seen[j.UID] = true
		known := l.jobs[j.UID]
		if known == nil {
			known = &Track{}
		}
		if j.InstanceType == "" { // an eviction forgets it
			j.InstanceType = known.InstanceType
		}
		fresh := fresh(known.last(), j.Phases, o.Time)
		if known.UID != "" && len(fresh) == 0 && known.Job.same(j.Job) {
			continue
		}
		if !known.Job.same(j.Job) {
			out.Jobs = append(out.Jobs, jobLine{n.id(j.UID), j.Job})
		}
		t := &Track{Job: j.Job, Changes: []Change{known.last()}}
		for _, c := range fresh {
			out.Changes = append(out.Changes, changeLine{n.id(j.UID), c})
			t.Changes[0] = c
		}
		n.jobs[j.UID] = t
	}
	if o.JobsComplete || len(o.CompleteIn) > 0 {
		for _, uid := range slices.Sorted(maps.Keys(l.jobs)) {
			if seen[uid] || !o.JobsComplete && !slices.Contains(o.CompleteIn, l.jobs[uid].Namespace) {
				continue
			}
			if t := l.jobs[uid]; !t.last().Phase.Over() {
				at := l.time
				if at.Before(t.last().Time) {
					at = t.last().Time
				}
				out.Changes = append(out.Changes, changeLine{n.id(uid), Change{Time: at, Phase: Vanished}})
			}
			delete(n.jobs, uid)
			delete(n.ids, uid)
		}
	}
	if o.Queues != nil {
		n.queues = o.Queues
	}
	if o.Nodes != nil {
		n.nodes = o.Nodes
	}
	out.Queues = differences(l.queues, n.queues, whole, func(k QueueKey, v QueueFigures) queueLine { return queueLine{k, v} })
	out.Nodes = differences(l.nodes, n.nodes, whole, func(k NodeKey, v NodeFigures) nodeLine { return nodeLine{k, v} })
	return out, n
}

// id returns the number of a job in the segment.
func (l *live) id(uid string) int {
	id, ok := l.ids[uid]
	if !ok {
		id = l.count
		l.ids[uid] = id
		l.count++
	}
	return id
}

// fresh returns the phases that are new after the last one. Conditions have whole seconds, so a new phase may
// have the second of the last one. A phase is never before the one that it follows, nor in the future.
func fresh(last Change, phases []Change, now time.Time) (out []Change) {
	for _, c := range phases {
		if last.Phase == "" || c.Time.After(last.Time) {
			out = append(out, c)
		}
	}
	end := phases[len(phases)-1]
	switch {
	case last.Phase == "":
	case len(out) == 0 && end.Phase != last.Phase:
		end.Time = last.Time
		out = append(out, end)
	case len(out) == 0 && end.Phase == Holding && end.Borrowed != nil && !maps.Equal(end.Borrowed, last.Borrowed):
		// What it borrows has changed since the last sample.
		end.Time = now
		out = append(out, end)
	case len(out) == 1 && out[0].Phase == last.Phase && out[0].Phase.Over():
		return nil // the time of the end was corrected
	}
	for i := range out {
		if out[i].Time.After(now) {
			out[i].Time = now
		}
	}
	return out
}

// differences returns the values that changed; what is gone is zero.
func differences[K comparable, V comparable, L any](old, now map[K]V, whole bool, of func(K, V) L) (out []L) {
	var zero V
	for k, v := range now {
		if had, ok := old[k]; whole || !ok || had != v {
			out = append(out, of(k, v))
		}
	}
	for k, had := range old {
		if _, ok := now[k]; !ok && had != zero && !whole {
			out = append(out, of(k, zero))
		}
	}
	return out
}

// apply adds a line to what is known; first is the first line of a segment.
func (l *live) apply(s line, first bool, kept keeper) {
	if first {
		l.ids, l.byID, l.count = map[string]int{}, nil, 0
	}
	l.time = unix(s.Time)
	for _, j := range s.Jobs {
		l.count = max(l.count, j.ID+1)
		for len(l.byID) <= j.ID {
			l.byID = append(l.byID, "")
		}
		t := &Track{Job: kept.job(j.Job)}
		l.byID[j.ID], l.ids[t.UID] = t.UID, j.ID
		if old := l.jobs[t.UID]; old != nil {
			t.Changes = old.Changes
		}
		l.jobs[t.UID] = t
	}
	for _, c := range s.Changes {
		if c.ID >= len(l.byID) {
			continue
		}
		uid := l.byID[c.ID]
		if t := l.jobs[uid]; t != nil {
			t.Changes = []Change{kept.change(c.Change)}
		}
		if c.Phase == Vanished {
			delete(l.jobs, uid)
		}
	}
	for _, q := range s.Queues {
		l.queues[kept.queue(q.Key)] = q.QueueFigures
	}
	for _, n := range s.Nodes {
		l.nodes[kept.node(n.Key)] = n.NodeFigures
	}
}
