package verdict

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/jobtext"
	"github.com/hyperpod-cli/hyperpod/internal/present/quotatext"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

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
