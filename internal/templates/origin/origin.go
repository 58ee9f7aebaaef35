// Package origin records on a job which of its fields the parameters of its template filled
// in, so that a copy of the job takes the same parameters. The record has the texts of the
// template and no values: those are read from the fields.
package origin

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// mostBytes limits the record: Kubernetes accepts 256 KiB of annotations on an object.
const mostBytes = 32 << 10

// Record is what a job remembers of its template.
type Record struct {
	// Types are the types of the parameters by their names, as parse.Param has them.
	Types map[string]string `json:"types"`
	// Fields are the texts of the template by the paths of the fields, with the
	// placeholders of these parameters.
	Fields map[string]string `json:"fields"`
}

// Of returns the record of a finished job that the document of a template made with these
// values. Parameters that a flag of start-job sets are left out: the flag changes a copy.
func Of(t *parse.Template, doc *manifest.Node, values map[string]any, finished map[string]any) Record {
	r := Record{Types: map[string]string{}, Fields: map[string]string{}}
	manifest.Visit(doc, manifest.Location{}, func(n *manifest.Node, at manifest.Location) {
		text := n.Str()
		own := map[string]string{}
		for _, m := range at.Mentions(text) {
			_, given := values[m.Name]
			if _, set := setting.OfPlaceholder(m.Name); set || !given {
				continue
			}
			own[m.Name] = "string"
			if p, declared := t.Param(m.Name); declared && p.Type != "" {
				own[m.Name] = p.Type
			}
			if own[m.Name] == "list" {
				return // it may have added items
			}
		}
		if len(own) == 0 {
			return
		}
		f := parse.Filler{Values: values}
		filled := f.Fill(n, at)
		written := manifest.TextOf(filled.Plain())
		if filled.Filled {
			written = filled.Text // a number as it was written
		}
		path, found := where(finished, at.Path, written)
		if !found {
			return
		}
		maps.Copy(r.Types, own)
		r.Fields[path] = partly(text, at, values, own)
	})
	return r
}

// AddVariables adds environment variables of the finished job that a sweep set, so that a copy
// takes them as parameters.
func (r Record) AddVariables(names []string, finished map[string]any) {
	for _, pods := range jobobject.PodTemplates(finished) {
		at := manifest.Location{Path: manifest.JoinPath(manifest.JoinPath(pods.At, "spec"), "containers")}
		containers, _ := jobobject.Inner(pods.Template, "spec")["containers"].([]any)
		for i, item := range containers {
			c, _ := item.(map[string]any)
			env, _ := c["env"].([]any)
			for k, one := range env {
				e, _ := one.(map[string]any)
				name := manifest.TextOf(e["name"])
				if _, flag := setting.OfPlaceholder(name); flag || !slices.Contains(names, name) || e["value"] == nil {
					continue
				}
				path := manifest.Location{Path: manifest.JoinPath(at.Item(i).Path, "env")}.Item(k).Path + ".value"
				if _, known := r.Fields[path]; known {
					continue
				}
				if r.Types[name] == "" {
					r.Types[name] = "string"
				}
				r.Fields[path] = "${" + name + "}"
			}
		}
	}
}

// String returns the record for an annotation, "" for an empty or a very long one.
func (r Record) String() string {
	if len(r.Fields) == 0 {
		return ""
	}
	text, err := json.Marshal(r)
	if err != nil || len(text) > mostBytes {
		return ""
	}
	return string(text)
}

// Parse reads a record. Text that is not one is an empty record: the job is a copy without
// parameters then.
func Parse(text string) (r Record) {
	if len(text) > mostBytes || json.Unmarshal([]byte(text), &r) != nil {
		return Record{}
	}
	return r
}

// Paths returns the paths of the fields, sorted.
func (r Record) Paths() []string { return slices.Sorted(maps.Keys(r.Fields)) }

// Values returns the values that the parameters have in a field of this text, false if the
// field does not have the form of the template any more.
func (r Record) Values(path, text string) (map[string]string, bool) {
	at := located(path)
	template := r.Fields[path]
	var names, parts []string // parts are the texts before, between and behind the placeholders
	last := 0
	for _, i := range at.Forms(template).FindAllStringSubmatchIndex(template, -1) {
		m := manifest.Mentioned(groups(template, i))
		if m.Kept() || r.Types[m.Name] == "" {
			continue
		}
		names, parts, last = append(names, m.Name), append(parts, plain(template[last:i[0]], at)), i[1]
	}
	found, ok := between(append(parts, plain(template[last:], at)), text)
	if !ok {
		return nil, false
	}
	out := map[string]string{}
	for i, name := range names {
		if v, twice := out[name]; twice && v != found[i] {
			return nil, false
		}
		out[name] = found[i]
	}
	return out, len(out) > 0
}

// between returns what a text has between parts, each as short as it can be, from the left. It takes no pattern,
// because anybody who may change the job writes its record.
func between(parts []string, text string) (found []string, ok bool) {
	last := len(parts) - 1
	if last == 0 {
		return nil, text == parts[0]
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:last] {
		value, after, has := strings.Cut(rest, part)
		found, rest, ok = append(found, value), after, ok && has
	}
	value, has := strings.CutSuffix(rest, parts[last])
	return append(found, value), ok && has
}

// where returns the path of a field that has this text: the path, or that of another item
// of its list if only one has it, because flags add items to lists.
func where(object map[string]any, path, text string) (string, bool) {
	has := func(path string) bool {
		steps, err := fieldpath.Parse(path)
		if err != nil {
			return false
		}
		v, ok := fieldpath.Lookup(object, steps)
		return ok && manifest.TextOf(v) == text
	}
	if has(path) {
		return path, true
	}
	open, end := strings.LastIndex(path, "["), strings.LastIndex(path, "]")
	if open < 0 || end < open {
		return "", false
	}
	steps, err := fieldpath.Parse(path[:open])
	if err != nil {
		return "", false
	}
	list, _ := fieldpath.Lookup(object, steps)
	items, _ := list.([]any)
	found := ""
	for i := range items {
		if other := (manifest.Location{Path: path[:open]}).Item(i).Path + path[end+1:]; has(other) {
			if found != "" {
				return "", false
			}
			found = other
		}
	}
	return found, found != ""
}

// partly replaces the placeholders of a text, except those that are kept as parameters.
func partly(text string, at manifest.Location, values map[string]any, keep map[string]string) string {
	forms := at.Forms(text)
	return forms.ReplaceAllStringFunc(text, func(found string) string {
		m := manifest.Mentioned(forms.FindStringSubmatch(found))
		v, has := values[m.Name]
		if m.Kept() || keep[m.Name] != "" || !has {
			return found
		}
		return manifest.TextOf(v)
	})
}

// plain returns a text of a template as a field has it: $$NAME, which keeps its text, is $NAME there.
func plain(text string, at manifest.Location) string {
	forms := at.Forms(text)
	return forms.ReplaceAllStringFunc(text, func(found string) string {
		if manifest.Mentioned(forms.FindStringSubmatch(found)).Kept() {
			return found[1:]
		}
		return found
	})
}

// located returns the location of a path: whether a program reads its text.
func located(path string) manifest.Location {
	at := manifest.Location{}
	steps, _ := fieldpath.Parse(path)
	for _, s := range steps {
		if s.List {
			at = at.Item(s.Index)
		} else {
			at = at.Field(s.Key)
		}
	}
	return at
}

func groups(text string, index []int) []string {
	var out []string
	for i := 0; i < len(index); i += 2 {
		if index[i] < 0 {
			out = append(out, "")
			continue
		}
		out = append(out, text[index[i]:index[i+1]])
	}
	return out
}
