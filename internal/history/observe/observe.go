// Package observe makes observations for a history from the state of a cluster. It is pure.
package observe

import (
	"cmp"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// CPU is the name of the CPU in the devices of a job, in thousandths of a core.
const CPU = "cpu"

// Of returns what a state shows. Events tell of phases that the conditions no longer have; nil is none. The label
// projectLabel of a job names its project.
func Of(s *state.State, events []state.Event, projectLabel string) history.Observation {
	o := history.Observation{Time: s.Taken}
	o.JobsComplete, o.CompleteIn = complete(s)
	r := quota.Build(s)
	o.Queues, o.Nodes = queues(s, r), nodes(s)
	about := map[string][]state.Event{}
	for _, e := range events {
		about[e.ObjectUID] = append(about[e.ObjectUID], e)
	}
	queueOf := map[string]*state.ClusterQueue{}
	for i := range s.ClusterQueues {
		queueOf[s.ClusterQueues[i].Name] = &s.ClusterQueues[i]
	}
	holders := map[string][]state.Workload{} // by ClusterQueue
	for _, w := range s.Workloads {
		if w.Admission != nil {
			holders[w.Admission.ClusterQueue] = append(holders[w.Admission.ClusterQueue], w)
		}
	}
	types, leads := quota.FlavorTypes(s), r.Leads()
	for i, w := range jobs.Match(s.Jobs, s.Workloads) {
		j := s.Jobs[i]
		one := history.Observed{Job: history.Job{UID: j.UID, Namespace: j.Namespace, Name: j.Name, Kind: j.Kind.Kind, Owner: jobs.Creator(j.Labels, j.Annotations),
			Project: j.Labels[projectLabel], Priority: j.Priority(), Devices: jobs.Devices(j)}}
		one.Team = discovery.TeamOf(j.Namespace, nil)
		told := about[j.UID]
		if w != nil {
			told = append(slices.Clone(told), about[w.UID]...)
			if n := quota.RequestsOf(w)[CPU]; n > 0 {
				one.Devices[CPU] = n
			}
			queue := leads(w)
			if w.Admission != nil {
				queue = w.Admission.ClusterQueue
				one.InstanceType = instanceType(w, types)
			}
			if queue != "" {
				one.Team = quota.TeamOf(queue)
			}
		}
		one.Phases = Phases(jobs.TimelineOf(j, w, told))
		if n := len(one.Phases); n > 0 && one.Phases[n-1].Phase == history.Holding && w != nil && w.Admission != nil && queueOf[w.Admission.ClusterQueue] != nil {
			queue, in := queueOf[w.Admission.ClusterQueue], holders[w.Admission.ClusterQueue]
			one.Phases[n-1].Borrowed = jobs.Borrowed(jobs.WorkloadsOf(j, w, in), queue, in, counted)
		}
		o.Jobs = append(o.Jobs, one)
	}
	return o
}

// complete reports whether all jobs and workloads could be read, of the kinds that the cluster has. Where some lists over all
// namespaces are forbidden, it returns the namespaces whose jobs and workloads could all be read.
func complete(s *state.State) (all bool, in []string) {
	all, in = true, slices.Clone(s.Fallback)
	for _, m := range s.Missing {
		_, isJob := kinds.JobFor(m.Resource.Group+"/"+m.Resource.Version, m.Resource.Kind)
		if m.Reason == state.NotServed || !isJob && !m.Of(kinds.Workload) {
			continue
		}
		all = false
		switch {
		case m.Namespace != "":
			in = slices.DeleteFunc(in, func(ns string) bool { return ns == m.Namespace })
		case !m.Refused():
			in = nil
		}
	}
	if all {
		in = nil
	}
	return all, in
}

// counted reports whether the history has what jobs borrow of a resource.
func counted(resource string) bool { return kinds.Accelerator(resource) || resource == CPU }

// instanceType returns where a workload runs: that of the flavor of its accelerators, else of its CPU; "" where it has
// several.
func instanceType(w *state.Workload, types map[string]string) string {
	var devices, cpu []string
	for _, ps := range w.Admission.PodSets {
		for resource, flavor := range ps.Flavors {
			switch t := types[flavor]; {
			case t == "":
			case kinds.Accelerator(resource):
				devices = append(devices, t)
			case resource == CPU:
				cpu = append(cpu, t)
			}
		}
	}
	for _, list := range [][]string{devices, cpu} {
		slices.Sort(list)
		if list = slices.Compact(list); len(list) == 1 {
			return list[0]
		}
		if len(list) > 1 {
			return ""
		}
	}
	return ""
}

// Phases returns the phases of a timeline.
func Phases(timeline []jobs.Moment) []history.Change {
	var out []history.Change
	add := func(m jobs.Moment, p history.Phase, reason string) {
		last := history.Phase("")
		if len(out) > 0 {
			last = out[len(out)-1].Phase
		}
		switch {
		case last.Over(), p == last, p == history.Waiting && last.Waits():
		case (p == history.Preempted || p == history.Evicted) && last.Waits() && last != history.Waiting:
		default:
			out = append(out, history.Change{Time: m.Time.Truncate(time.Second), Phase: p, Reason: reason})
		}
	}
	for _, m := range timeline {
		switch m.Step {
		case jobs.Created, jobs.Queued, jobs.Waits:
			if n := len(out); n > 0 && out[n-1].Phase == history.Holding {
				continue // a requeue or a message after the admission
			}
			add(m, history.Waiting, "")
		case jobs.QuotaReserved, jobs.Admitted, jobs.Resumed, jobs.Ran:
			add(m, history.Holding, "")
		case jobs.WasPreempted:
			add(m, history.Preempted, cmp.Or(m.Reason, "Preempted"))
		case jobs.Evicted:
			add(m, history.Evicted, m.Reason)
		case jobs.Deactivated, jobs.Stopped:
			add(m, history.Stopped, m.Reason)
		case jobs.Finished:
			if m.Failed {
				add(m, history.Failed, m.Reason)
			} else {
				add(m, history.Succeeded, "")
			}
		}
	}
	return out
}

// queues returns the figures of each ClusterQueue, in accelerators; nil where the quota cannot be read.
func queues(s *state.State, r *quota.Report) map[history.QueueKey]history.QueueFigures {
	if len(s.ClusterQueues) == 0 && len(s.MissingOf(kinds.ClusterQueue)) > 0 {
		return nil
	}
	types := quota.FlavorTypes(s)
	out := map[history.QueueKey]history.QueueFigures{}
	for _, t := range r.Teams {
		for _, row := range t.Resources {
			if !kinds.Accelerator(row.Resource) {
				continue
			}
			for _, f := range row.Flavors {
				k := history.QueueKey{Queue: t.ClusterQueue, Team: t.Name, Flavor: f.Flavor, InstanceType: types[f.Flavor], Resource: row.Resource}
				v := history.QueueFigures{Reserved: f.Reserved, Borrowed: known(f.Borrowed), Lent: known(f.Lent)}
				if !f.NominalHidden && f.Nominal != quota.Unlimited {
					v.Nominal = f.Nominal
				}
				out[k] = v
			}
			if n := known(row.Pending); n > 0 {
				out[history.QueueKey{Queue: t.ClusterQueue, Team: t.Name, Resource: row.Resource}] = history.QueueFigures{Waiting: n}
			}
		}
	}
	return out
}

func known(n *int64) int64 {
	if n == nil || *n == quota.Unlimited {
		return 0
	}
	return *n
}

// nodes returns the figures of each instance type; nil where no nodes can be read. Nodes without a health label count as
// healthy.
func nodes(s *state.State) map[history.NodeKey]history.NodeFigures {
	if len(s.Nodes) == 0 && len(s.MissingOf(kinds.Node)) > 0 {
		return nil
	}
	out := map[history.NodeKey]history.NodeFigures{}
	for _, n := range s.Nodes {
		health := n.Labels[kinds.NodeHealthLabel]
		healthy := health == "" || health == kinds.NodeHealthy
		for resource, amount := range n.Capacity {
			if !kinds.Accelerator(resource) || amount == 0 {
				continue
			}
			k := history.NodeKey{InstanceType: n.InstanceType(), Resource: resource}
			v := out[k]
			v.Capacity += amount
			v.Nodes++
			if healthy {
				v.Healthy += n.Allocatable[resource]
				v.HealthyNodes++
			}
			out[k] = v
		}
	}
	return out
}
