package check

import (
	"encoding/json"
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// lookup is the engine's lookup with unknown priority classes of pods added: without
// them Kueue's code makes no workload, and a missing class must not hide the other
// layers.
type lookup struct {
	integration.Lookup
	more []*schedulingv1.PriorityClass
}

func (l lookup) PriorityClasses() []*schedulingv1.PriorityClass {
	return append(slices.Clone(l.Lookup.PriorityClasses()), l.more...)
}

// priorities checks the priority classes that a job names. Those that do not exist, or
// could not be read, become steps and count as value 0.
func (c *Checker) priorities(object map[string]any, v *Verdict) integration.Lookup {
	out := lookup{Lookup: c.Engine.Lookup()}
	labels, _ := kinds.At(object, "metadata", "labels").(map[string]any)
	if class := v.Job.PriorityClass; class != "" && out.WorkloadPriorityClass(class) == nil {
		delete(labels, kinds.PriorityLabel)
		step := Step{Check: "PriorityClass", Status: StatusFailed, Code: PriorityClassMissing, Name: class, Fix: lint.Nearest(lint.Priority, class, c.classNames())}
		if c.unread(kinds.WorkloadPriorityClass) {
			step.Status, step.Fix = StatusUnknown, nil
		}
		if !v.Tried("PriorityClass") {
			v.Submission = append(v.Submission, step)
		}
	}
	k, ok := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
	if !ok {
		return out
	}
	missing := func(name, code string, needed bool) {
		if name == "" || slices.ContainsFunc(out.PriorityClasses(), func(pc *schedulingv1.PriorityClass) bool { return pc.Name == name }) {
			return
		}
		out.more = append(out.more, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if !needed {
			return
		}
		step := Step{Check: "PriorityClass", Status: StatusFailed, Code: code, Name: name}
		if c.unread(kinds.PriorityClass) {
			step.Status = StatusUnknown
		}
		v.Submission = append(v.Submission, step)
	}
	for _, p := range k.Parts(object) {
		missing(kinds.Text(p.Template, "spec", "priorityClassName"), PodPriorityClassMissing, true)
	}
	if data, err := json.Marshal(object); err == nil {
		missing(integration.OwnPriorityClass(data), OwnPriorityClassMissing, v.Job.PriorityClass == "") // Kueue reads it unless the job has a label
	}
	return out
}
