package snapshot

import (
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// fields is an allow-list over decoded JSON: what is not named is dropped, and so
// is a value of another shape than the one expected. The key "*" stands for every
// key of a map, or every item of a list; a list is looked through where there is
// no "*". A nil entry keeps a single value (or a list of them), whole keeps
// everything below.
type fields map[string]fields

var whole = fields{"**": nil}

func (f fields) isWhole() bool { _, ok := f["**"]; return ok }

// only makes an entry of single values.
func only(names ...string) fields {
	f := make(fields, len(names))
	for _, n := range names {
		f[n] = nil
	}
	return f
}

// with returns f and more; entries of both are joined.
func (f fields) with(more fields) fields {
	out := make(fields, len(f)+len(more))
	for k, v := range f {
		out[k] = v
	}
	for k, v := range more {
		if old, ok := out[k]; ok && len(old) > 0 && len(v) > 0 {
			v = old.with(v)
		}
		out[k] = v
	}
	return out
}

// at is f below a path.
func at(path []string, f fields) fields {
	for i := len(path) - 1; i >= 0; i-- {
		f = fields{path[i]: f}
	}
	return f
}

// below returns the entry that a path leads to, and whether there is one.
func (f fields) below(path []string) (fields, bool) {
	if len(path) == 0 {
		return nil, true
	}
	for _, key := range path {
		if f.isWhole() {
			return f, true
		}
		next, known := f[key]
		if !known {
			if next, known = f["*"]; !known {
				return nil, false
			}
		}
		f = next
	}
	return f, true
}

// prune returns what the allow-list keeps of a value; ok is false for nothing.
func (f fields) prune(v any) (kept any, ok bool) {
	if f.isWhole() {
		return v, true
	}
	switch t := v.(type) {
	case map[string]any:
		if f == nil {
			return nil, false
		}
		out := make(map[string]any, len(t))
		for k, member := range t {
			sub, known := f[k]
			if !known {
				sub, known = f["*"]
			}
			if !known {
				continue
			}
			if kept, ok := sub.prune(member); ok {
				out[k] = kept
			}
		}
		return out, true
	case []any:
		if sub, every := f["*"]; every {
			f = sub
		}
		out := make([]any, 0, len(t))
		for _, item := range t {
			if kept, ok := f.prune(item); ok {
				out = append(out, kept)
			}
		}
		return out, true
	}
	return v, f == nil
}

// longest is the length of an annotation that is kept. The known ones are short;
// a long one is a payload under a known name.
const longest = 253

// redact returns what a snapshot keeps of an object: the fields that the checks
// read and the commands show, by an allow-list. Values of environment variables,
// commands and arguments, annotations but a few, probes, hooks, volumes' sources,
// addresses and managedFields are not among them.
func redact(r kinds.Resource, from map[string]any) map[string]any {
	f, ok := allowed()[r.FullName()]
	if !ok {
		return nil
	}
	kept, _ := f.prune(from)
	out, _ := kept.(map[string]any)
	if out == nil {
		return nil
	}
	dropPayloads(out)
	if r.FullName() == kinds.ConfigMap.FullName() {
		redactConfiguration(out)
	}
	if !isNumber(object.Text(out, "metadata", "resourceVersion")) {
		object.Set(out, "1", "metadata", "resourceVersion")
	}
	out["apiVersion"], out["kind"] = from["apiVersion"], from["kind"]
	return out
}

func isNumber(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && n > 0
}

// dropPayloads removes annotations that are too long to be what their name says.
func dropPayloads(v any) {
	switch t := v.(type) {
	case map[string]any:
		if notes, ok := t["annotations"].(map[string]any); ok {
			for k, text := range notes {
				if s, ok := text.(string); !ok || len(s) > longest || strings.ContainsAny(s, "\n\r") {
					delete(notes, k)
				}
			}
		}
		for _, member := range t {
			dropPayloads(member)
		}
	case []any:
		for _, item := range t {
			dropPayloads(item)
		}
	}
}
