package jobs

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// PodStatus returns what a pod does in one word, as kubectl's STATUS column has it.
func PodStatus(p state.Pod) string {
	word := p.Phase
	if p.Reason != "" {
		word = p.Reason
	}
	if c, ok := state.Find(p.Conditions, "PodScheduled"); ok && c.Reason == "SchedulingGated" {
		word = c.Reason
	}
	init, initializing := initStatus(p)
	if initializing {
		word = init
	}
	if c, _ := state.Find(p.Conditions, "Initialized"); !initializing || c.True() {
		word = containerStatus(p, word)
	}
	switch ended := p.Phase == "Succeeded" || p.Phase == "Failed"; {
	case p.DeletionTimestamp != nil && p.Reason == "NodeLost":
		return "Unknown"
	case p.DeletionTimestamp != nil && !ended:
		return "Terminating"
	}
	return word
}

// initStatus returns the word of the init container that is not done, if there is one.
func initStatus(p state.Pod) (string, bool) {
	n, at := 0, 0
	for _, c := range p.Containers {
		if c.Init {
			n++
		}
	}
	for _, c := range p.Containers {
		if !c.Init {
			continue
		}
		done := c.FinishedAt != nil || c.Terminated != ""
		switch {
		case done && c.ExitCode == 0:
		case c.Started && !done: // a sidecar that runs
		case done && c.Terminated != "":
			return "Init:" + c.Terminated, true
		case done:
			return fmt.Sprintf("Init:ExitCode:%d", c.ExitCode), true
		case c.Waiting != "" && c.Waiting != "PodInitializing":
			return "Init:" + c.Waiting, true
		default:
			return fmt.Sprintf("Init:%d/%d", at, n), true
		}
		at++
	}
	return "", false
}

func containerStatus(p state.Pod, word string) string {
	running := false
	for i := len(p.Containers) - 1; i >= 0; i-- {
		c := p.Containers[i]
		switch {
		case c.Init:
		case c.Waiting != "":
			word = c.Waiting
		case c.Terminated != "":
			word = c.Terminated
		case c.FinishedAt != nil:
			word = fmt.Sprintf("ExitCode:%d", c.ExitCode)
		case c.Ready && c.StartedAt != nil:
			running = true
		}
	}
	if word == "Completed" && running {
		if p.Ready {
			return "Running"
		}
		return "NotReady"
	}
	return word
}

// PodTrouble is why a pod does not run, or how one of its containers ended. The zero value is for a healthy
// pod.
type PodTrouble struct {
	// Reason is the word of the kubelet, the container runtime or the scheduler, such as
	// ImagePullBackOff, OOMKilled or Unschedulable; Message is its sentence.
	Reason, Message string
	// Container is the container that is in trouble, "" where the whole pod is.
	Container string
	// Ended is how the container's last run ended, "" when none did, and ExitCode the
	// exit code of that run.
	Ended    string
	ExitCode int
}

// TroubleOf returns why a pod does not run: a container that waits or failed, then
// the scheduler's reason, then the pod's own.
func TroubleOf(p state.Pod) PodTrouble {
	for _, c := range p.Containers {
		if c.Waiting == "" || c.Waiting == "ContainerCreating" || c.Waiting == "PodInitializing" {
			continue
		}
		t := PodTrouble{Reason: c.Waiting, Message: c.Message, Container: c.Name}
		if c.LastTerminated != "" {
			t.Ended, t.ExitCode = c.LastTerminated, c.LastExitCode
		}
		return t
	}
	for _, c := range p.Containers {
		if c.Terminated != "" && c.Terminated != "Completed" {
			return PodTrouble{Reason: c.Terminated, Message: c.Message, Container: c.Name, Ended: c.Terminated, ExitCode: c.ExitCode}
		}
	}
	if c, ok := state.Find(p.Conditions, "PodScheduled"); ok && c.Status == "False" {
		return PodTrouble{Reason: c.Reason, Message: c.Message}
	}
	if p.Phase == "Failed" || p.Phase == "Unknown" {
		return PodTrouble{Reason: p.Reason, Message: p.Message}
	}
	return PodTrouble{}
}

// lostClaim is the scheduler's sentence about a claim that does not exist or is being deleted (package volumebinding of
// kube-scheduler).
var lostClaim = pattern.Lazy(`persistentvolumeclaim "([^"]+)" (?:not found|is being deleted)`)

// LostClaim returns the claim that does not exist, or is being deleted, and keeps the pod from a node; "" if there is none.
func (t PodTrouble) LostClaim() string {
	if found := lostClaim().FindStringSubmatch(t.Message); found != nil && t.Reason == "Unschedulable" {
		return found[1]
	}
	return ""
}

// Stuck reports whether the pod cannot start before somebody changes it or an object that it names. A pod that waits for
// a node or a volume is not stuck.
func (t PodTrouble) Stuck() bool {
	switch t.Reason {
	case "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff":
		return true
	}
	return t.LostClaim() != ""
}
