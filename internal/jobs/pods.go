package jobs

import (
	"fmt"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// refine corrects a job's own word by what its pods do: operators are slow to
// see that a container keeps crashing or a pod does not start.
func refine(s Status, j state.Job, pods []state.Pod) Status {
	pods = slices.DeleteFunc(slices.Clone(pods), func(p state.Pod) bool { return p.DeletionTimestamp != nil })
	if len(pods) == 0 {
		return s
	}
	running, done := phase(pods, "Running"), phase(pods, "Succeeded")
	switch {
	case s.State == Running:
		if c, p, ok := crashing(pods); ok {
			s.State, s.Reason = Restarting, c.Waiting
			s.Message = fmt.Sprintf("container %s of pod %s keeps failing", c.Name, p.Name)
		} else if running+done == 0 {
			s.State = Starting
		}
	case s.State == Starting && running > 0 && running+done >= wanted(j):
		s.State = Running
	}
	if s.State == Starting {
		if reason, message := blocked(pods); reason != "" {
			s.Reason, s.Message = reason, message
		}
	}
	return s
}

func phase(pods []state.Pod, name string) (n int) {
	for _, p := range pods {
		if p.Phase == name {
			n++
		}
	}
	return n
}

// crashing finds a container that is held back after failing again and again.
func crashing(pods []state.Pod) (state.Container, state.Pod, bool) {
	for _, p := range pods {
		for _, c := range p.Containers {
			if c.Waiting == "CrashLoopBackOff" {
				return c, p, true
			}
		}
	}
	return state.Container{}, state.Pod{}, false
}

// wanted is how many pods a job is made of.
func wanted(j state.Job) (n int) {
	for _, r := range j.Roles {
		n += int(r.Replicas)
	}
	return n
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
	s.Wanted = wanted(j)
	s.Restarts = j.Restarts
	if pods == nil {
		for _, r := range j.Replicas {
			switch j.Kind.Group {
			case "kubeflow.org": // its active pods are the running ones
				s.Ready += r.Active
			default:
				s.Ready += r.Ready
			}
			s.Failed += r.Failed
		}
		if len(j.Replicas) == 0 && s.State == Running {
			s.Ready = s.Wanted // the kind counts nothing (HyperPodPyTorchJob)
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
