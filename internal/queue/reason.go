package queue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// The codes of a Reason: Kueue's words where it has one.
const (
	WaitingForQuota   = "WaitingForQuota"
	ExceedsMaxQuota   = "ExceedsMaxQuota"
	NoMatchingFlavor  = "NoMatchingFlavor"
	WaitingForOthers  = "WaitingForOthers"  // it would fit, or the order is strict; others come first
	PendingEvaluation = "PendingEvaluation" // it would fit, and is about to be looked at
	Misconfigured     = "Misconfigured"     // its queue leads nowhere
	QueueStopped      = "Suspended"
	QueueInactive     = "QueueInactive"
	Requeued          = "WaitingForRequeue" // evicted, and not to be tried before a time
	Other             = "Other"             // what Kueue says
)

// Reason says why a task waits.
type Reason struct {
	Code string
	// Words are a few words for a table; Message is Kueue's own sentence, if it has
	// written one.
	Words, Message string
	// Resource and Missing are how much of what is missing for WaitingForQuota, in
	// the units of package quota.
	Resource string
	Missing  int64
}

// reason works out why a workload waits. Kueue looks at most waiting workloads
// rarely, and writes no reason for those it did not look at.
func (b *builder) reason(w *state.Workload, it *Item, ahead string) Reason {
	r := Reason{}
	if c, ok := state.Find(w.Conditions, quota.QuotaReserved); ok && !c.True() {
		r.Message = c.Message
	}
	say := func(code, format string, args ...any) Reason {
		r.Code, r.Words = code, fmt.Sprintf(format, args...)
		return r
	}
	if l := b.local[w.Namespace+"/"+w.QueueName]; l != nil && stopped(l.StopPolicy) {
		return say(QueueStopped, "its queue is stopped")
	}
	q := b.queues[it.ClusterQueue]
	switch {
	case it.ClusterQueue == "" && len(b.s.MissingOf(kinds.LocalQueue)) > 0:
		return say(Other, "where the queue %s leads cannot be read", w.QueueName)
	case it.ClusterQueue == "":
		return say(Misconfigured, "the queue %s does not exist", w.QueueName)
	case q == nil && b.r.Complete:
		return say(Misconfigured, "the ClusterQueue %s does not exist", it.ClusterQueue)
	case q == nil:
		return say(Other, "%s", short(r.Message))
	case b.faults[q.Name] != "":
		return say(Misconfigured, "its queue is left out: %s", b.faults[q.Name])
	case stopped(q.StopPolicy):
		return say(QueueStopped, "its queue is stopped")
	}
	if c, ok := state.Find(q.Conditions, "Active"); ok && c.Status == "False" {
		return say(QueueInactive, "its queue is not active (%s)", c.Reason)
	}
	if t := w.Requeue; t != nil && t.At != nil && t.At.After(b.s.Taken) {
		return say(Requeued, "tried again in %s", t.At.Sub(b.s.Taken).Round(time.Second))
	}
	if code, resource, missing := b.shortage(w, it, r.Message); code != "" {
		if code == WaitingForQuota && q.QueueingStrategy == "StrictFIFO" && ahead != "" {
			return say(WaitingForOthers, "behind %s", ahead) // it is not looked at before
		}
		r.Resource, r.Missing = resource, missing
		switch code {
		case NoMatchingFlavor:
			if rooms := b.roomOf(it.ClusterQueue, resource); len(rooms) > 0 {
				var only []string
				for _, r := range rooms {
					only = append(only, r.Flavor)
				}
				return say(code, "the queue has only %s", strings.Join(only, ", "))
			}
			return say(code, "the queue has no quota of %s", words.Short(resource))
		case ExceedsMaxQuota:
			return say(code, "%s %s more than the team can ever hold", quota.Text(resource, missing), words.Short(resource))
		}
		return say(code, "%s more %s needed", quota.Text(resource, missing), words.Short(resource))
	}
	if resource, missing := reported(r.Message); resource != "" && !b.r.Complete {
		// What the others hold cannot be read. Kueue's own word may be old: the
		// condition's time is not that of its message.
		r.Resource = resource
		r.Missing, _ = state.Amount(resource, missing)
		return say(WaitingForQuota, "Kueue said %s more %s needed", quota.Text(resource, r.Missing), words.Short(resource))
	}
	switch {
	case r.Message != "" && telling(r.Message):
		return say(Other, "%s", short(r.Message))
	case ahead != "":
		return say(WaitingForOthers, "behind %s", ahead)
	case !b.r.Complete:
		return say(Other, "%s", short(r.Message))
	}
	return say(PendingEvaluation, "to be looked at next")
}

// reported is what Kueue's message says is missing: of accelerators, else of the first
// resource.
func reported(message string) (resource, missing string) {
	for _, s := range words.Shortages(message) {
		if s.Missing != "" && (resource == "" || kinds.Accelerator(s.Resource) && !kinds.Accelerator(resource)) {
			resource, missing = s.Resource, s.Missing
		}
	}
	return resource, missing
}

