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

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/integration"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// placeRefusals adds the places in the manifest to the steps in which Kueue's webhook refuses a job.
func placeRefusals(ctx context.Context, t *parse.Template, object map[string]any, steps []check.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Check != "Server" || s.Status != check.StatusFailed {
			continue
		}
		text := &s.Message
		if s.Code == check.KueueRefuses {
			text = &s.Fault
		}
		*text += placesOf(ctx, t, object, *text)
	}
}

// placeRefused adds the places in the manifest to the error of a server whose webhook of Kueue refuses one of the objects.
func placeRefused(ctx context.Context, j job, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Facts = slices.Clone(e.Facts)
	for i := range out.Facts {
		if out.Facts[i].Label != "message" {
			continue
		}
		for _, object := range j.Objects {
			if places := placesOf(ctx, j.template, object, out.Facts[i].Text); places != "" {
				out.Facts[i].Text += places
				return &out
			}
		}
	}
	return err
}

// placesOf returns, in brackets, where the fields are for which a text of Kueue's webhook refuses an object; "" for other texts.
func placesOf(ctx context.Context, t *parse.Template, object map[string]any, text string) string {
	doc := documentOf(t, object)
	if doc == nil {
		return ""
	}
	data, err := json.Marshal(object)
	if err != nil {
		return ""
	}
	var all utilerrors.Aggregate
	if err = integration.Validate(ctx, data); !errors.Is(err, integration.ErrRefused) || !errors.As(err, &all) {
		return ""
	}
	var places []string
	for _, e := range all.Errors() {
		var fault *field.Error
		if errors.As(e, &fault) && strings.Contains(text, fault.Field) && strings.Contains(text, fault.Detail) {
			at := fieldpath.Follow(doc, fieldpath.OfServer(fault.Field))
			file, there := t.Place(manifest.Position{Line: at.Line, Column: at.Column})
			if place := fmt.Sprintf("%s:%d:%d", file, there.Line, there.Column); !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	if len(places) == 0 {
		return ""
	}
	return " (" + strings.Join(places, ", ") + ")"
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
