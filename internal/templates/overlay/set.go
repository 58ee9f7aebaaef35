package overlay

import (
	"errors"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// setPaths carries out --set of paths, each against the fields of the object's
// kind.
func (s *job) setPaths(object map[string]any) error {
	for _, a := range s.Paths {
		v, err := a.Parsed()
		if err != nil {
			return err
		}
		var set any
		if v != nil {
			set = marked(v)
		}
		before := manifest.FromPlain(object)
		if err := fieldpath.Set(object, a.Key, set); err != nil {
			return err
		}
		r := &schema.Report{Allow: s.Template.Allow}
		schema.Check(manifest.FromPlain(object), r, true)
		if len(r.Faults) > 0 {
			why := errors.Join(r.Faults...)
			if strings.HasPrefix(why.Error(), a.Key+" ") {
				return errs.Usagef("invalid %s: %v", setting.Set, why).WithCause(why)
			}
			e := setting.Set.InvalidAt(a.Key, "%v", why).WithCause(why)
			if near := schema.NearPaths(before, a.Key); len(near) > 0 && !strings.Contains(why.Error(), "did you mean") {
				e.WithFact("did you mean", strings.Join(near, ", "))
			}
			return e
		}
	}
	return nil
}

// marked returns the value of a --set in an object, with its text. The field's type
// decides what becomes of it: --set metadata.labels.run=7 is text, replicas=7 a
// number.
func marked(n *manifest.Node) any {
	switch n.Kind {
	case manifest.MapNode:
		m := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			m[f.Key] = marked(f.Value)
		}
		return m
	case manifest.ListNode:
		l := make([]any, len(n.Items))
		for i, item := range n.Items {
			l[i] = marked(item)
		}
		return l
	}
	if n.Value == nil {
		return nil
	}
	return manifest.Written{Value: n.Value, Text: n.Text}
}