func stopped(policy string) bool { return policy != "" && policy != "None" }

// shortage compares what a task asks for with what its queue could get: per
// resource from the flavor that has most, of those whose nodes the task's pods can
// go to: by their node selector, and by what Kueue's message rules out.
// Accelerators are looked at first, as they are what is short.
func (b *builder) shortage(w *state.Workload, it *Item, message string) (code, resource string, missing int64) {
	names := slices.Sorted(maps.Keys(it.Size))
	slices.SortStableFunc(names, func(x, y string) int {
		switch {
		case kinds.Accelerator(x) == kinds.Accelerator(y):
			return 0
		case kinds.Accelerator(x):
			return -1
		}
		return 1
	})
	known := b.r.Complete || b.queues[it.ClusterQueue].Cohort == ""
	for _, name := range names {
		size := it.Size[name]
		if size == 0 {
			continue
		}
		flavors := b.roomOf(it.ClusterQueue, name)
		var fitting []quota.Room
		for _, f := range flavors {
			if !words.RulesOut(message, f.Flavor) && b.selects(w, name, f) {
				fitting = append(fitting, f.Room)
			}
		}
		if len(fitting) == 0 {
			if len(flavors) > 0 || kinds.Accelerator(name) {
				return NoMatchingFlavor, name, size
			}
			continue // whether it counts is up to Kueue's configuration
		}
		if !known {
			continue
		}
		short := quota.LeastShort(fitting, size)
		// One role gets one flavor; several may get several.
		ofOne := quota.LeastShort(fitting, largest(w, name))
		switch {
		case short.Beyond > 0 && len(fitting) == 1:
			return ExceedsMaxQuota, name, short.Beyond
		case ofOne.Beyond > 0:
			return ExceedsMaxQuota, name, ofOne.Beyond
		case short.Missing > 0 && code == "":
			code, resource, missing = WaitingForQuota, name, short.Missing
		}
	}
	return code, resource, missing
}

// selects reports a flavor that a pod set which asks for a resource can go to, by
// its node selector.
func (b *builder) selects(w *state.Workload, resource string, f room) bool {
	asks := false
	for _, p := range w.PodSets {
		if p.Requests[resource] == 0 || p.Count == 0 {
			continue
		}
		asks = true
		if quota.Selects(p.NodeSelector, b.labels[f.Flavor], f.keys) {
			return true
		}
	}
	return !asks
}

// largest is what the role that asks for most of a resource asks for, with the
// fewest pods it may be started with.
func largest(w *state.Workload, resource string) int64 {
	most := int64(0)
	for _, ps := range w.PodSets {
		if ps.MinCount != nil {
			ps.Count = *ps.MinCount
		}
		most = max(most, quota.RequestsOf(&state.Workload{PodSets: []state.PodSet{ps}})[resource])
	}
	return most
}

// room is what a queue could get of a resource in a flavor.
type room struct {
	quota.Room
	keys map[string]bool // of the labels of all flavors of its resource group
}

// roomOf returns the room of each flavor that a queue has quota of, in its order.
// Many workloads ask for the same.
func (b *builder) roomOf(clusterQueue, resource string) []room {
	k := [2]string{clusterQueue, resource}
	if out, ok := b.rooms[k]; ok {
		return out
	}
	var out []room
	for _, g := range b.queues[clusterQueue].ResourceGroups {
		keys := map[string]bool{}
		for _, f := range g.Flavors {
			for key := range b.labels[f.Name] {
				keys[key] = true
			}
		}
		for _, f := range g.Flavors {
			if slices.ContainsFunc(f.Resources, func(r state.ResourceQuota) bool { return r.Name == resource }) {
				out = append(out, room{b.r.Tree.Room(clusterQueue, f.Name, resource), keys})
			}
		}
	}
	b.rooms[k] = out
	return out
}

// telling reports a message of Kueue's that says more than that it waits, or than
// a shortage of quota that has passed since.
func telling(message string) bool {
	for _, s := range []string{"insufficient unused quota", "insufficient quota", "Waiting", "no new capacity"} {
		if strings.Contains(message, s) {
			return false
		}
	}
	return true
}

// shortMessage is how long Kueue's sentences may be in a table.
const shortMessage = 60

// short is the telling part of Kueue's sentence.
func short(message string) string {
	if message == "" {
		return "waits"
	}
	message = words.WithoutPodSet(message)
	message, _, _ = strings.Cut(message, "\n")
	if runes := []rune(message); len(runes) > shortMessage {
		// Three dots in any locale: it is data too.
		message = strings.TrimSpace(string(runes[:shortMessage-3])) + "..."
	}
	return message
}
