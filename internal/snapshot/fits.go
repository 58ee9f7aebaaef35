package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/parallel"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// A cluster has only objects that fit their kind, and reading relies on it: a
// quota that is no number would be read as none. A file can hold anything, so its
// objects are checked first.

// misfit says which field of an object does not fit its kind, "" when all do.
func misfit(r kinds.Resource, m map[string]any) string {
	if bad := badQuantity("", m); bad != "" {
		return bad
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return "it is not an object"
	}
	if _, err = decode.Objects(raw); err == nil {
		return ""
	}
	// "json: cannot unmarshal string into Go struct field PodSet.spec.podSets.count of type int32"
	_, field, found := strings.Cut(err.Error(), "Go struct field ")
	field, _, _ = strings.Cut(field, " ")
	if _, path, ok := strings.Cut(field, "."); found && ok {
		return path + " is of the wrong type"
	}
	return "it does not fit the kind " + r.Kind
}

// isAmount names the fields whose values are quantities: of one, or of a map of them.
func isAmount(field string) bool {
	switch field {
	case "requests", "limits", "allocatable", "capacity", "overhead", "nominalQuota", "borrowingLimit", "lendingLimit",
		"weight", "resourceUsage", "total", "borrowed", "min", "max", "default", "defaultRequest", "maxLimitRequestRatio":
		return true
	}
	return false
}

// badQuantity finds the first invalid quantity, in the order of the field names, so that the same file gives
// the same message.
func badQuantity(path string, v any) string {
	switch t := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			if k == "labels" || k == "annotations" || k == "nodeLabels" || k == "nodeSelector" {
				continue
			}
			at := strings.TrimPrefix(path+"."+k, ".")
			if isAmount(k) {
				if bad := notQuantity(at, t[k]); bad != "" {
					return bad
				}
				continue
			}
			if bad := badQuantity(at, t[k]); bad != "" {
				return bad
			}
		}
	case []any:
		for i, item := range t {
			if bad := badQuantity(fmt.Sprintf("%s[%d]", path, i), item); bad != "" {
				return bad
			}
		}
	}
	return ""
}

func notQuantity(path string, v any) string {
	text := ""
	switch t := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(t)) {
			if bad := notQuantity(path+"."+k, t[k]); bad != "" {
				return bad
			}
		}
		return ""
	case nil:
		return ""
	case []any, bool:
		return badQuantity(path, v)
	case string:
		text = t
	default:
		text = fmt.Sprint(t)
	}
	if _, err := resource.ParseQuantity(text); err != nil {
		return fmt.Sprintf("%s is %q, want a quantity such as 500m, 4 or 16Gi", path, text)
	}
	return ""
}

// quantities refuses a snapshot with an invalid quantity. It was changed by hand: save-snapshot writes what a
// cluster accepted.
func (s *Snapshot) quantities() error {
	for _, r := range kinds.All() {
		for _, raw := range suspects(s.raw[r.FullName()]) {
			var m map[string]any
			if kube.Decode(raw, &m) != nil {
				continue // reading it says so
			}
			if bad := badQuantity("", m); bad != "" {
				return unusable(named(r, m) + ": " + bad)
			}
		}
	}
	return nil
}

// suspects returns the objects that may have a bad quantity, in their order. All
// processors look for them: every byte of a snapshot is read for that.
func suspects(list []json.RawMessage) []json.RawMessage {
	bad, _ := parallel.Map(list, func(raw json.RawMessage) (bool, error) { return suspect(raw), nil })
	var out []json.RawMessage
	for i, raw := range list {
		if bad[i] {
			out = append(out, raw)
		}
	}
	return out
}

// suspect reports whether an object may have a bad quantity. It only looks for the
// names of the fields, which is fast: most files are as they were written.
func suspect(raw []byte) bool {
	within := false // a map of quantities
	for at := 0; at < len(raw); {
		switch raw[at] {
		case '"':
		case '}':
			within = false
			at++
			continue
		default:
			at++
			continue
		}
		end := endOfText(raw, at+1)
		text := raw[at+1 : end]
		at = space(raw, end+1)
		if at < len(raw) && raw[at] == ':' {
			at++
			if !isAmount(string(text)) {
				continue
			}
			if at = space(raw, at); at == len(raw) {
				return false
			}
			switch raw[at] {
			case '{':
				within = true
			case '"':
				end := endOfText(raw, at+1)
				if !isQuantity(raw[at+1 : end]) {
					return true
				}
				at = end
			}
			at++
		} else if within && !isQuantity(text) {
			return true
		}
	}
	return false
}

// isQuantity reports a quantity, and knows whole numbers without looking closer.
func isQuantity(text []byte) bool {
	whole := len(text) > 0
	for _, c := range text {
		whole = whole && '0' <= c && c <= '9'
	}
	if whole {
		return true
	}
	_, err := resource.ParseQuantity(string(text))
	return err == nil
}

// endOfText returns the place of the quote that ends a JSON string whose text begins at a
// place; the end of all when there is none.
func endOfText(raw []byte, at int) int {
	for from := at; ; {
		n := bytes.IndexByte(raw[from:], '"')
		if n < 0 {
			return len(raw)
		}
		from += n
		escapes := 0
		for from-1-escapes >= at && raw[from-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return from
		}
		from++
	}
}

// space returns the next place that holds no white space.
func space(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return min(at, len(raw))
}

// named returns the name of an object in messages.
func named(r kinds.Resource, m map[string]any) string {
	name := object.Text(m, "metadata", "name")
	if ns := object.Text(m, "metadata", "namespace"); ns != "" && r.Namespaced {
		name = ns + "/" + name
	}
	return r.Kind + " " + name
}
