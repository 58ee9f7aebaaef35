package snapshot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// A cluster has only objects that fit their kind, and reading relies on it: a
// quota that is no number would be read as none. A file can hold anything, so its
// objects are looked at first.

// misfit says which field of an object does not fit its kind, "" when all do.
func misfit(r kinds.Resource, m map[string]any) string {
	if bad := badQuantity("", m); bad != "" {
		return bad
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return "it is no object"
	}
	if _, err = admission.Decode(raw); err == nil {
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

// amounts are the fields whose values are quantities: of one, or of a map of them.
var amounts = []string{"requests", "limits", "allocatable", "capacity", "overhead", "nominalQuota", "borrowingLimit", "lendingLimit",
	"weight", "resourceUsage", "total", "borrowed", "min", "max", "default", "defaultRequest", "maxLimitRequestRatio"}

// badQuantity finds the first quantity that is none. Fields are looked at in the
// order of their names, so that the same file gives the same message.
func badQuantity(path string, v any) string {
	switch t := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(t) {
			if k == "labels" || k == "annotations" || k == "nodeLabels" || k == "nodeSelector" {
				continue
			}
			at := strings.TrimPrefix(path+"."+k, ".")
			if slices.Contains(amounts, k) {
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
		for _, k := range sortedKeys(t) {
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

func sortedKeys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// named is an object as messages speak of it.
func named(r kinds.Resource, m map[string]any) string {
	name := object.Text(m, "metadata", "name")
	if ns := object.Text(m, "metadata", "namespace"); ns != "" && r.Namespaced {
		name = ns + "/" + name
	}
	return r.Kind + " " + name
}
