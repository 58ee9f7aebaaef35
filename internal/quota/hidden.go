package quota

import (
	"maps"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// hidden adds a team for each ClusterQueue that cannot be read but that LocalQueues or
// workloads lead to. Its use is what those LocalQueues report, or where they cannot be
// read, what the workloads hold. Its quota is not known.
func (b *builder) hidden() {
	if len(b.s.MissingOf(kinds.ClusterQueue)) == 0 {
		return
	}
	local := map[string][]*state.LocalQueue{}
	for i := range b.s.LocalQueues {
		q := &b.s.LocalQueues[i]
		if _, known := b.r.Tree.queues[q.ClusterQueue]; !known && q.ClusterQueue != "" {
			local[q.ClusterQueue] = append(local[q.ClusterQueue], q)
		}
	}
	held, admitted := usages(b.s.Workloads)
	for i := range b.s.Workloads {
		w := &b.s.Workloads[i]
		name := ""
		switch {
		case Holds(w):
			name = w.Admission.ClusterQueue
		case Waits(w):
			name = b.clusterQueueOf(w)
		}
		if _, known := b.r.Tree.queues[name]; !known && name != "" && local[name] == nil {
			local[name] = []*state.LocalQueue{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(local)) {
		queues := local[name]
		reserved, used := held[name], admitted[name]
		t := Team{Name: TeamOf(name), ClusterQueue: name, Namespaces: b.namespaces[name], State: Hidden, IdleSharing: IsIdleSharing(name),
			Share: Share{Unknown: true}, Running: b.running[name], Waiting: b.waiting[name]}
		if len(queues) > 0 {
			reserved, used, t.Running, t.Waiting = Usage{}, Usage{}, 0, 0
			for _, q := range queues {
				reserved.sum(statusUsage(q.Reservation))
				used.sum(statusUsage(q.Usage))
				t.Running, t.Waiting = t.Running+q.Reserving, t.Waiting+q.Pending
			}
		}
		t.Resources = b.hiddenRows(name, reserved, used, b.waiting[name] >= t.Waiting)
		b.r.Teams = append(b.r.Teams, t)
	}
}

// hiddenRows returns the rows of a team whose use alone is known.
func (b *builder) hiddenRows(queue string, reserved, used Usage, pending bool) []ResourceRow {
	return rowsOf(slices.SortedFunc(maps.Keys(reserved), compareKeys), b.demand[queue], pending, func(k Key) FlavorRow {
		return FlavorRow{Flavor: k.Flavor, Figures: Figures{NominalHidden: true, Reserved: reserved[k], Used: used[k]}}
	})
}

// sum adds another use.
func (u Usage) sum(more Usage) {
	for k, n := range more {
		u.Add(k, n)
	}
}
