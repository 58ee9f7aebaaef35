package schema

import (
	"reflect"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// described compares what the description of a kind without a Go type says of its fields:
// the suspend field, the numbers of pods and the pod templates. Other fields are not known.
func (r *Report) described(k kinds.Job, n *manifest.Node) {
	yes, number, template := reflect.TypeFor[bool](), reflect.TypeFor[int32](), reflect.TypeFor[corev1.PodTemplateSpec]()
	r.each(n, k.SuspendPath, "", func(n *manifest.Node, at string) { r.check(yes, n, at) })
	for _, role := range k.Roles {
		r.each(n, role.Path, "", func(part *manifest.Node, at string) {
			for _, path := range [][]string{role.Replicas, role.Times, role.AtMost, role.Spares} {
				r.each(part, path, at, func(n *manifest.Node, at string) { r.check(number, n, at) })
			}
			r.each(part, role.Template, at, func(n *manifest.Node, at string) { r.check(template, n, at) })
		})
	}
}

// each calls f for what a path leads to; "*" stands for every value of a map or item of a
// list. An empty path leads nowhere.
func (r *Report) each(n *manifest.Node, path []string, at string, f func(*manifest.Node, string)) {
	if n == nil || len(path) == 0 {
		return
	}
	then := func(next *manifest.Node, at string) {
		if len(path) > 1 {
			r.each(next, path[1:], at, f)
		} else if next != nil {
			f(next, at)
		}
	}
	if path[0] != "*" {
		then(n.Get(path[0]), manifest.JoinPath(at, path[0]))
		return
	}
	for _, field := range n.Fields {
		then(field.Value, manifest.JoinPath(at, field.Key))
	}
	for i, item := range n.Items {
		then(item, at+"["+strconv.Itoa(i)+"]")
	}
}
