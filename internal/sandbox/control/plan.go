package control

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/podrules"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// podPlan is one pod that a running job should have.
type podPlan struct {
	// name is the pod's name. A name that ends in "-" is a generateName.
	name     string
	role     string
	labels   map[string]string
	template map[string]any
}

// withoutVolumes returns a pod template without the volumes that claims of its owner's templates replace. A sandbox makes no such
// claims, and the pods do not wait for them.
func withoutVolumes(template map[string]any, claimed []string) map[string]any {
	volumes := object.List(template, "spec", "volumes")
	named := func(v any) bool { return slices.Contains(claimed, object.Text(object.Map(v), "name")) }
	if !slices.ContainsFunc(volumes, named) {
		return template
	}
	template = store.CopyMap(template)
	object.Map(template["spec"])["volumes"] = slices.DeleteFunc(slices.Clone(volumes), named)
	return template
}

// plan returns the pods that a running job should have, with the names and labels that
// the kind's operator sets. m is the object with the templates to use.
func plan(j job, m map[string]any) []podPlan {
	var out []podPlan
	kind, m := j.kind.Whole(m)
	claimed := podrules.ClaimVolumes(m)
	for _, p := range kind.Parts(m) {
		p.Template = withoutVolumes(p.Template, claimed)
		for i := range p.Replicas {
			w := podPlan{role: p.Name, template: p.Template, labels: map[string]string{}}
			if j.kind.PodLabel != "" {
				w.labels[j.kind.PodLabel] = j.o.Name
			}
			if j.kind.Made == nil {
				w.name = j.o.Name + "-" + strings.ToLower(p.Name) + "-" + strconv.FormatInt(i, 10)
			} else {
				name, labels := j.kind.Made(kinds.Planned{Name: j.o.Name, UID: j.o.UID, Object: m, Part: p, Index: i})
				w.name = name
				maps.Copy(w.labels, labels)
			}
			out = append(out, w)
		}
	}
	return out
}
