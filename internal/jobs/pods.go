package jobs

import (
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// refine corrects a job's own word by what its pods do: operators are slow to
// see that a container keeps crashing or a pod does not start.
func refine(s Status, pods []state.Pod) Status {
	if len(pods) == 0 {
		return s
	}
	running := 0
	for _, p := range pods {
		if p.Phase == "Running" {
			running++
		}
		for _, c := range p.Containers {
			if c.Waiting == "CrashLoopBackOff" && s.State == Running {
				s.State, s.Reason, s.Message = Restarting, c.Waiting, "container "+c.Name+" of pod "+p.Name+" keeps failing"
			}
		}
	}
	if s.State == Running && running == 0 && !anyDone(pods) {
		s.State = Starting
	}
	if s.State == Starting {
		if reason, message := blocked(pods); reason != "" {
			s.Reason, s.Message = reason, message
		}
	}
	return s
}

func anyDone(pods []state.Pod) bool {
	for _, p := range pods {
		if p.Phase == "Succeeded" {
			return true
		}
	}
	return false
}

// blocked says what keeps the first pod that does not start.
func blocked(pods []state.Pod) (reason, message string) {
	for _, p := range pods {
		for _, c := range p.Containers {
			if c.Waiting != "" && c.Waiting != "ContainerCreating" && c.Waiting != "PodInitializing" {
				return c.Waiting, "pod " + p.Name + ": " + c.Message
			}
		}
	}
	for _, p := range pods {
		if c, ok := state.Find(p.Conditions, "PodScheduled"); ok && c.Status == "False" {
			return c.Reason, "pod " + p.Name + ": " + c.Message
		}
	}
	return "", ""
}

// count fills in the numbers of pods.
func count(s *Status, j state.Job, pods []state.Pod) {
	for _, r := range j.Roles {
		s.Wanted += int(r.Replicas)
	}
	s.Restarts = j.Restarts
	if pods == nil {
		for _, r := range j.Replicas {
			if r.Ready > 0 || j.Kind.Kind == "Job" || j.Kind.Kind == "JobSet" {
				s.Ready += r.Ready
			} else {
				s.Ready += r.Active
			}
			s.Failed += r.Failed
		}
		return
	}
	s.Restarts = 0
	for _, p := range pods {
		if p.Ready {
			s.Ready++
		}
		if p.Phase == "Failed" {
			s.Failed++
		}
		s.Restarts += p.Restarts
	}
}

// Match returns the workload of every job (nil where there is none), by the UID
// of its owner. Of several workloads of one job the newest that is not finished
// counts.
func Match(jobs []state.Job, workloads []state.Workload) []*state.Workload {
	byOwner := make(map[string]*state.Workload, len(workloads))
	for i := range workloads {
		w := &workloads[i]
		if w.OwnerUID == "" {
			continue
		}
		if old, ok := byOwner[w.OwnerUID]; !ok || better(w, old) {
			byOwner[w.OwnerUID] = w
		}
	}
	out := make([]*state.Workload, len(jobs))
	for i := range jobs {
		out[i] = byOwner[jobs[i].UID]
	}
	return out
}

func better(w, old *state.Workload) bool {
	_, done := holds(w.Conditions, "Finished")
	_, oldDone := holds(old.Conditions, "Finished")
	if done != oldDone {
		return oldDone
	}
	return w.CreationTimestamp.After(old.CreationTimestamp)
}
