package submit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
)

// Change is one field in which two objects differ.
type Change struct {
	Path          string
	Before, After string // as JSON-like text; "" where there is none
}

// diff returns the fields in which two objects differ, by path. Values of
// environments and of Secrets are not shown.
func diff(before, after map[string]any) []Change {
	d := differ{kind: cmp.Or(kinds.Text(before, "kind"), kinds.Text(after, "kind"), "?")}
	d.walk("", before, after)
	return d.out
}

// written are metadata that only the server writes.
var written = []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink", "ownerReferences"}

type differ struct {
	kind string
	out  []Change
}

func (d *differ) walk(path string, a, b any) {
	if reflect.DeepEqual(a, b) {
		return
	}
	am, isA := a.(map[string]any)
	bm, isB := b.(map[string]any)
	if isA && isB {
		keys := map[string]bool{}
		for k := range maps.Keys(am) {
			keys[k] = true
		}
		for k := range maps.Keys(bm) {
			keys[k] = true
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			if path == "" && k == "status" || path == "metadata" && slices.Contains(written, k) || strings.HasPrefix(k, kinds.OwnPrefix) {
				continue
			}
			d.walk(strings.TrimPrefix(path+"."+k, "."), am[k], bm[k])
		}
		return
	}
	al, isA := a.([]any)
	bl, isB := b.([]any)
	if isA && isB && len(al) == len(bl) {
		for i := range al {
			d.walk(fmt.Sprintf("%s[%d]", path, i), al[i], bl[i])
		}
		return
	}
	d.out = append(d.out, Change{path, d.show(path, a), d.show(path, b)})
}

const mostShown = 80

func (d *differ) show(path string, v any) string {
	if v == nil {
		return ""
	}
	text := strings.Join(strings.Fields(fmt.Sprint(secret.Hide(d.kind, path, v))), " ")
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + "..."
	}
	return text
}

// existing decides about an object that exists already and is not the job: one
// that the manifest would not change is used as it is; another is an error with
// the difference, or, with Replace, changed.
func existing(ctx context.Context, api API, req Request, o Object, found map[string]any, cause error) (map[string]any, Action, error) {
	body := withoutServerFields(o.Body)
	would := map[string]any{}
	err := api.Change(ctx, o.Resource, namespaceOf(o, req), o.Name(), kube.MergePatch, body, kube.ChangeOptions{DryRun: true}, &would)
	if kube.IsForbidden(err) {
		// Without permission to try the change, the fields that are given decide.
		would = overlay(found, body)
	} else if err != nil {
		return nil, "", &Error{Code: NotChangeable, Object: o, Err: err}
	}
	changes := diff(found, would)
	if len(changes) == 0 {
		return found, Unchanged, nil
	}
	if !req.Replace {
		return nil, "", &Error{Code: Differs, Object: o, Namespace: req.Namespace, Found: found, Changes: changes, Err: cause}
	}
	if req.DryRun {
		return would, Configured, nil
	}
	made := map[string]any{}
	if err := api.Change(ctx, o.Resource, namespaceOf(o, req), o.Name(), kube.MergePatch, body, kube.ChangeOptions{FieldManager: req.Manager}, &made); err != nil {
		return nil, "", err
	}
	return made, Configured, nil
}

func namespaceOf(o Object, req Request) string {
	if !o.Resource.Namespaced {
		return ""
	}
	return req.Namespace
}

func withoutServerFields(o map[string]any) map[string]any {
	out := maps.Clone(o)
	delete(out, "status")
	return out
}

// overlay lays the fields of b over a, as a merge patch does, and the elements of a
// list of the same length each over the other: the server adds defaults to them.
func overlay(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range b {
		out[k] = over(out[k], v)
	}
	return out
}

func over(a, b any) any {
	switch b := b.(type) {
	case map[string]any:
		under, _ := a.(map[string]any)
		return overlay(under, b)
	case []any:
		under, _ := a.([]any)
		if len(under) != len(b) {
			return b
		}
		out := make([]any, len(b))
		for i := range b {
			out[i] = over(under[i], b[i])
		}
		return out
	}
	return b
}
