// Package newerfields decides about fields of objects that the program does not know: the cluster's schema has them, or --allow-unknown
// allows them.
package newerfields

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/openapi"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
)

// AddFlag defines --allow-unknown; does is what the command does with such fields, for example "send".
func AddFlag(fs *pflag.FlagSet, value *bool, does string) {
	fs.BoolVar(value, "allow-unknown", false, does+" fields that this version does not know")
}

// Decision decides about unknown fields in one run of a command.
type Decision struct {
	Factory *factory.Factory
	// All allows every field.
	All bool
	// Patience is how long to wait for a schema of the cluster.
	Patience time.Duration
	// Does is what the command does with such fields, for the suggestion of the flag: "sends".
	Does string
	// Note is called for each field that is allowed, again for each time that it is met; served reports that the cluster's schema has it.
	Note func(f schema.Field, served bool)

	mu sync.Mutex
	// documents are the schemas of API versions, nil without an answer.
	documents map[string]*openapi.Document
	// open: a field that is not like a known one was refused, and the cluster gave no answer.
	open bool
}

// Allow returns the decision as a function. It asks the cluster when the first such field is found.
func (d *Decision) Allow(ctx context.Context) schema.Allow {
	return func(f schema.Field) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.All {
			d.Note(f, false)
			return true
		}
		has, answered := d.served(ctx, f)
		if has {
			d.Note(f, true)
		}
		d.open = d.open || !answered && len(f.Near) == 0
		return has
	}
}

// Known returns the decision for what is made of an object of the cluster: the cluster knows the fields of that one. allow decides about
// the others.
func Known(object map[string]any, allow schema.Allow) schema.Allow {
	return func(f schema.Field) bool {
		if steps, err := fieldpath.Parse(f.Path); err == nil {
			if _, has := fieldpath.Lookup(object, steps); has {
				return true
			}
		}
		return allow(f)
	}
}

// served reports whether the cluster's schema has a field. answered is false if no cluster, or none with a schema of the kind, gives an
// answer.
func (d *Decision) served(ctx context.Context, f schema.Field) (has, answered bool) {
	group, version, _ := strings.Cut(f.APIVersion, "/")
	if version == "" {
		group, version = "", group
	}
	document, asked := d.documents[f.APIVersion]
	if !asked {
		document = d.document(ctx, group, version)
		if d.documents == nil {
			d.documents = map[string]*openapi.Document{}
		}
		d.documents[f.APIVersion] = document
	}
	steps, err := fieldpath.Parse(f.Own)
	if document == nil || err != nil {
		return false, false
	}
	path := make([]string, len(steps))
	for i, s := range steps {
		path[i] = s.Key
	}
	return document.Has(group, version, f.Kind, path)
}

// document returns the cluster's schema of an API version, nil without an answer.
func (d *Decision) document(ctx context.Context, group, version string) *openapi.Document {
	limited, cancel := context.WithTimeout(ctx, d.Patience)
	defer cancel()
	c, err := d.Factory.Cluster(limited)
	if err != nil || c.Snapshot != nil {
		return nil
	}
	data, err := c.OpenAPI(limited, group, version)
	if err != nil {
		return nil
	}
	document, err := openapi.Read(data)
	if err != nil {
		return nil
	}
	return document
}

// Template returns the template with a decision about unknown fields. err is the error of reading it, without the decision.
func Template(t *parse.Template, err error, allow schema.Allow) (*parse.Template, error) {
	if name, source, text, broken := parse.BrokenText(err); broken {
		t, err = parse.TextAllowing(name, source, text, allow)
	}
	if t != nil && err == nil {
		t.Allow = allow
	}
	return t, err
}

// Offer adds --allow-unknown to an error about fields that the program does not know, where the cluster gave no answer. An interrupt
// while the cluster is asked is the error itself.
func (d *Decision) Offer(ctx context.Context, err error) error {
	var e *errs.Error
	switch {
	case !errors.As(err, &e) || e.Code != errs.Usage:
	case len(d.documents) > 0 && errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case d.open:
		e.Suggest(errs.Option("--allow-unknown").WithNote(d.Does + " fields that this version does not know"))
	}
	return err
}
