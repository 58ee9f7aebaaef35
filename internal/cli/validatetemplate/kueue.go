package validatetemplate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// refusedByKueue returns the faults for which Kueue's webhooks refuse the jobs of a template, with the defaults of all feature
// gates. Documents with other faults and what depends on values with placeholders are not checked.
func refusedByKueue(ctx context.Context, t *parse.Template, others []parse.Fault) (found []parse.Fault) {
	if t == nil {
		return nil
	}
	embedded.UseDefaults()
	for _, doc := range t.Docs {
		if slices.ContainsFunc(others, func(f parse.Fault) bool { return t.Concerns(f, doc) }) {
			continue
		}
		object, _ := doc.Plain().(map[string]any)
		k, isJob := kinds.JobFor(kinds.Text(object, "apiVersion"), kinds.Text(object, "kind"))
		if !isJob || kinds.Text(object, "apiVersion") != k.GroupVersion() {
			continue
		}
		data, err := json.Marshal(object)
		if err != nil {
			continue
		}
		var all utilerrors.Aggregate
		if err = integration.Validate(ctx, data); !errors.Is(err, integration.ErrRefused) || !errors.As(err, &all) {
			continue
		}
		gates := integration.OtherGates(ctx, data, all.Errors())
		for i, e := range all.Errors() {
			var fault *field.Error
			if !errors.As(e, &fault) {
				continue
			}
			if at := fieldpath.Follow(doc, fieldpath.OfServer(fault.Field)); !manifest.Unfilled(at.Nearest.Str()) {
				found = append(found, parse.Fault{Line: at.Line, Column: at.Column, Message: "Kueue refuses this job" + unless(gates[i]) + ": " + fault.Error()})
			}
		}
	}
	return found
}

// inFile compares faults by their position.
func inFile(a, b parse.Fault) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) }

// unless returns the condition under which Kueue would not refuse a job for a fault, from the feature gates that decide; "" for
// none.
func unless(gates []embedded.Gate) string {
	var all []string
	for _, g := range gates {
		value := "off"
		if g.On {
			value = "on"
		}
		all = append(all, "the feature gate "+g.Name+" is "+value)
	}
	if len(all) == 0 {
		return ""
	}
	return " unless " + manifest.OrList(all)
}
