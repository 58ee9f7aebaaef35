package check

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func objectMeta(j Job) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: j.Name, Namespace: j.Namespace}
}

// describe fills in the job and layer b.
func (c *Checker) describe(r *Request, wl *kueue.Workload, v *Verdict) {
	j := &v.Job
	j.Queue = string(wl.Spec.QueueName)
	if wl.Spec.Priority != nil {
		j.Priority = *wl.Spec.Priority
	}
	lq := c.In.LocalQueue(wl.Namespace, j.Queue)
	if lq != nil {
		j.at(string(lq.Spec.ClusterQueue))
	}
	step := func(check string, status Status, try, format string, args ...any) {
		v.Submission = append(v.Submission, Step{Check: check, Status: status, Message: fmt.Sprintf(format, args...), Try: try})
	}
	switch {
	case v.tried("Queue"):
	case c.unread(kinds.LocalQueue) && lq == nil && j.Queue != "":
		step("Queue", Unclear, "", "the queues of %s %s", wl.Namespace, c.In.WhyUnread(kinds.LocalQueue, "are"))
	case j.Queue == "" && len(c.In.LocalQueues) > 0:
		step("Queue", Unclear, "--queue-name QUEUE", "no queue: the job is not managed by Kueue")
	case j.Queue == "":
	case lq == nil:
		try := ""
		names := c.queueNames(wl.Namespace)
		if near := errs.Near(j.Queue, names); len(near) > 0 {
			try = "--queue-name " + near[0]
		} else if len(names) > 0 {
			try = lint.Choice("--queue-name", names)
		}
		step("Queue", Failed, try, "queue %s does not exist in namespace %s", j.Queue, wl.Namespace)
	case j.ClusterQueue == "":
		step("Queue", Failed, "", "queue %s leads to no ClusterQueue", j.Queue)
	default:
		cq, bad := c.In.ClusterQueue(j.ClusterQueue), ""
		if cq != nil {
			bad = admission.ClusterQueueFaults(cq)
		}
		switch {
		case cq == nil && !c.unread(kinds.ClusterQueue):
			step("Queue", Failed, "", "queue %s leads to ClusterQueue %s, which does not exist", j.Queue, j.ClusterQueue)
		case bad != "":
			step("Queue", Failed, "", "ClusterQueue %s is faulty and left out: %s", j.ClusterQueue, bad)
		case cq != nil && !c.selects(cq, wl.Namespace):
			step("Queue", Failed, "", "ClusterQueue %s does not take jobs of namespace %s", j.ClusterQueue, wl.Namespace)
		default:
			step("Queue", OK, "", "%s, ClusterQueue %s", j.Queue, j.ClusterQueue)
		}
	}
	if j.PriorityClass != "" && !v.tried("PriorityClass") {
		step("PriorityClass", OK, "", "%s (%d)", j.PriorityClass, j.Priority)
	}
	if v.Submission == nil {
		v.Submission = []Step{}
	}
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

// selects reports that a ClusterQueue takes workloads of a namespace. A namespace
// that was not read is believed.
func (c *Checker) selects(cq *kueue.ClusterQueue, namespace string) bool {
	s, err := metav1.LabelSelectorAsSelector(cq.Spec.NamespaceSelector)
	if err != nil {
		return false
	}
	for _, ns := range c.In.Namespaces {
		if ns.Name == namespace {
			return s.Matches(labels.Set(ns.Labels))
		}
	}
	return true
}

// lint is layer a.
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

// enforcedLabel is set on namespaces whose jobs the add-on's admission policy checks.
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

// tried reports a step of layer b that was looked at already.
func (v *Verdict) tried(check string) bool {
	return slices.ContainsFunc(v.Submission, func(s Step) bool { return s.Check == check })
}
