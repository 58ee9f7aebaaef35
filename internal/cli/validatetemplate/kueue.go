package validatetemplate

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// refusedByKueue returns the faults for which Kueue's webhooks refuse the jobs of a template. What depends on values with
// placeholders is not checked.
func refusedByKueue(ctx context.Context, t *parse.Template) (found []parse.Fault) {
	for _, doc := range t.Docs {
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
		if err = admission.Validate(ctx, data); !errors.Is(err, admission.ErrRefused) || !errors.As(err, &all) {
			continue
		}
		for _, e := range all.Errors() {
			var fault *field.Error
			if !errors.As(e, &fault) {
				continue
			}
			if at := nodeAt(doc, fault.Field); !manifest.Unfilled(at.Str()) {
				found = append(found, parse.Fault{Line: at.Line, Column: at.Column, Message: "Kueue refuses this job: " + fault.Error()})
			}
		}
	}
	return found
}

// steps are the parts of a path such as spec.items[0].annotations[example.com/key].
var steps = pattern.Lazy(`[^.\[\]]+|\[[^\]]*\]`)

// nodeAt returns the value at a path of Kueue, or the last one on the way to it that there is.
func nodeAt(n *manifest.Node, path string) *manifest.Node {
	for _, step := range steps().FindAllString(path, -1) {
		if step[0] == '[' {
			step = step[1 : len(step)-1]
		}
		next := n.Get(step)
		if i, err := strconv.Atoi(step); err == nil && n.Kind == manifest.ListNode && i >= 0 && i < len(n.Items) {
			next = n.Items[i]
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}
