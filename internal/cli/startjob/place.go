package startjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// placeRefusals adds the places in the manifest to the steps in which Kueue's webhook refuses a job.
func placeRefusals(ctx context.Context, t *parse.Template, object map[string]any, steps []check.Step) {
	refused := func(s check.Step) bool { return s.Check == "Server" && s.Status == check.StatusFailed }
	doc := documentOf(t, object)
	if doc == nil || !slices.ContainsFunc(steps, refused) {
		return
	}
	data, err := json.Marshal(object)
	if err != nil {
		return
	}
	var all utilerrors.Aggregate
	if err = integration.Validate(ctx, data); !errors.Is(err, integration.ErrRefused) || !errors.As(err, &all) {
		return
	}
	for i := range steps {
		if !refused(steps[i]) {
			continue
		}
		text := &steps[i].Message
		if steps[i].Code == check.KueueRefuses {
			text = &steps[i].Fault
		}
		var places []string
		for _, e := range all.Errors() {
			var fault *field.Error
			if errors.As(e, &fault) && strings.Contains(*text, fault.Field) && strings.Contains(*text, fault.Detail) {
				at := fieldpath.Follow(doc, fieldpath.OfServer(fault.Field))
				file, there := t.Place(manifest.Position{Line: at.Line, Column: at.Column})
				if place := fmt.Sprintf("%s:%d:%d", file, there.Line, there.Column); !slices.Contains(places, place) {
					places = append(places, place)
				}
			}
		}
		if len(places) > 0 {
			*text += " (" + strings.Join(places, ", ") + ")"
		}
	}
}

// documentOf returns the document of a file that an object was made of, nil for a template without a file or for several
// documents of the object's kind and name. The only document of a kind is it under any name: flags and generateName change that.
func documentOf(t *parse.Template, object map[string]any) (found *manifest.Node) {
	if t == nil || t.Source == parse.Embedded {
		return nil
	}
	kind, name := kinds.Text(object, "kind"), kinds.Text(object, "metadata", "name")
	var named *manifest.Node
	n := 0
	for _, d := range t.Docs {
		if d.Get("kind").Str() != kind {
			continue
		}
		found, n = d, n+1
		if meta := d.Get("metadata"); meta != nil && meta.Get("name").Str() == name {
			named = d
		}
	}
	if n > 1 {
		return named
	}
	return found
}
