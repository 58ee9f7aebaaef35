// Package queue lists what waits for quota, in the order of the scheduler, with a short reason, and how long
// workloads have waited and run. It is a pure function of values; docs/quota.md defines the figures.
package queue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Key names a workload.
type Key struct{ Namespace, Workload string }

// Positions are places in a ClusterQueue, from 1.
type Positions map[Key]int

// Item is a workload that waits.
type Item struct {
	Key
	// Job and Kind are of the object that the workload belongs to.
	Job, Kind    string
	Team         string
	ClusterQueue string // "" when its queue leads nowhere
	LocalQueue   string
	// Position is its place in the ClusterQueue, from 1; 0: it is in none.
	Position      int
	Priority      int32
	PriorityClass string
	Size          state.Amounts
	Created       time.Time
	// Since is when it began to wait: its creation, or the last eviction.
	Since     time.Time
	Preempted bool // was evicted by the scheduler
	Reason    Reason
	ETA       *ETA // nil: not looked for
}

// Build lists what waits in the queues of the teams, by team and position.
// positions are the scheduler's own where they could be read; workloads without one
// follow in the order of the rules. It is nil when no workloads could be read.
func Build(s *state.State, r *quota.Report, teams []quota.Team, rules order.Rules, positions Positions) []Item {
	if Unread(s) != nil {
		return nil
	}
	b := builder{s: s, r: r, leads: r.Leads(), rules: rules, positions: positions, queues: map[string]*state.ClusterQueue{}, faults: map[string][]quota.Fault{}, local: map[string]*state.LocalQueue{}, flavors: map[[2]string][]flavor{}, labels: map[string]map[string]string{}}
	for i := range s.ClusterQueues {
		q := &s.ClusterQueues[i]
		b.queues[q.Name] = q
		if bad := quota.Faults(q); len(bad) > 0 {
			b.faults[q.Name] = bad
		}
	}
	for i := range s.LocalQueues {
		q := &s.LocalQueues[i]
		b.local[q.Namespace+"/"+q.Name] = q
	}
	for _, f := range s.Flavors {
		b.labels[f.Name] = f.NodeLabels
	}
	names := map[string]string{}
	for _, t := range teams {
		names[t.ClusterQueue] = t.Name
	}
	waiting := map[string][]*state.Workload{}
	var shown []string // ClusterQueues
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if !quota.Waits(w) {
			continue
		}
		queue := b.leads(w)
		if _, ok := names[queue]; !ok && (len(teams) < len(r.Teams) || b.queues[queue] != nil) {
			continue // another team's; what is in no team's queue is shown with all
		}
		if waiting[queue] == nil {
			shown = append(shown, queue)
		}
		waiting[queue] = append(waiting[queue], w)
	}
	last := func(queue string) int { // what is in no team's queue comes last
		if names[queue] == "" {
			return 1
		}
		return 0
	}
	slices.SortFunc(shown, func(x, y string) int {
		return cmp.Or(last(x)-last(y), strings.Compare(names[x], names[y]), strings.Compare(x, y))
	})
	out := make([]Item, 0, len(s.Workloads))
	for _, queue := range shown {
		out = append(out, b.queue(queue, names[queue], waiting[queue])...)
	}
	return out
}

// builder is one Build under way.
type builder struct {
	s         *state.State
	r         *quota.Report
	leads     func(*state.Workload) string
	rules     order.Rules
	positions Positions
	queues    map[string]*state.ClusterQueue
	faults    map[string][]quota.Fault // of each ClusterQueue that has any
	local     map[string]*state.LocalQueue
	flavors   map[[2]string][]flavor       // by ClusterQueue and resource
	labels    map[string]map[string]string // of the nodes of a flavor
}

// queue puts the workloads of one ClusterQueue in order.
func (b *builder) queue(clusterQueue, team string, workloads []*state.Workload) []Item {
	slices.SortStableFunc(workloads, b.compare)
	out := make([]Item, len(workloads))
	for i, w := range workloads {
		it := Item{Key: Key{w.Namespace, w.Name}, Team: team, ClusterQueue: clusterQueue, LocalQueue: w.QueueName,
			Priority: w.Priority, PriorityClass: w.PriorityClass, Size: quota.RequestsOf(w), Created: w.CreationTimestamp}
		it.Job, it.Kind = jobOf(w)
		it.Since, it.Preempted = since(w)
		if b.queues[clusterQueue] != nil {
			it.Position = i + 1
		}
		if p := b.positions[it.Key]; p > 0 {
			it.Position = p
		}
		ahead := ""
		if i > 0 {
			ahead = out[i-1].Job
		}
		it.Reason = b.reason(w, &it, ahead)
		out[i] = it
	}
	return out
}

// jobOf returns the job that a workload belongs to.
func jobOf(w *state.Workload) (name, kind string) {
	for _, o := range w.Owners {
		if (o.Controller || len(w.Owners) == 1 || kinds.OwnsWithoutControl(o.APIVersion, o.Kind)) && o.Kind != kinds.Workload.Kind { // a variant has no other owner than a workload
			return o.Name, o.Kind
		}
	}
	return w.Name, "Workload"
}

// compare follows the scheduler's own order where it is known, then that of the rules.
func (b *builder) compare(x, y *state.Workload) int {
	px, py := b.positions[Key{x.Namespace, x.Name}], b.positions[Key{y.Namespace, y.Name}]
	if px != py {
		switch {
		case px == 0:
			return 1
		case py == 0:
			return -1
		}
		return px - py
	}
	return b.rules.Compare(x, y)
}

// since is when a waiting workload began to wait, and whether the scheduler
// evicted it.
func since(w *state.Workload) (time.Time, bool) {
	evicted, _ := state.Find(w.Conditions, "Evicted")
	if !evicted.True() {
		return w.CreationTimestamp, false
	}
	return evicted.LastTransitionTime, evicted.Reason == "Preempted"
}
