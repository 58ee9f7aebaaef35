package control

import (
	"maps"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// podPlan is one pod that a running job should have.
type podPlan struct {
	// name is the pod's name. A name that ends in "-" is a generateName.
	name     string
	role     string
	labels   map[string]string
	template map[string]any
}

// plan returns the pods that a running job should have, with the names and labels that
// the kind's operator sets. m is the object with the templates to use.
func plan(j job, m map[string]any) []podPlan {
	var out []podPlan
	kind, m := j.kind.Whole(m)
	for _, p := range kind.Parts(m) {
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
