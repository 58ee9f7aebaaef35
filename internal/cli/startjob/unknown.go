package startjob

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/openapi"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
)

// unknown decides about fields that the program does not know. The cluster's schema decides, unless --allow-unknown allows all of
// them.
type unknown struct {
	mu sync.Mutex
	// documents are the schemas of API versions, nil without an answer.
	documents map[string]*openapi.Document
	// open: a field that is not like a known one was refused, and the cluster gave no answer.
	open bool
}

// unknownFields returns the decision about unknown fields. It asks the cluster when the first such field is found.
func (r *run) unknownFields(ctx context.Context) schema.Allow {
	return func(f schema.Field) bool {
		r.unknown.mu.Lock()
		defer r.unknown.mu.Unlock()
		if r.options.AllowUnknown {
			r.once(schema.Sent(f))
			return true
		}
		has, answered := r.served(ctx, f)
		if has {
			r.once(schema.Accepted(f))
		}
		r.unknown.open = r.unknown.open || !answered && len(f.Near) == 0
		return has
	}
}

// fieldsOf returns the decision for a job that is made from one of the cluster: the cluster knows the fields of that one.
func (r *run) fieldsOf(object map[string]any) schema.Allow {
	return func(f schema.Field) bool {
		if steps, err := fieldpath.Parse(f.Path); err == nil {
			if _, has := fieldpath.Lookup(object, steps); has {
				return true
			}
		}
		return r.allow(f)
	}
}

// served reports whether the cluster's schema has a field. answered is false if no cluster, or none with a schema of the kind, gives an
// answer.
func (r *run) served(ctx context.Context, f schema.Field) (has, answered bool) {
	group, version, _ := strings.Cut(f.APIVersion, "/")
	if version == "" {
		group, version = "", group
	}
	d, asked := r.unknown.documents[f.APIVersion]
	if !asked {
		d = r.document(ctx, group, version)
		if r.unknown.documents == nil {
			r.unknown.documents = map[string]*openapi.Document{}
		}
		r.unknown.documents[f.APIVersion] = d
	}
	steps, err := fieldpath.Parse(f.Own)
	if d == nil || err != nil {
		return false, false
	}
	path := make([]string, len(steps))
	for i, s := range steps {
		path[i] = s.Key
	}
	return d.Has(group, version, f.Kind, path)
}

// document returns the cluster's schema of an API version, nil without an answer.
func (r *run) document(ctx context.Context, group, version string) *openapi.Document {
	limited, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	c, err := r.factory.Cluster(limited)
	if err != nil || c.Snapshot != nil {
		return nil
	}
	data, err := c.OpenAPI(limited, group, version)
	if err != nil {
		return nil
	}
	d, err := openapi.Read(data)
	if err != nil {
		return nil
	}
	return d
}

// allowing returns the template with the decision about unknown fields. err is the error of reading it, without the decision.
func (r *run) allowing(t *parse.Template, err error) (*parse.Template, error) {
	if name, source, text, broken := parse.BrokenText(err); broken {
		t, err = parse.TextAllowing(name, source, text, r.allow)
	}
	if t != nil && err == nil {
		t.Allow = r.allow
	}
	return t, err
}

// offerUnknown adds --allow-unknown to an error about fields that the program does not know, where the cluster gave no answer. An
// interrupt while the cluster is asked is the error itself.
func (r *run) offerUnknown(ctx context.Context, err error) error {
	var e *errs.Error
	switch {
	case !errors.As(err, &e) || e.Code != errs.Usage:
	case len(r.unknown.documents) > 0 && errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case r.unknown.open:
		e.Suggest(errs.Option("--allow-unknown").WithNote("sends fields that this version does not know"))
	}
	return err
}
