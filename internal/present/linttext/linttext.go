// Package linttext says what the rules for manifests find, and what to do about it.
package linttext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Existing is a job that exists already.
type Existing struct{ Namespace, Name string }

// Fill sets the sentences of findings; e is the job if it exists already.
func Fill(list []lint.Finding, e *Existing, render func(errs.Suggestion) string) {
	for i := range list {
		f := &list[i]
		f.Message = message(f)
		if f.Try = Fix(f.Facts.Fix, e, render); f.Try == "" {
			f.Advice = advice(f)
		}
	}
}

func message(f *lint.Finding) string {
	x := &f.Facts
	switch f.Code {
	case lint.NoPriority:
		return "no priority class: the job ranks lowest, behind every class"
	case lint.UnknownPriority:
		return fmt.Sprintf("priority class %q does not exist on this cluster", x.Name)
	case lint.PodPriority:
		return fmt.Sprintf("the priorityClassName %s of %s does not rank the job", x.Name, x.PodSet)
	case lint.WeightZero:
		return "the queue has fair-share weight 0: it is the first to lose what it borrows"
	case lint.NoQueue:
		return fmt.Sprintf("no queue label: namespace %s refuses jobs without one", x.Namespace)
	case lint.UnknownQueue:
		return fmt.Sprintf("queue %q does not exist in namespace %s", x.Name, x.Namespace)
	case lint.NoPodLabel:
		return fmt.Sprintf("the pods of %s have no queue label: the namespace refuses them", x.PodSet)
	case lint.NotOnDashboard:
		return "the dashboard does not list the job: it has no priority label"
	case lint.OldGovernance:
		return fmt.Sprintf("Kueue %s of this cluster does not manage a %s", x.Kueue, x.Name)
	case lint.ResumeNamespace:
		return fmt.Sprintf("auto-resume has no effect in namespace %s", x.Namespace)
	case lint.ResumeIncomplete:
		if x.Case == lint.WrongRestartPolicy {
			return fmt.Sprintf("%s: auto-resume needs restartPolicy OnFailure (got %s)", x.PodSet, x.Name)
		}
		return fmt.Sprintf("auto-resume needs both %s: \"true\" and %s", kinds.AutoResumeAnnotation, kinds.MaxRetryAnnotation)
	case lint.TopologyTwice:
		return fmt.Sprintf("%s requests topology by annotation and by node selector (%s)", x.PodSet, x.Name)
	case lint.TopologyType:
		return fmt.Sprintf("%s requests network topology, but %s nodes have no topology labels", x.PodSet, x.InstanceType)
	case lint.SliceSize:
		return sliceMessage(x)
	case lint.DeviceRequests:
		return deviceMessage(x)
	case lint.MoreThanNode:
		return fmt.Sprintf("%s requests %s %s; %s has %s", x.PodSet, x.Requested, x.Resource, x.InstanceType, x.Limit)
	case lint.CloseToNode:
		return fmt.Sprintf("%s requests %s of the %s %s of %s; the system reserves a part", x.PodSet, x.Requested, x.Limit, x.Resource, x.InstanceType)
	case lint.ResourceUncovered:
		return fmt.Sprintf("the queue has no quota for %s (it has quota for %s)", x.Resource, words.Some(x.Known, 12))
	case lint.NoRequests:
		return "the pods have no requests: they use no quota, and no node reserves anything for them"
	case lint.NoPods:
		return "the job has no pods: Kueue has nothing to admit"
	}
	return f.Code
}

const sliceSize = "kueue.x-k8s.io/podset-slice-size"

func sliceMessage(x *lint.Facts) string {
	switch x.Case {
	case lint.NotANumber:
		return fmt.Sprintf("%s: invalid %s %q: must be a whole number of at least 1", x.PodSet, sliceSize, x.Requested)
	case lint.NoTopology:
		return fmt.Sprintf("%s: %s needs kueue.x-k8s.io/podset-slice-required-topology", x.PodSet, sliceSize)
	}
	return fmt.Sprintf("%s: %d pods do not divide into slices of %s", x.PodSet, x.Pods, x.Requested)
}

func deviceMessage(x *lint.Facts) string {
	switch x.Case {
	case lint.NoSuchProfile:
		return fmt.Sprintf("%s: %s has no MIG profile %s", x.PodSet, x.InstanceType, x.Name)
	case lint.ProfileAndWhole:
		return fmt.Sprintf("%s requests %s and whole GPUs", x.PodSet, x.Resource)
	}
	if x.Limit == "" {
		return fmt.Sprintf("%s: %s has a request of %s and no limit", x.PodSet, x.Resource, x.Requested)
	}
	return fmt.Sprintf("%s: %s has a request of %s and a limit of %s", x.PodSet, x.Resource, x.Requested, x.Limit)
}

// advice returns what to do about a finding that no flag fixes.
func advice(f *lint.Finding) string {
	switch f.Code {
	case lint.WeightZero:
		return "ask an administrator for a fair-share weight greater than 0"
	case lint.NoPodLabel:
		return "put the queue label on every pod template"
	case lint.OldGovernance:
		return "ask an administrator to update task governance"
	case lint.TopologyTwice:
		return "keep only the annotation"
	case lint.ResourceUncovered:
		return "remove the request, or ask an administrator for quota"
	case lint.DeviceRequests:
		switch {
		case f.Facts.Case == lint.LimitDiffers:
			return "set the limit to the request"
		case f.Facts.Case == lint.NoSuchProfile && len(f.Facts.Known) > 0:
			return "use one of " + strings.Join(f.Facts.Known, ", ")
		}
	}
	return ""
}

// Fix returns a fix as a flag of start-job or, for a job that exists, as the command
// that makes it; "" where neither does.
func Fix(f *lint.Fix, e *Existing, render func(errs.Suggestion) string) string {
	if f == nil {
		return ""
	}
	value, note := choice(f)
	var s errs.Suggestion
	switch {
	case e != nil && f.Field == lint.Priority:
		s = suggest.Reprioritize(e.Namespace, e.Name, value)
	case e != nil && f.Field == lint.Queue:
		s = suggest.Replace(e.Namespace, e.Name, suggest.QueueName(value).Args...)
	default:
		s = option(f.Field, value)
	}
	return render(s.WithNote(note))
}

func option(field lint.Field, value string) errs.Suggestion {
	switch field {
	case lint.Priority:
		return suggest.PriorityClass(value)
	case lint.Queue:
		return suggest.QueueName(value)
	case lint.NodeCount:
		return suggest.NodeCount(value)
	case lint.Accelerators:
		return suggest.Accelerators(value)
	case lint.VCPU:
		return suggest.VCPU(value)
	case lint.Memory:
		return suggest.Memory(value)
	case lint.RestartPolicy:
		return suggest.RestartPolicy(value)
	}
	return suggest.AutoResume()
}

// choice returns the one value of a fix, else a placeholder and a note with the values.
func choice(f *lint.Fix) (value, note string) {
	names := f.Values
	if f.Field == lint.Priority && len(names) > 1 { // start-job adds the suffix
		names = make([]string, len(f.Values))
		for i, n := range f.Values {
			names[i] = strings.TrimSuffix(n, "-priority")
		}
	}
	if len(names) == 1 {
		return names[0], ""
	}
	placeholder := "N"
	switch f.Field {
	case lint.Priority:
		placeholder = "PRIORITY"
	case lint.Queue:
		placeholder = "QUEUE"
	}
	return placeholder, words.Some(names, 8)
}
