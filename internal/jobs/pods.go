package jobs

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
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
			s.State, s.Reason, s.Message = Restarting, c.Waiting, ""
			s.Pod, s.Trouble = p.Name, PodTrouble{Reason: c.Waiting, Container: c.Name}
		} else if running+done == 0 {
			s.State = Starting
		}
	case s.State == Starting && running > 0 && running+done >= WantedPods(j):
		s.State = Running
	}
	if s.State == Starting {
		if pod, trouble := blocked(pods); pod != "" {
			s.Reason, s.Message, s.Pod, s.Trouble = trouble.Reason, "", pod, trouble
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

// crashing finds a container in back-off after repeated failures.
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

// WantedPods returns the number of pods that a job consists of.
func WantedPods(j state.Job) (n int) {
	for _, r := range j.Roles {
		n += int(r.Replicas)
	}
	return n
}

// blocked returns the first pod that does not start, and why; "" when there is none.
func blocked(pods []state.Pod) (string, PodTrouble) {
	for _, p := range pods {
		if p.Phase != "Pending" && p.Phase != "Running" {
			continue
		}
		if t := TroubleOf(p); t.Reason != "" {
			return p.Name, t
		}
	}
	return "", PodTrouble{}
}

// count fills in the numbers of pods: of the pods where they are known, else as
// the job's own status counts them.
func count(s *Status, j state.Job, pods []state.Pod) {
	s.Wanted = WantedPods(j)
	s.Restarts = j.Restarts
	s.Roles = nil
	for _, r := range j.Roles {
		s.Roles = append(s.Roles, RoleStatus{Name: r.Name, Wanted: int(r.Replicas)})
	}
	if pods == nil || len(pods) == 0 && s.State == Running { // not known, in a worker cluster, or not in a snapshot
		countReported(s, j)
		return
	}
	s.Restarts = 0
	places := PodRolesOf(j, pods)
	for i, p := range pods {
		ready, failed := 0, 0
		if p.Ready && p.DeletionTimestamp == nil {
			ready = 1
		}
		if p.Phase == "Failed" {
			failed = 1
		}
		s.Ready += ready
		s.Failed += failed
		s.Restarts += p.Restarts
		if at := roleIndex(s.Roles, places[i].Role); at >= 0 {
			s.Roles[at].Ready += ready
			s.Roles[at].Failed += failed
		}
	}
}

// countReported goes by what the job's own status counts.
func countReported(s *Status, j state.Job) {
	for name, r := range j.Replicas {
		ready := r.Ready
		if j.Kind.Style == kinds.Training { // its active pods are the running ones
			ready = r.Active
		}
		s.Ready += ready
		s.Failed += r.Failed
		at := roleIndex(s.Roles, name)
		if at < 0 && name == rayWorkers && len(s.Roles) == 2 {
			at = 1 // one group of workers besides the head
		}
		if at >= 0 {
			s.Roles[at].Ready += ready
			s.Roles[at].Failed += r.Failed
		}
	}
	if len(j.Replicas) == 0 && s.State == Running { // the kind counts nothing (HyperPodPyTorchJob)
		s.Ready = s.Wanted
		for i := range s.Roles {
			s.Roles[i].Ready = s.Roles[i].Wanted
		}
	}
}

// rayWorkers is the role under which Ray counts the workers of all groups.
const rayWorkers = "workers"

func roleIndex(roles []RoleStatus, name string) int {
	return slices.IndexFunc(roles, func(r RoleStatus) bool { return strings.EqualFold(r.Name, name) && name != "" })
}

// Submitter is the role of the pod that runs a RayJob's entry point. It is a batch
// Job's, named after the RayJob, and no part of the Ray cluster.
const Submitter = "submitter"

// submits tells a RayJob's submitter from the pods of its cluster.
func submits(j state.Job, p state.Pod) bool {
	return j.Kind.Submitter != "" && p.Labels[j.Kind.PodLabel] == ""
}

// PodRolesOf returns the place of each pod in the job.
func PodRolesOf(j state.Job, pods []state.Pod) []kinds.PodRole {
	roles := make(map[string]int64, len(j.Roles))
	for _, r := range j.Roles {
		roles[r.Name] = r.Replicas
	}
	out := make([]kinds.PodRole, len(pods))
	for i, p := range pods {
		out[i] = j.Kind.PodRole(p.Labels, roles)
		if submits(j, p) {
			out[i] = kinds.PodRole{Role: Submitter, Index: 0, Rank: -1}
		}
	}
	return out
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
		switch j := &jobs[i]; {
		case j.Kind.OnePod:
			out[i] = ofPods(*j, workloads)
		case byOwner[j.UID] != nil || !j.Kind.Itself:
			out[i] = byOwner[j.UID]
		default: // a group of pods: its Workload has all of them as owners
			for at := range workloads {
				if w := &workloads[at]; slices.ContainsFunc(w.Owners, func(o state.Owner) bool { return o.UID == j.UID }) {
					out[i] = w
				}
			}
		}
	}
	return out
}

// ofPods returns the Workload that tells the most of a job whose pods have one each: one
// that waits, else the newest. The owner is a pod, named after the job, its template and
// five characters.
func ofPods(j state.Job, workloads []state.Workload) *state.Workload {
	var found *state.Workload
	for i := range workloads {
		w := &workloads[i]
		if !ofPod(j, w) {
			continue
		}
		_, admitted := holds(w.Conditions, "Admitted")
		if found != nil {
			_, before := holds(found.Conditions, "Admitted")
			if admitted && !before || admitted == before && !better(w, found) {
				continue
			}
		}
		found = w
	}
	return found
}

// WorkloadsOf returns the workloads of a job: w, its only one, or those of all its pods or groups.
func WorkloadsOf(j state.Job, w *state.Workload, all []state.Workload) (out []*state.Workload) {
	if w == nil || !j.Kind.Apart() {
		return slices.DeleteFunc([]*state.Workload{w}, func(w *state.Workload) bool { return w == nil })
	}
	for i := range all {
		if v := &all[i]; j.Kind.OnePod && ofPod(j, v) || !j.Kind.OnePod && v.OwnerUID == j.UID {
			out = append(out, v)
		}
	}
	return out
}

// ofPod reports whether a workload is that of a pod of the job.
func ofPod(j state.Job, w *state.Workload) bool {
	return w.Namespace == j.Namespace && slices.ContainsFunc(w.Owners, func(o state.Owner) bool {
		return o.Kind == kinds.Pod.Kind && j.Kind.Names(j.Name, o.Name)
	})
}

func better(w, old *state.Workload) bool {
	_, done := holds(w.Conditions, "Finished")
	_, oldDone := holds(old.Conditions, "Finished")
	if done != oldDone {
		return oldDone
	}
	if w.Variant() && old.Variant() { // without their workload
		_, holding := holds(w.Conditions, "QuotaReserved")
		if _, oldHolding := holds(old.Conditions, "QuotaReserved"); holding != oldHolding {
			return holding
		}
	}
	return w.CreationTimestamp.After(old.CreationTimestamp)
}
