package verdict

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/present/quotatext"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// FillFindings sets the sentences of findings; e is the job if it exists already.
func FillFindings(list []lint.Finding, e *remedy.Existing, render Render) {
	for i := range list {
		f := &list[i]
		f.Message = findingMessage(f)
		if f.Try = fixText(f.Facts.Fix, e, render); f.Try == "" {
			f.Advice = findingAdvice(f)
		}
	}
}

func findingMessage(f *lint.Finding) string {
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

// findingAdvice returns what to do about a finding that no flag fixes.
func findingAdvice(f *lint.Finding) string {
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

// fixText returns a fix as a flag of start-job or, for a job that exists, as the command
// that makes it; "" where neither does.
func fixText(f *lint.Fix, e *remedy.Existing, render Render) string {
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
		s = fixOption(f.Field, value)
	}
	return render(s.WithNote(note))
}

func fixOption(field lint.Field, value string) errs.Suggestion {
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

// stepMessage returns a step of the submission in words.
func stepMessage(v *check.Verdict, s *check.Step) string {
	switch s.Code {
	case check.QueuesUnread:
		return fmt.Sprintf("queues of %s unknown: %s", s.Name, whyUnread(v, kinds.LocalQueue))
	case check.NoQueue:
		return "no queue: Kueue does not manage the job"
	case check.KueueRefuses:
		return fmt.Sprintf("Kueue refuses %s %s: %s", v.Job.Kind, v.Job.Name, s.Fault)
	case check.LocalQueueMissing:
		return fmt.Sprintf("queue %s does not exist in namespace %s", s.Name, v.Job.Namespace)
	case check.NeverResumed:
		with := "with a queue (" + s.Name + ")"
		if s.Name == "" {
			with = "without a queue (manageJobsWithoutQueueName)"
		}
		return fmt.Sprintf("Kueue suspends a %s %s, and never resumes one that runs on the pods of another object", v.Job.Kind, with)
	case check.GroupIncomplete:
		return jobtext.Incomplete(s.Name, s.Pods, s.Whole) + ": Kueue admits the group when all exist"
	case check.GroupMismatch:
		return fmt.Sprintf("Kueue does not admit pod group %s: %s", s.Name, jobtext.Mismatch(s.Mismatch))
	case check.GroupTooLarge:
		if s.Fault != "" && s.Lost > 1 {
			return fmt.Sprintf("the workload of pod group %s has no free place for %d pods: Kueue deletes them", s.Name, s.Lost)
		}
		if s.Fault != "" {
			return fmt.Sprintf("the workload of pod group %s has no free place for pod %s: Kueue deletes the pod", s.Name, s.Fault)
		}
		return fmt.Sprintf("pod group %s has %d pods, and its size (%s) is %d: Kueue deletes %s", s.Name, s.Pods, kinds.PodGroupTotal, s.Whole, words.Count(s.Pods-s.Whole, "pod", "pods"))
	case check.GroupWithoutRole:
		return fmt.Sprintf("pod %s matches no pod set of the workload of pod group %s: Kueue never starts the pod", s.Fault, s.Name)
	case check.NoClusterQueue:
		return fmt.Sprintf("queue %s names no ClusterQueue", s.Name)
	case check.ClusterQueueMissing:
		return fmt.Sprintf("queue %s points to ClusterQueue %s, which does not exist", v.Job.Queue, s.Name)
	case check.ClusterQueueFaulty:
		return fmt.Sprintf("ClusterQueue %s is invalid and ignored: %s", s.Name, quotatext.Faults(s.Faults))
	case check.NamespaceNotSelected:
		return fmt.Sprintf("ClusterQueue %s does not admit jobs of namespace %s", s.Name, v.Job.Namespace)
	case check.NamespaceUnread:
		return fmt.Sprintf("whether ClusterQueue %s admits jobs of namespace %s is unknown: %s", s.Name, v.Job.Namespace, whyUnread(v, kinds.Namespace))
	case check.PriorityClassMissing, check.PodPriorityClassMissing, check.OwnPriorityClassMissing:
		class, kind := "priority class "+s.Name, kinds.WorkloadPriorityClass
		switch s.Code {
		case check.PodPriorityClassMissing:
			class, kind = "priorityClassName "+s.Name+" of the pods", kinds.PriorityClass
		case check.OwnPriorityClassMissing:
			class, kind = "priorityClass "+s.Name+" of the schedulingPolicy", kinds.PriorityClass
		}
		if s.Status == check.StatusUnknown {
			return fmt.Sprintf("value of %s unknown, 0 is assumed: %s", class, whyUnread(v, kind))
		}
		return class + " does not exist on this cluster"
	case check.ReferenceMissing:
		return fmt.Sprintf("the pods need %s %s, which does not exist%s", strings.ToLower(s.Kind), s.Name, inNamespace(v, s.Kind))
	case check.NoRuntime:
		return "the job names no runtime, so it has no pods"
	case check.RuntimeUnread:
		return fmt.Sprintf("the pods are unknown: %s %s could not be read", strings.ToLower(s.Kind), s.Name)
	case check.PodsElsewhere:
		return fmt.Sprintf("the pods are unknown: the %s does not say what they need", s.Kind)
	case check.PullSecretMissing:
		return fmt.Sprintf("image pull secret %s does not exist%s: the pods cannot pull private images", s.Name, inNamespace(v, s.Kind))
	case check.ResourceQuotaSmall, check.ResourceQuotaInUse:
		return overText(s.Over)
	case check.PodSecurity:
		return fmt.Sprintf("namespace %s forbids the pods of %s (Pod Security level %s): %s", v.Job.Namespace, s.Name, s.Kind, s.Fault)
	case check.VolumeElsewhere:
		return fmt.Sprintf("too few nodes can use the volume of persistentvolumeclaim %s: %s", s.Name, nodesWhy(v))
	}
	switch s.Check {
	case "Queue":
		return v.Job.Queue + ", ClusterQueue " + v.Job.ClusterQueue
	case "PriorityClass":
		return fmt.Sprintf("%s (%d)", v.Job.PriorityClass, v.Job.Priority)
	}
	return ""
}

// inNamespace names the namespace where a kind of object lives in one.
func inNamespace(v *check.Verdict, kind string) string {
	if kind == kinds.RuntimeClass.Kind || kind == kinds.ClusterTrainingRuntime.Kind {
		return ""
	}
	return " in namespace " + v.Job.Namespace
}

// overText returns an entry of a ResourceQuota that the pods do not fit into.
func overText(o *prerequisite.Exceeded) string {
	quota := "resourcequota " + o.Quota
	switch {
	case o.Unset:
		return fmt.Sprintf("%s needs a value for %s in every container", quota, o.Resource)
	case o.Never():
		return fmt.Sprintf("%s allows %s %s; the pods need %s", quota, o.Hard.String(), counted(o.Resource, o.Hard.String()), o.Needs.String())
	}
	return fmt.Sprintf("%s has %s of %s %s left; the pods need %s", quota, o.Free.String(), o.Hard.String(), o.Resource, o.Needs.String())
}

// counted returns a resource's name behind an amount: the singular of "pods" behind 1.
func counted(resource, amount string) string {
	if amount == "1" && resource == "pods" {
		return "pod"
	}
	return resource
}
