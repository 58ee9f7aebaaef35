package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Job is what is checked: a job's object and what is known of where it goes. Nil
// lists are not known; their rules are left out.
type Job struct {
	Object    map[string]any
	Namespace string
	// Governed: the namespace's admission policy is in force.
	Governed bool
	// Managed: task governance made the namespace.
	Managed         bool
	Queues          []string // LocalQueues of the namespace
	PriorityClasses []string
	Covered         []string // resources of the queue's ClusterQueue
	FairSharing     bool
	Weight          *float64 // fair-sharing weight of the ClusterQueue; nil is 1
	Borrows         bool     // the job would borrow
	Kueue           string   // version of the cluster's Kueue ("v0.19.2"), "" when not known
}

// linter collects findings.
type linter struct {
	Job
	labels, annotations map[string]string
	parts               []part
	out                 []Finding
}

type part struct {
	name string
	pods int64
	tmpl corev1.PodTemplateSpec
}

// Check returns the findings of a job, errors first, then by code.
func Check(j Job) []Finding {
	l := &linter{Job: j, labels: texts(j.Object, "labels"), annotations: texts(j.Object, "annotations")}
	apiVersion, _ := j.Object["apiVersion"].(string)
	kind, _ := j.Object["kind"].(string)
	if k, ok := kinds.JobFor(apiVersion, kind); ok {
		for _, p := range k.Parts(j.Object) {
			l.parts = append(l.parts, part{p.Name, p.Replicas, podTemplate(p.Template)})
		}
	}
	l.priority()
	l.queue(kind)
	l.release(kind)
	l.resume()
	for i := range l.parts {
		l.topology(&l.parts[i])
		l.resources(&l.parts[i])
	}
	l.amounts()
	order := []Level{Error, Warning, Note}
	slices.SortStableFunc(l.out, func(a, b Finding) int {
		return cmp.Or(slices.Index(order, a.Level)-slices.Index(order, b.Level), strings.Compare(a.Code, b.Code))
	})
	return slices.CompactFunc(l.out, func(a, b Finding) bool { return a == b })
}

// add notes a finding that an option of start-job mends; none may be known ("").
func (l *linter) add(code, try, format string, args ...any) {
	l.find(Finding{Code: code, Message: fmt.Sprintf(format, args...), Try: try})
}

// advise notes a finding that no option mends.
func (l *linter) advise(code, advice, format string, args ...any) {
	l.find(Finding{Code: code, Message: fmt.Sprintf(format, args...), Advice: advice})
}

func (l *linter) find(f Finding) {
	for _, r := range Rules() {
		if r.Code == f.Code {
			f.Level, f.Source = r.Level, r.Source
			l.out = append(l.out, f)
			return
		}
	}
}

func (l *linter) priority() {
	class, queue := l.labels[kinds.PriorityLabel], l.labels[kinds.QueueLabel]
	switch {
	case class == "" && queue != "":
		fix := "--priority PRIORITY"
		if len(l.PriorityClasses) > 0 {
			fix = Choice("--priority", classes(l.PriorityClasses))
		}
		if l.PriorityClasses == nil || len(l.PriorityClasses) > 0 {
			l.add(NoPriority, fix, "no priority class: it ranks as 0, behind every class")
		}
	case class != "" && l.PriorityClasses != nil && !slices.Contains(l.PriorityClasses, class):
		fix := ""
		if near := errs.Near(class, l.PriorityClasses); len(near) > 0 {
			fix = "--priority " + near[0]
		} else if len(l.PriorityClasses) > 0 {
			fix = Choice("--priority", classes(l.PriorityClasses))
		}
		l.add(UnknownPriority, fix, "priority class %q does not exist on this cluster", class)
	}
	for _, p := range l.parts {
		if name := p.tmpl.Spec.PriorityClassName; name != "" && class == "" && queue != "" {
			l.add(PodPriority, "--priority PRIORITY", "%s has priorityClassName %s, which does not rank jobs", p.name, name)
			break
		}
	}
	if l.FairSharing && l.Borrows && l.Weight != nil && *l.Weight == 0 {
		l.advise(WeightZero, "ask an administrator for a fair-share weight above 0", "the queue has fair-share weight 0: what it borrows is the first to be taken back")
	}
}

// classes are the classes as --priority takes them.
func classes(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, strings.TrimSuffix(n, "-priority"))
	}
	return out
}

// Choice is an option with its value, where there is one; else with a word in its
// place and the values behind it, as a remark of a shell.
func Choice(option string, values []string) string {
	if len(values) == 1 {
		return option + " " + values[0]
	}
	word := strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(option, "--"), "-name"))
	return option + " " + word + Remark + strings.Join(values, ", ")
}

// Remark parts an option or command from words about it.
const Remark = "   # "

