package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

func objectMeta(j Job) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: j.Name, Namespace: j.Namespace}
}

// describe fills in the job and the steps about its queue and priority class.
func (c *Checker) describe(r *Request, wl *kueue.Workload, v *Verdict) {
	k, _ := kinds.JobFor(kinds.Text(r.Object, "apiVersion"), kinds.Text(r.Object, "kind"))
	j := &v.Job
	j.Queue = string(wl.Spec.QueueName)
	if wl.Spec.Priority != nil {
		j.Priority = *wl.Spec.Priority
	}
	lq := c.In.LocalQueue(wl.Namespace, j.Queue)
	if lq != nil {
		j.at(string(lq.Spec.ClusterQueue))
	}
	step := func(s Step) { v.Submission = append(v.Submission, s) }
	queue := func(status Status, code, name string) {
		step(Step{Check: "Queue", Status: status, Code: code, Name: name})
	}
	if c.lacksFile(kinds.LocalQueue) { // a caller that found no queue looked in the same file
		v.Submission = slices.DeleteFunc(v.Submission, func(s Step) bool { return s.Check == "Queue" && s.Status == StatusFailed })
	}
	switch {
	case r.Workload == nil && k.OthersPods(r.Object):
		if name, stuck := c.neverResumed(r); stuck {
			queue(StatusFailed, NeverResumed, name)
		}
	case v.Tried("Queue"):
	case c.unread(kinds.LocalQueue) && j.Queue == "":
		step(Step{Check: "Queue", Status: StatusUnknown, Code: QueuesUnread, Name: wl.Namespace, Fix: &lint.Fix{Field: lint.Queue}})
	case c.unread(kinds.LocalQueue) && lq == nil:
		queue(StatusUnknown, QueuesUnread, wl.Namespace)
	case j.Queue == "" && len(c.In.LocalQueues) > 0:
		step(Step{Check: "Queue", Status: StatusUnknown, Code: NoQueue, Fix: &lint.Fix{Field: lint.Queue}})
	case j.Queue == "":
	case lq == nil:
		step(Step{Check: "Queue", Status: StatusFailed, Code: LocalQueueMissing, Name: j.Queue, Fix: lint.Nearest(lint.Queue, j.Queue, c.queueNames(wl.Namespace))})
	case j.ClusterQueue == "":
		queue(StatusFailed, NoClusterQueue, j.Queue)
	default:
		cq := c.In.ClusterQueue(j.ClusterQueue)
		var bad []quota.Fault
		if cq != nil {
			bad = admission.ClusterQueueFaults(cq)
		}
		selected, known := true, true
		if cq != nil {
			selected, known = c.selects(cq, wl.Namespace)
		}
		switch {
		case cq == nil && !c.unread(kinds.ClusterQueue):
			queue(StatusFailed, ClusterQueueMissing, j.ClusterQueue)
		case len(bad) > 0:
			step(Step{Check: "Queue", Status: StatusFailed, Code: ClusterQueueFaulty, Name: j.ClusterQueue, Faults: bad})
		case !selected && known:
			queue(StatusFailed, NamespaceNotSelected, j.ClusterQueue)
		case !selected:
			queue(StatusUnknown, NamespaceUnread, j.ClusterQueue)
		default:
			queue(StatusOK, "", j.Queue)
		}
	}
	if j.PriorityClass != "" && !v.Tried("PriorityClass") {
		step(Step{Check: "PriorityClass", Status: StatusOK, Name: j.PriorityClass})
	}
	if v.Submission == nil {
		v.Submission = []Step{}
	}
}

// neverResumed reports whether Kueue suspends a job that runs on the pods of another object, and names its queue ("" for none).
// Kueue's webhook suspends it as it does every job with a queue, and its controller passes it over (ApplyDefaultForSuspend and
// JobWithSkip in pkg/controller/jobframework).
func (c *Checker) neverResumed(r *Request) (queue string, stuck bool) {
	label := kinds.Text(r.Object, "metadata", "labels", kinds.QueueLabel)
	switch {
	case len(c.In.LocalQueues) == 0 && c.notServed():
		return "", false
	case label != "":
		return label, true
	case c.In.LocalQueue(r.Namespace, defaultQueue) != nil:
		return defaultQueue, true
	}
	return "", c.rules.Manages(c.In, r.Namespace)
}

func (c *Checker) queueNames(namespace string) []string {
	var names []string
	for _, q := range c.In.LocalQueues {
		if q.Namespace == namespace {
			names = append(names, q.Name)
		}
	}
	return names
}

// selects reports whether a ClusterQueue admits workloads of a namespace, and whether that is known: the labels of a
// namespace that could not be read are not. A namespace that does not exist counts as selected.
func (c *Checker) selects(cq *kueue.ClusterQueue, namespace string) (selected, known bool) {
	s, err := metav1.LabelSelectorAsSelector(cq.Spec.NamespaceSelector)
	if err != nil {
		return false, true
	}
	for _, ns := range c.In.Namespaces {
		if ns.Name == namespace {
			return s.Matches(labels.Set(ns.Labels)), !kinds.Assumed(ns.Annotations)
		}
	}
	if c.unread(kinds.Namespace) {
		return s.Matches(labels.Set{corev1.LabelMetadataName: namespace}), false
	}
	return true, true
}

// lint checks the manifest against the rules.
func (c *Checker) lint(r *Request, v *Verdict) []lint.Finding {
	j := lint.Job{Object: r.Object, Namespace: r.Namespace, FairSharing: c.rules.FairSharing, Borrows: len(v.Quota.Borrowed) > 0, Kueue: c.In.KueueVersion}
	for _, ns := range c.In.Namespaces {
		if ns.Name == r.Namespace {
			j.Managed = ns.Labels[kinds.ManagedQueueLabel] == "true"
			j.Governed = j.Managed && ns.Labels[enforcedLabel] == "Enabled"
		}
	}
	if !c.unread(kinds.LocalQueue) && len(c.In.LocalQueues) > 0 {
		j.Queues = append([]string{}, c.queueNames(r.Namespace)...)
	}
	if !c.unread(kinds.WorkloadPriorityClass) {
		j.PriorityClasses = []string{}
		for _, p := range c.In.WorkloadPriority {
			j.PriorityClasses = append(j.PriorityClasses, p.Name)
		}
	}
	if cq := c.In.ClusterQueue(v.Job.ClusterQueue); cq != nil {
		if !c.rules.Config.IgnoreUndeclaredResources && len(c.rules.Config.Transformations) == 0 && len(c.rules.Config.ExcludeResourcePrefixes) == 0 {
			j.Covered = covered(cq)
		}
		if fs := cq.Spec.FairSharing; fs != nil && fs.Weight != nil {
			w := fs.Weight.AsApproximateFloat64()
			j.Weight = &w
		}
	}
	out := lint.Check(j)
	if out == nil {
		out = []lint.Finding{}
	}
	return out
}

// enforcedLabel marks the namespaces whose jobs the add-on's admission policy checks.
const enforcedLabel = "sagemaker.amazonaws.com/activate-quota"

func covered(cq *kueue.ClusterQueue) []string {
	out := []string{}
	for _, g := range cq.Spec.ResourceGroups {
		for _, r := range g.CoveredResources {
			out = append(out, string(r))
		}
	}
	return out
}

// Tried reports whether the verdict contains a step of a check.
func (v *Verdict) Tried(check string) bool {
	return slices.ContainsFunc(v.Submission, func(s Step) bool { return s.Check == check })
}
