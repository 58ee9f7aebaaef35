package check

import (
	"fmt"
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// lookup is the engine's, with the pods' priority classes that are not known made
// up: without them Kueue's code makes no workload at all, and a missing class must
// not hide the other layers.
type lookup struct {
	admission.Lookup
	more []*schedulingv1.PriorityClass
}

func (l lookup) PriorityClasses() []*schedulingv1.PriorityClass {
	return append(slices.Clone(l.Lookup.PriorityClasses()), l.more...)
}

// priorities looks at the priority classes a job names: those that do not exist, or
// cannot be read, become steps, and the job is looked at as if they had the value 0.
func (c *Checker) priorities(object map[string]any, v *Verdict) admission.Lookup {
	out := lookup{Lookup: c.Engine.Lookup()}
	labels, _ := kinds.At(object, "metadata", "labels").(map[string]any)
	if class := v.Job.PriorityClass; class != "" && out.WorkloadPriorityClass(class) == nil {
		delete(labels, kinds.PriorityLabel)
		step := Step{Check: "PriorityClass", Status: Failed, Message: fmt.Sprintf("priority class %s does not exist on this cluster", class), Try: c.nearClass(class)}
		if c.unread(kinds.WorkloadPriorityClass) {
			step = Step{Check: "PriorityClass", Status: Unclear, Message: fmt.Sprintf("the value of priority class %s %s: 0 is assumed", class, c.In.WhyUnread(kinds.WorkloadPriorityClass, "is"))}
		}
		if !v.tried("PriorityClass") {
			v.Submission = append(v.Submission, step)
		}
	}
	k, ok := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
	if !ok {
		return out
	}
	for _, p := range k.Parts(object) {
		name := kinds.Text(p.Template, "spec", "priorityClassName")
		if name == "" || slices.ContainsFunc(out.PriorityClasses(), func(pc *schedulingv1.PriorityClass) bool { return pc.Name == name }) {
			continue
		}
		out.more = append(out.more, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}})
		step := Step{Check: "PriorityClass", Status: Failed, Message: fmt.Sprintf("the pods' priority class %s does not exist on this cluster", name)}
		if c.unread(kinds.PriorityClass) {
			step.Status, step.Message = Unclear, fmt.Sprintf("the value of the pods' priority class %s %s: 0 is assumed", name, c.In.WhyUnread(kinds.PriorityClass, "is"))
		}
		v.Submission = append(v.Submission, step)
	}
	return out
}
