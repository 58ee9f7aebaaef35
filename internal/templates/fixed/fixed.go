package fixed

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
)

// Value is what the manifest has at a fixed path before any change.
type Value struct {
	path  string
	value any
	steps []fieldpath.Step
}

// Of reads the fixed paths from the job, or from the first object if there is no job. Paths that do not exist
// are faults of the template.
func Of(t *parse.Template, objects []map[string]any) (out []Value, faults []error) {
	if len(t.Fixed) == 0 && !slices.ContainsFunc(t.Params, func(p parse.Param) bool { return p.Fixed }) {
		return nil, nil
	}
	target, at := Target(objects)
	for _, f := range t.Fixed {
		v, ok := fieldpath.Lookup(target, f.Steps)
		if !ok && !f.Has {
			near := schema.NearPaths(t.JobNode(), f.Path)
			if slices.Contains(near, f.Path) {
				near = nil // the path is right, and the manifest lacks it
			}
			faults = append(faults, f.Faultf("%s not found in the manifest; use %s=VALUE to fix a value, %s=null to keep the field absent%s",
				f.Path, f.Path, f.Path, manifest.DidYouMean(near)))
			continue
		}
		out = append(out, Value{f.Path, jobobject.CopyOf(v), f.Steps})
	}
	// The fields that a fixed parameter fills in are fixed as well.
	manifest.Visit(t.Docs[at], manifest.Location{}, func(n *manifest.Node, p manifest.Location) {
		m, ok := p.Whole(n.Str())
		if param, known := t.Param(m.Name); !ok || !known || !param.Fixed {
			return
		}
		if steps, err := fieldpath.Parse(p.Path); err == nil {
			if v, ok := fieldpath.Lookup(target, steps); ok {
				out = append(out, Value{p.Path, jobobject.CopyOf(v), steps})
			}
		}
	})
	return out, faults
}

// Target returns the object that fixed paths refer to, and its index.
func Target(objects []map[string]any) (map[string]any, int) {
	_, at, _ := jobobject.Main(objects)
	return objects[max(0, at)], max(0, at)
}

// Check refuses a rendering in which a fixed field differs from the template.
func Check(t *parse.Template, fixed []Value, objects []map[string]any) error {
	if len(fixed) == 0 {
		return nil
	}
	target, _ := Target(objects)
	for _, f := range fixed {
		now, _ := fieldpath.Lookup(target, f.steps)
		if at, was, is, same := Contains(f.path, f.value, now); !same {
			e := errs.Usagef("%s fixes %s to %s: it cannot become %s", t.Called(), at, fixedText(was), fixedText(is))
			if secret.Field("", at) {
				e = errs.Usagef("%s fixes %s: it cannot have another value", t.Called(), at)
			}
			return e.WithAdvice("remove the flag that changes it")
		}
	}
	return nil
}

// fixedText words a value for messages about fixed fields.
func fixedText(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case []any, map[string]any:
		return manifest.FromPlain(v).Describe(true)
	}
	return manifest.AsTyped(v)
}

// Contains reports whether is still has everything in was, and if not, where they differ. A map may gain
// fields, and a list of named items may gain items; other lists must be equal.
func Contains(path string, was, is any) (at string, before, after any, same bool) {
	switch w := was.(type) {
	case map[string]any:
		m, ok := is.(map[string]any)
		if !ok {
			return path, was, is, false
		}
		for _, k := range manifest.SortedKeys(w) {
			if at, before, after, same := Contains(manifest.JoinPath(path, k), w[k], m[k]); !same {
				return at, before, after, false
			}
		}
		return "", nil, nil, true
	case []any:
		l, ok := is.([]any)
		if !ok || len(l) < len(w) {
			return path, was, is, false
		}
		named := true
		for _, item := range w {
			m, _ := item.(map[string]any)
			named = named && manifest.TextOf(m["name"]) != ""
		}
		if !named && len(l) != len(w) {
			return path, was, is, false
		}
		for i, item := range w {
			other := l[i]
			if named {
				other = nil
				if found := byName(l, manifest.TextOf(item.(map[string]any)["name"])); found != nil {
					other = found
				}
			}
			if at, before, after, same := Contains(manifest.Location{Path: path}.Item(i).Path, item, other); !same {
				return at, before, after, false
			}
		}
		return "", nil, nil, true
	}
	return path, was, is, manifest.TextOf(was) == manifest.TextOf(is)
}

func byName(list []any, name string) any {
	if m := jobobject.Named(list, name); m != nil {
		return m
	}
	return nil
}
