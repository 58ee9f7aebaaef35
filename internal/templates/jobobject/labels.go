package jobobject

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// InjectLabels sets labels on an object and on every pod template in it: those
// of a job's roles, and of Deployments, StatefulSets and the like. Kueue reads
// the job's labels; the admission policy of task governance looks at pods too.
// Objects that become no pods (a Service, a ConfigMap) are labelled at the top.
func InjectLabels(obj map[string]any, labels map[string]string) {
	if len(labels) == 0 {
		return
	}
	put := func(m map[string]any) {
		set := Child(Child(m, "metadata"), "labels")
		for k, v := range labels {
			set[k] = v
		}
	}
	put(obj)
	if g, _ := governed(obj); len(g.QueueAt) > 0 {
		if inner := Inner(obj, g.QueueAt...); inner != nil {
			put(inner)
		}
	}
	if job, ok := Of(obj); ok && (job.Kind.SpecOnly || job.Kind.Runtime != nil || job.Kind.Form != nil && !job.Kind.OnePod) {
		return // the labels of its pods come from the object, its runtime or the operator, and Kueue adds its own
	}
	for _, pods := range PodTemplates(obj) {
		put(pods.Template)
	}
}

// PodTemplate is a pod template in an object, its path, and its role in a job ("" if the object is not a job).
type PodTemplate struct {
	Role, At string
	Template map[string]any
	// Inherits: a runtime or the operator has what the template does not say.
	Inherits bool
}

// PodTemplates returns the pod templates in an object.
func PodTemplates(obj map[string]any) (out []PodTemplate) {
	if job, ok := Of(obj); ok {
		for _, r := range job.Roles() {
			at := strings.TrimSuffix(strings.TrimSuffix(r.PodAt, "spec"), ".") // a Pod is its own template
			out = append(out, PodTemplate{r.Name, at, r.Template, job.Kind.Inherits()})
		}
		return out
	}
	g, _ := governed(obj)
	for _, path := range g.Templates {
		each(obj, path, "", manifest.Location{}, func(_ string, at manifest.Location, t map[string]any) {
			out = append(out, PodTemplate{"", at.Path, t, false})
		})
	}
	return out
}

func governed(obj map[string]any) (kinds.Governed, bool) {
	return kinds.GovernedFor(manifest.GroupOf(manifest.TextOf(obj["apiVersion"])), manifest.TextOf(obj["kind"]))
}

// Queue returns the queue that an object names, "" if it names none.
func Queue(obj map[string]any) string {
	if g, _ := governed(obj); len(g.QueueAt) > 0 {
		if q := manifest.TextOf(Inner(obj, append(slices.Clone(g.QueueAt), "metadata", "labels")...)[kinds.QueueLabel]); q != "" {
			return q
		}
	}
	return manifest.TextOf(Inner(obj, "metadata", "labels")[kinds.QueueLabel])
}

// Pods reports whether an object is a pod or creates pods, so that Kueue or the admission policy checks it.
func Pods(obj map[string]any) bool {
	if k, isJob := kinds.JobFor(manifest.TextOf(obj["apiVersion"]), manifest.TextOf(obj["kind"])); isJob {
		return !k.OthersPods(obj)
	}
	_, known := governed(obj)
	return known
}