func (l *linter) queue(kind string) {
	queue := l.labels[kinds.QueueLabel]
	switch {
	case queue == "" && l.Governed:
		l.add(NoQueue, "--queue-name QUEUE", "no queue label: namespace %s refuses jobs without one", l.Namespace)
	case queue != "" && l.Queues != nil && !slices.Contains(l.Queues, queue):
		fix := ""
		if near := errs.Near(queue, l.Queues); len(near) > 0 {
			fix = "--queue-name " + near[0]
		} else if len(l.Queues) > 0 {
			fix = Choice("--queue-name", l.Queues)
		}
		l.add(UnknownQueue, fix, "queue %q does not exist in namespace %s", queue, l.Namespace)
	}
	if l.Governed && (kind == "RayCluster" || kind == "RayJob") {
		for _, p := range l.parts {
			if p.tmpl.Labels[kinds.QueueLabel] == "" {
				l.advise(NoPodLabel, "put the queue label on every pod template", "the pods of %s have no queue label: the namespace's policy refuses them", p.name)
			}
		}
	}
	if l.Managed && queue != "" && l.labels[kinds.PriorityLabel] == "" {
		l.add(NotOnDashboard, "--priority PRIORITY", "the dashboard does not list it: it lacks the priority label")
	}
}

// release looks at what Kueue is too old for.
func (l *linter) release(kind string) {
	var major, minor int
	if n, _ := fmt.Sscanf(l.Kueue, "v%d.%d", &major, &minor); kind == kinds.HyperPodPyTorchJob.Kind && n == 2 && major == 0 && minor < 12 {
		l.advise(OldGovernance, "ask an administrator to update task governance", "the cluster runs Kueue %s, which does not manage a %s", l.Kueue, kind)
	}
}

func (l *linter) resume() {
	on, retry := l.annotations[kinds.AutoResumeAnnotation], l.annotations[kinds.MaxRetryAnnotation]
	if on == "" && retry == "" {
		return
	}
	if on != "true" || retry == "" {
		l.add(ResumeIncomplete, "--auto-resume --max-retry N", "auto-resume needs both %s: \"true\" and %s", kinds.AutoResumeAnnotation, kinds.MaxRetryAnnotation)
	}
	if l.Namespace != "" && l.Namespace != "kubeflow" && !strings.HasPrefix(l.Namespace, "hyperpod") {
		l.add(ResumeNamespace, "", "auto-resume has no effect in namespace %s", l.Namespace)
	}
}

// amounts looks at all pods together.
func (l *linter) amounts() {
	if len(l.parts) == 0 {
		return
	}
	var pods int64
	asked := map[string]bool{}
	for _, p := range l.parts {
		pods += p.pods
		for name, q := range requests(&p.tmpl.Spec) {
			if !q.IsZero() && p.pods > 0 {
				asked[string(name)] = true
			}
		}
	}
	switch {
	case pods == 0:
		l.add(NoPods, "--node-count 1", "it asks for no pods: Kueue has nothing to admit")
	case len(asked) == 0:
		l.add(NoRequests, "--accelerators N", "its pods request nothing: they take no quota, and nothing is kept free for them")
	}
	if l.Covered == nil {
		return
	}
	for _, name := range sorted(asked) {
		if !slices.Contains(l.Covered, name) {
			l.advise(ResourceUncovered, "leave it out, or ask an administrator to cover it", "the queue has no quota for %s (it covers %s)", name, strings.Join(l.Covered, ", "))
		}
	}
}

func sorted(set map[string]bool) []string {
	var out []string
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func requests(spec *corev1.PodSpec) corev1.ResourceList {
	return resource.PodRequests(&corev1.Pod{Spec: effective(spec)}, resource.PodResourcesOptions{})
}

// effective copies limits to requests that are not given, as the API server does.
func effective(spec *corev1.PodSpec) corev1.PodSpec {
	out := *spec.DeepCopy()
	for _, cs := range [][]corev1.Container{out.InitContainers, out.Containers} {
		for i := range cs {
			for name, q := range cs[i].Resources.Limits {
				if _, given := cs[i].Resources.Requests[name]; given {
					continue
				}
				if cs[i].Resources.Requests == nil {
					cs[i].Resources.Requests = corev1.ResourceList{}
				}
				cs[i].Resources.Requests[name] = q
			}
		}
	}
	return out
}

func podTemplate(m map[string]any) corev1.PodTemplateSpec {
	var t corev1.PodTemplateSpec
	if data, err := json.Marshal(m); err == nil {
		_ = json.Unmarshal(data, &t) // what is malformed is found by the layers that read the job
	}
	return t
}

// texts returns metadata's labels or annotations.
func texts(object map[string]any, key string) map[string]string {
	meta, _ := object["metadata"].(map[string]any)
	m, _ := meta[key].(map[string]any)
	out := make(map[string]string, len(m))
	for k, v := range m {
		switch v := v.(type) {
		case string:
			out[k] = v
		case bool:
			out[k] = strconv.FormatBool(v)
		}
	}
	return out
}
