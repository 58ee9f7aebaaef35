// Package explanation puts the explanation of a job (package explain) into words: the
// sentences of its JSON document and its text page.
package explanation

import (
	"fmt"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fill sets the sentences of an explanation and of its verdict. Call it once, before
// the explanation is printed.
func Fill(e *explain.Explanation, render verdict.Render) {
	if e.Verdict != nil {
		verdict.Fill(e.Verdict, render)
	}
	verdict.FillWorkers(e.Workers, render)
	e.Summary = summary(e, render)
	for i := range e.NextSteps {
		fillStep(e, &e.NextSteps[i], render)
	}
	for i := range e.Timeline {
		e.Timeline[i].Message = jobtext.Moment(e.Timeline[i].Source)
	}
	for i := range e.Notes {
		if n := &e.Notes[i]; n.Message == "" {
			n.Message = note(e, n, render)
		}
	}
}

// fillStep sets the sentence and the command of a step.
func fillStep(e *explain.Explanation, s *explain.NextStep, render verdict.Render) {
	namespace, name := e.Job.Namespace, e.Job.Name
	switch s.Code {
	case explain.ReadLog:
		s.Message = "read the log of the pod that failed first"
		if s.Role != "" {
			s.Message += " (role " + s.Role + ")"
		}
		command := suggest.PodLog(namespace, name, s.Pod)
		if s.Container != "" {
			command = command.WithArgs("--container", s.Container)
		}
		s.Command = render(command)
	case explain.OtherImage:
		s.Message, s.Command = "start it again with an image that can be pulled", render(suggest.Replace(namespace, name, "--image", "IMAGE"))
	case explain.CancelJob:
		s.Message, s.Command = "cancel it to release the quota that it holds", render(suggest.CancelJobs(namespace, name))
	}
}

// summary returns the cause in words.
func summary(e *explain.Explanation, render verdict.Render) string {
	switch e.Cause {
	case explain.ByVerdict:
		return e.Verdict.Summary
	case explain.ByKueue:
		if len(words.Shortages(e.Kueue.Message)) == 0 {
			return words.OneLine(e.Kueue.Message)
		}
		return jobtext.Shortages(e.Kueue.Message)
	case explain.ChecksPending:
		c, ok := e.PendingCheck()
		if !ok {
			return "it has quota and waits for admission checks"
		}
		text := fmt.Sprintf("it has quota and waits for admission check %s (%s)", c.Name, c.State)
		if c.Message != "" {
			text += ": " + c.Message
		}
		return text
	case explain.LosingNodes:
		return losing(e)
	case explain.Starting:
		return "it is admitted and its pods are starting"
	case explain.Unattended:
		return jobtext.Unattended(e.Operator)
	case explain.MissingCluster:
		return jobtext.MissingCluster(e.Cluster)
	case explain.PodProblem:
		return problemText(e.Problem)
	case explain.Deactivated:
		if !e.Unsuspendable {
			return "to resume it, you need permission to patch workloads in " + e.Job.Namespace
		}
		return "to resume it: " + unsuspend(e, render)
	case explain.WithoutKueue:
		return "this cluster has no Kueue; the job waits for its operator or its pods"
	case explain.Unmanaged:
		return "it has no queue label, so Kueue does not manage it"
	case explain.SuspendedUnmanaged:
		return "it is suspended and has no queue label: nothing will start it"
	case explain.WithoutWorkload:
		return jobtext.Message(jobs.Status{Reason: jobs.NoWorkload})
	case explain.BackingOff:
		return "it was evicted; Kueue retries it at " + e.RetryAt.UTC().Format("15:04:05 UTC")
	case explain.Unobstructed:
		return "nothing blocks it: Kueue should admit it in its next cycle"
	case explain.OtherPodsNotReady:
		return "Kueue waits until the pods of previously admitted jobs are ready"
	}
	if e.Status.State == jobs.ZeroReplicas {
		return jobtext.Message(e.Status)
	}
	if e.Status.State == jobs.Failed || e.Status.State == jobs.Restarting {
		return e.Status.Message
	}
	return "" // an operator's sentence says the state again
}

// losing says what the job loses and what happens then.
func losing(e *explain.Explanation) string {
	text := jobtext.AwaitingRepair(e.Health)
	switch r := e.Health.Resume; {
	case !r.On:
		return text + "; auto-resume is off"
	case r.Most > 0 && r.Used >= r.Most:
		return text + fmt.Sprintf("; auto-resume is on, but its %s used", words.Count(r.Most, "retry is", "retries are"))
	}
	return text + "; auto-resume restarts it on a healthy node"
}

func unsuspend(e *explain.Explanation, render verdict.Render) string {
	return render(suggest.Unsuspend(e.Job.Namespace, e.Job.Name))
}

// problemText returns the first problem of a role: "1 of 2 pods of Worker: ImagePullBackOff".
func problemText(r *explain.Role) string {
	p := r.Problems[0]
	text := fmt.Sprintf("%d of %d pods of %s: %s", p.Pods, r.Pods, r.Role, p.Reason)
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

func note(e *explain.Explanation, n *inputs.Note, render verdict.Render) string {
	switch n.Code {
	case explain.NodesUnread:
		return "the health of its nodes is hidden: " + jobtext.NodesUnread(n.Unread)
	case explain.NotQueued:
		return "to start it without Kueue: " + unsuspend(e, render)
	case explain.NoWorkload:
		return "it " + e.Verdict.Summary + ", if Kueue created a workload; check that its kind is enabled in Kueue's integrations"
	case kueue.WorkloadQuotaReservedReasonWaitingForPodsReady:
		return "Kueue evicts it if its pods are not ready in time (waitForPodsReady)"
	}
	return ""
}

// Obstacle returns why waiting cannot help: the verdict is Never, or an administrator has to
// resume the queue. It is "" if waiting can help.
func Obstacle(e *explain.Explanation) string {
	v := e.Verdict
	switch {
	case v == nil || !e.Pending():
		return ""
	case v.Verdict == check.Never && e.Cause == explain.ByVerdict:
		return "can never run: " + verdict.Reason(v)
	case v.Verdict == check.Never:
		return "can never run: " + e.Summary
	case v.Verdict == check.Waits && v.Quota.Reason == kueue.WorkloadQuotaReservedReasonSuspended && e.Cause == explain.ByVerdict:
		return "cannot start: " + verdict.Reason(v)
	case v.Verdict == check.Waits && v.Quota.Reason == kueue.WorkloadQuotaReservedReasonSuspended:
		return "cannot start: " + e.Summary
	}
	return ""
}

// FirstCommands returns the commands of the first remedy that has some.
func FirstCommands(e *explain.Explanation) []string {
	if e.Verdict == nil {
		return nil
	}
	for _, r := range e.Verdict.Remedies {
		if len(r.Commands) > 0 {
			return r.Commands
		}
	}
	return nil
}
