package submit

import (
	"context"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Objects that are submitted with a job belong to it and go with it. Each has the
// job's name in a label of ours, and, where the user may change it, the job as its
// owner, so that even `kubectl delete` of the job removes it. The job lists them
// in an annotation, by which they are found where they have no owner.

// kept are kinds that hold data or serve others: they never go with a job.
var kept = []string{"PersistentVolumeClaim", "PersistentVolume", "Namespace"}

// kindLabel, on an object, is the kind of the job that kinds.TogetherLabel names:
// jobs of two kinds may have the same name.
const kindLabel = kinds.TogetherLabel + "-kind"

// Ref names an object that was submitted with a job.
type Ref struct {
	APIVersion, Kind, Name string
}

func (r Ref) String() string { return r.APIVersion + "/" + r.Kind + "/" + r.Name }

// bind marks the objects that go with the job, and lists them on it. fresh tells
// for each object whether this submission creates it.
func bind(objects []Object, job int, fresh func(i int) bool) {
	if job < 0 {
		return
	}
	name := objects[job].Name()
	var refs []string
	for i, o := range objects {
		if i == job || !fresh(i) || !goes(o) {
			continue
		}
		kinds.Set(o.Body, name, "metadata", "labels", kinds.TogetherLabel)
		kinds.Set(o.Body, objects[job].Resource.Kind, "metadata", "labels", kindLabel)
		refs = append(refs, Ref{o.Resource.GroupVersion(), o.Resource.Kind, o.Name()}.String())
	}
	if len(refs) > 0 {
		kinds.Set(objects[job].Body, strings.Join(refs, " "), "metadata", "annotations", kinds.TogetherAnnotation)
	}
}

// goes reports whether an object goes with its job.
func goes(o Object) bool {
	return o.Resource.Namespaced && !slices.Contains(kept, o.Resource.Kind)
}

// adopt makes the job the owner of what was created with it. cancel-job removes the objects even if the user
// has no permission to change them, so a refusal is ignored.
func adopt(ctx context.Context, api API, req Request, job map[string]any, done []step) {
	owner := map[string]any{"apiVersion": job["apiVersion"], "kind": job["kind"],
		"name": kinds.Text(job, "metadata", "name"), "uid": kinds.Text(job, "metadata", "uid")}
	for _, o := range done {
		if o.before != nil || !goes(o.Object) || kinds.Text(o.Body, "metadata", "labels", kinds.TogetherLabel) != owner["name"] {
			continue
		}
		body := map[string]any{"metadata": map[string]any{"uid": kinds.Text(o.Body, "metadata", "uid"), "ownerReferences": []any{owner}}}
		_ = api.Change(ctx, o.Resource, req.Namespace, o.Name(), kube.MergePatch, body, kube.ChangeOptions{FieldManager: req.Manager}, nil)
	}
}

// Together returns the objects that were submitted with a job and are deleted with it, from the annotations of
// the job.
func Together(annotations map[string]string) []Ref {
	var out []Ref
	for _, word := range strings.Fields(annotations[kinds.TogetherAnnotation]) {
		rest, name, ok := cutLast(word)
		apiVersion, kind, ok2 := cutLast(rest)
		if ok && ok2 && name != "" && kind != "" && apiVersion != "" {
			out = append(out, Ref{apiVersion, kind, name})
		}
	}
	return out
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndex(s, "/")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// belongsTo reports whether an object was submitted with the job of that name.
func belongsTo(object map[string]any, job string) bool {
	return job != "" && kinds.Text(object, "metadata", "labels", kinds.TogetherLabel) == job
}

// SubmittedWith reports whether an object was submitted with the job of that kind and name and belongs to no other
// job: its labels and all of its owners name the job.
func SubmittedWith(object map[string]any, kind, name string) bool {
	if !belongsTo(object, name) || kinds.Text(object, "metadata", "labels", kindLabel) != kind {
		return false
	}
	owners, _ := kinds.At(object, "metadata", "ownerReferences").([]any)
	return !slices.ContainsFunc(owners, func(o any) bool {
		owner, ok := o.(map[string]any)
		return !ok || owner["kind"] != kind || owner["name"] != name
	})
}
