package state

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// describedJob is a job of a kind whose roles wireJob does not decode. The kind's description finds them in the
// whole object, which takes longer.
type describedJob struct{ raw json.RawMessage }

// UnmarshalJSON keeps the object's text.
func (w *describedJob) UnmarshalJSON(text []byte) error {
	w.raw = append(w.raw[:0], text...)
	return nil
}

// whole returns job with the pods that a runtime describes.
func (w *describedJob) whole(ctx context.Context, k kinds.Job, runtimes *Runtimes) Job {
	read := describedJob{raw: runtimes.wholeJSON(ctx, k, w.raw)}
	return read.job(k)
}

func (w *describedJob) job(k kinds.Job) Job {
	var fields wireJob
	_ = kube.Decode(w.raw, &fields) // a field of another type keeps its zero value
	var object map[string]any
	_ = kube.Decode(w.raw, &object)
	j := fields.job(k)
	j.PodSelector = k.PodSelector(object)
	j.Roles, j.PodPriorityClass, j.TemplatePriority = nil, "", ""
	for _, p := range k.Parts(object) {
		var t *wireTemplate
		if text, err := json.Marshal(p.Template); err == nil {
			_ = kube.Decode(text, &t)
		}
		j.add(p.Name, p.Replicas, t)
	}
	if on, ok := kinds.At(object, k.SuspendPath...).(bool); ok {
		j.Suspended = on
	}
	if k.Itself && kinds.Gated(object) {
		j.Suspended = true
	}
	switch {
	case k.Style == kinds.Described:
		j.describe(object)
	case k.Runtime != nil:
		j.childStatus(object)
	}
	return j
}

// childStatus reads the counts of the child's parts, which are of its jobs: as many pods
// run or end as a job has. The operator tells no start; a job that was resumed began then.
func (j *Job) childStatus(object map[string]any) {
	rt := j.Kind.Runtime
	rows, _ := kinds.At(object, rt.ChildStatus...).([]any)
	child, whole := j.Kind.Whole(object)
	pods := map[string]int{}
	for _, p := range child.Parts(whole) {
		pods[p.Name] = int(p.Replicas / max(1, kinds.JobSetJobs(whole, p.Name)))
	}
	for _, row := range rows {
		var w wireNamedStatus
		text, err := json.Marshal(row)
		if err != nil || kube.Decode(text, &w) != nil {
			continue
		}
		if j.Replicas == nil {
			j.Replicas = map[string]ReplicaStatus{}
		}
		n, known := pods[w.Name]
		if !known {
			n = 1
		}
		j.Replicas[w.Name] = w.status().times(n)
	}
	if c, ok := Find(j.Conditions, "Suspended"); ok && !c.True() && !j.Suspended {
		j.Start = &c.LastTransitionTime
	}
	if n, ok := kinds.Number(object, rt.Progress); ok {
		percent := int(n)
		j.Progress = &percent
	}
	if n, ok := kinds.Number(object, rt.Remaining); ok {
		left := time.Duration(n) * time.Second
		j.Remaining = &left
	}
}

// describe reads the status by the kind's description.
func (j *Job) describe(object map[string]any) {
	s := j.Kind.Status
	j.Phase = s.WordIn(object)
	if text := kinds.Text(object, s.Reason...); text != "" {
		j.Reason = text
	}
	if text := kinds.Text(object, s.Message...); text != "" {
		j.Message = text
	}
	for at, path := range map[**time.Time][]string{&j.Start: s.Since, &j.Completion: s.Ended} {
		if t, err := time.Parse(time.RFC3339, kinds.Text(object, path...)); err == nil && len(path) > 0 {
			*at = &t
		}
	}
	if j.Kind.Itself && j.Completion == nil {
		j.Completion = endOfPod(object)
	}
	ready, ok := kinds.Number(object, s.Ready)
	units, given := kinds.Number(object, s.Wanted)
	if !given {
		units = 1
	}
	if !ok || units <= 0 {
		return
	}
	j.Replicas = map[string]ReplicaStatus{}
	for _, r := range j.Roles {
		j.Replicas[r.Name] = ReplicaStatus{Active: int(r.Replicas), Ready: int(r.Replicas * min(ready, units) / units)}
	}
}

// endOfPod returns when the last container of a pod ended, nil for a pod that has not ended.
func endOfPod(pod map[string]any) (end *time.Time) {
	if phase := kinds.Text(pod, "status", "phase"); phase != "Succeeded" && phase != "Failed" {
		return nil
	}
	list, _ := kinds.At(pod, "status", "containerStatuses").([]any)
	for _, c := range list {
		t, err := time.Parse(time.RFC3339, kinds.Text(c, "state", "terminated", "finishedAt"))
		if err == nil && (end == nil || t.After(*end)) {
			end = &t
		}
	}
	return end
}

// decodesRoles reports whether wireJob decodes every field that describes the roles of
// a kind.
func decodesRoles(k kinds.Job) bool {
	if k.Style == kinds.Described {
		return false
	}
	for _, r := range k.Roles {
		part := typeAt(reflect.TypeFor[wireJob](), r.Path)
		if part == nil || typeAt(part, r.Template) == nil {
			return false
		}
	}
	return len(k.Roles) > 0
}

// typeAt returns the type that a path of JSON names leads to, nil where there is none; "*"
// stands for the values of a map or the items of a list.
func typeAt(t reflect.Type, path []string) reflect.Type {
	for _, name := range path {
		if t = member(t, name); t == nil {
			return nil
		}
	}
	return t
}

func member(t reflect.Type, name string) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name == "*" {
		if t.Kind() == reflect.Map || t.Kind() == reflect.Slice {
			return t.Elem()
		}
		return nil
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return f.Type
		}
		if f.Anonymous && tag == "" {
			if inner := member(f.Type, name); inner != nil {
				return inner
			}
		}
	}
	return nil
}
