package explain

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// roles counts the pods of each role and their problems. It returns nil for no pods that nothing refuses.
func roles(j state.Job, pods []state.Pod, events []state.Event) []Role {
	refused := refusals(j, events)
	if len(pods) == 0 && len(refused) == 0 {
		return nil
	}
	out := make([]Role, 0, len(j.Roles))
	for _, r := range j.Roles {
		out = append(out, Role{Role: r.Name, Pods: int(r.Replicas), Problems: []Problem{}})
	}
	places := jobs.PodRolesOf(j, pods)
	for i := range pods {
		at := slices.IndexFunc(out, func(r Role) bool { return strings.EqualFold(r.Role, places[i].Role) })
		if at < 0 {
			name := ""
			if places[i].Role == jobs.Submitter {
				name = jobs.Submitter // its pod is in no role of the job
			}
			if at = slices.IndexFunc(out, func(r Role) bool { return r.Role == name }); at < 0 {
				out = append(out, Role{Role: name, Problems: []Problem{}})
				at = len(out) - 1
			}
			out[at].Pods++
		}
		r := &out[at]
		switch {
		case pods[i].Ready:
			r.PodsReady++
		case pods[i].Phase == "Pending":
			r.PodsPending++
		}
		if p, ok := problem(&pods[i]); ok {
			r.note(p)
		}
	}
	anyRole := refused[""]
	for i := range out {
		have := 0
		for _, p := range places {
			if strings.EqualFold(p.Role, out[i].Role) {
				have++
			}
		}
		why := refused[strings.ToLower(out[i].Role)]
		if have >= out[i].Pods || why == nil && anyRole == nil {
			continue
		}
		if why == nil {
			why, anyRole = anyRole, nil // once, for the first role that lacks pods
		}
		out[i].Problems = append(out[i].Problems, Problem{Pod: why.Object, Reason: why.Reason, Message: why.Message, Pods: out[i].Pods - have})
	}
	return out
}

// refusals returns, by role in lower case, the last event that says why pods of a job were not created: a ResourceQuota or
// the Pod Security level of the namespace may refuse them, for example. The controllers of Kubernetes and the operators
// report it, about the job or about the object that creates its pods. The role is "" where the event does not tell it.
func refusals(j state.Job, events []state.Event) map[string]*state.Event {
	last := map[string]*state.Event{}
	for i := range events {
		e := &events[i]
		role, ours := "", e.ObjectUID == j.UID
		if !ours && j.Kind.PodMaker != nil && !e.Last.Before(j.CreationTimestamp) { // an earlier job may have had the name
			role, ours = j.Kind.PodMaker(j.Name, e.Kind, e.Object)
		}
		refused, of := refusesPods(e)
		role = strings.ToLower(cmp.Or(role, of))
		if ours && refused && (last[role] == nil || e.Last.After(last[role].Last)) {
			last[role] = e
		}
	}
	return last
}

// refusesPods reports whether an event says that a pod could not be created, and which role the pod has if its text tells that. The
// reasons are those of Kubernetes' controllers, of the training operators, of KubeRay and of the MPI operator.
func refusesPods(e *state.Event) (refused bool, role string) {
	switch {
	case e.Type != "Warning":
		return false, ""
	case e.Reason == "MPIJobFailed": // "worker pod created failed: ..."
		role, _, refused = strings.Cut(e.Message, " pod created failed")
		return refused, role
	}
	return slices.Contains([]string{"FailedCreate", "FailedCreatePod", "FailedToCreateHeadPod", "FailedToCreateWorkerPod"}, e.Reason), ""
}

// note adds a problem, or counts it with an equal one.
func (r *Role) note(p Problem) {
	for i := range r.Problems {
		if r.Problems[i].Reason == p.Reason {
			r.Problems[i].Pods++
			return
		}
	}
	p.Pods = 1
	r.Problems = append(r.Problems, p)
}

// problem returns why a pod does not run, the most telling reason first: a container
// that cannot start or crashes, a scheduling gate, no node.
func problem(p *state.Pod) (Problem, bool) {
	for _, c := range p.Containers {
		switch {
		case c.Waiting == "" || c.Waiting == "ContainerCreating" || c.Waiting == "PodInitializing":
		case c.Waiting == "CrashLoopBackOff":
			message := c.Message
			if c.LastTerminated != "" {
				message = strings.TrimSpace("last: " + c.LastTerminated + exit(c.LastExitCode))
			}
			return Problem{Pod: p.Name, Reason: c.Waiting, Message: message}, true
		default:
			return Problem{Pod: p.Name, Reason: c.Waiting, Message: c.Message}, true
		}
	}
	for _, c := range p.Containers {
		if p.Phase == "Failed" && c.Terminated != "" && c.ExitCode != 0 {
			return Problem{Pod: p.Name, Reason: c.Terminated, Message: strings.TrimSpace(strings.TrimPrefix(exit(c.ExitCode), ",") + " " + c.Message)}, true
		}
	}
	if p.Gated {
		return Problem{Pod: p.Name, Reason: "SchedulingGated", Message: "waits for its scheduling gates"}, true
	}
	if c, ok := state.Find(p.Conditions, "PodScheduled"); ok && c.Status == "False" {
		return Problem{Pod: p.Name, Reason: c.Reason, Message: c.Message}, true
	}
	if p.Phase == "Failed" {
		return Problem{Pod: p.Name, Reason: p.Reason, Message: p.Message}, p.Reason != ""
	}
	return Problem{}, false
}

func exit(code int) string {
	if code == 0 {
		return ""
	}
	return ", exit code " + strconv.Itoa(code)
}
