package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Job is a job's manifest and what is known about the namespace and queue that it
// goes to. A nil list is not known, and the rules that need it are skipped.
type Job struct {
	Object    map[string]any
	Namespace string
	// Governed reports that the add-on's admission policy is active in the namespace.
	Governed bool
	// Managed reports that task governance created the namespace.
	Managed         bool
	Queues          []string // LocalQueues of the namespace
	PriorityClasses []string
	Covered         []string // resources of the queue's ClusterQueue
	FairSharing     bool
	Weight          *float64 // fair-sharing weight of the ClusterQueue; nil is 1
	Borrows         bool     // the job borrows quota when it is admitted now
	Kueue           string   // version of the cluster's Kueue ("v0.19.2"), "" when unknown
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
	if k, ok := kinds.JobFor(apiVersion, kind); ok && (k.Runtime == nil || kinds.ChildOf(j.Object) != nil) { // else the pods are not known
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
	return slices.CompactFunc(l.out, func(a, b Finding) bool { return reflect.DeepEqual(a, b) })
}

// find notes a broken rule with what is known of it.
func (l *linter) find(code string, facts Facts) {
	for _, r := range Rules() {
		if r.Code == code {
			l.out = append(l.out, Finding{Code: code, Level: r.Level, Source: r.Source, Facts: facts})
			return
		}
	}
}

func (l *linter) priority() {
	class, queue := l.labels[kinds.PriorityLabel], l.labels[kinds.QueueLabel]
	ranked := slices.IndexFunc(l.parts, func(p part) bool { return p.tmpl.Spec.PriorityClassName != "" })
	switch {
	case class == "" && ranked >= 0: // Kueue goes by the class of the pods
	case class == "" && queue != "" && (l.PriorityClasses == nil || len(l.PriorityClasses) > 0):
		l.find(NoPriority, Facts{Fix: &Fix{Field: Priority, Values: l.PriorityClasses}})
	case class != "" && l.PriorityClasses != nil && !slices.Contains(l.PriorityClasses, class):
		l.find(UnknownPriority, Facts{Name: class, Fix: Nearest(Priority, class, l.PriorityClasses)})
	}
	if ranked >= 0 && class != "" && queue != "" {
		l.find(PodPriority, Facts{PodSet: l.parts[ranked].name, Name: l.parts[ranked].tmpl.Spec.PriorityClassName})
	}
	if l.FairSharing && l.Borrows && l.Weight != nil && *l.Weight == 0 {
		l.find(WeightZero, Facts{})
	}
}

func (l *linter) queue(kind string) {
	queue := l.labels[kinds.QueueLabel]
	switch {
	case queue == "" && l.Governed:
		f := Facts{Namespace: l.Namespace, Fix: &Fix{Field: Queue}}
		if k, ok := kinds.JobNamed(kind); ok && k.OthersPods(l.Object) {
			f.Fix = nil // with a queue, it is never resumed
		}
		l.find(NoQueue, f)
	case queue != "" && l.Queues != nil && !slices.Contains(l.Queues, queue):
		l.find(UnknownQueue, Facts{Name: queue, Namespace: l.Namespace, Fix: Nearest(Queue, queue, l.Queues)})
	}
	if l.Governed && (kind == "RayCluster" || kind == "RayJob") {
		for _, p := range l.parts {
			if p.tmpl.Labels[kinds.QueueLabel] == "" {
				l.find(NoPodLabel, Facts{PodSet: p.name})
			}
		}
	}
	if l.Managed && queue != "" && l.labels[kinds.PriorityLabel] == "" {
		l.find(NotOnDashboard, Facts{Fix: &Fix{Field: Priority}})
	}
}

// release reports job kinds that the cluster's Kueue is too old for.
func (l *linter) release(kind string) {
	var major, minor int
	if n, _ := fmt.Sscanf(l.Kueue, "v%d.%d", &major, &minor); kind == kinds.HyperPodPyTorchJob.Kind && n == 2 && major == 0 && minor < 12 {
		l.find(OldGovernance, Facts{Name: kind, Kueue: l.Kueue})
	}
}

func (l *linter) resume() {
	on, retry := l.annotations[kinds.AutoResumeAnnotation], l.annotations[kinds.MaxRetryAnnotation]
	if on == "" && retry == "" {
		return
	}
	if on != "true" || retry == "" {
		l.find(ResumeIncomplete, Facts{Fix: &Fix{Field: AutoResume}})
	}
	if l.Namespace != "" && l.Namespace != "kubeflow" && !strings.HasPrefix(l.Namespace, "hyperpod") {
		l.find(ResumeNamespace, Facts{Namespace: l.Namespace})
	}
}

// amounts checks the requests of all pods together.
func (l *linter) amounts() {
	if len(l.parts) == 0 {
		return
	}
	var pods int64
	asked, claims := map[string]bool{}, false
	for _, p := range l.parts {
		pods += p.pods
		claims = claims || len(p.tmpl.Spec.ResourceClaims) > 0
		for name, q := range requests(&p.tmpl.Spec) {
			if !q.IsZero() && p.pods > 0 {
				asked[string(name)] = true
			}
		}
	}
	switch {
	case pods == 0:
		l.find(NoPods, Facts{Fix: &Fix{Field: NodeCount, Values: []string{"1"}}})
	case len(asked) == 0 && !claims:
		l.find(NoRequests, Facts{Fix: &Fix{Field: Accelerators}})
	}
	if l.Covered == nil {
		return
	}
	for _, name := range sorted(asked) {
		if !slices.Contains(l.Covered, name) {
			l.find(ResourceUncovered, Facts{Resource: name, Known: l.Covered})
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

// effective copies limits to missing requests, as the API server does.
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
		_ = json.Unmarshal(data, &t) // the layers that read the job report a malformed template
	}
	return t
}

// texts returns the labels or annotations of an object.
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
