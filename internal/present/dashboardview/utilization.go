package dashboardview

import (
	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// useOf returns how busy the accelerators of a job are, nil where that is not known; idle reports that they do nothing.
func useOf(s *Snapshot, t Task) (use *deviceuse.Use, idle bool) {
	u, ok := s.Use[deviceuse.Key{Namespace: t.Job.Namespace, Name: t.Job.Name}]
	if !ok || !t.Status.State.HoldsDevices() {
		return nil, false
	}
	ran, _ := jobs.RunTimes(t.Job, t.Status, s.Time)
	return &u, ran != nil && deviceuse.Idle(u, *ran)
}

func utilizationOf(s *Snapshot, t Task) output.Cell {
	use, idle := useOf(s, t)
	cell := output.Cell{Text: jobtext.Share(use)}
	if idle {
		cell.Style = output.Warn
	}
	return cell
}

// queueResource is a resource of a ClusterQueue.
type queueResource struct{ queue, resource string }

// unusedOf returns the accelerators of idle jobs, by the ClusterQueue that gave quota.
func unusedOf(s *Snapshot) map[queueResource]int64 {
	out := map[queueResource]int64{}
	if s.Use == nil {
		return out
	}
	var idle []state.Job
	for _, t := range s.Tasks {
		if _, does := useOf(s, t); does {
			idle = append(idle, t.Job)
		}
	}
	for i, w := range jobs.Match(idle, s.State.Workloads) {
		if w == nil || w.Admission == nil {
			continue
		}
		for resource, n := range jobs.Devices(idle[i]) {
			if kinds.Accelerator(resource) {
				out[queueResource{w.Admission.ClusterQueue, resource}] += n
			}
		}
	}
	return out
}
