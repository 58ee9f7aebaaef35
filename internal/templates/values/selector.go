package values

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// Selector holds node label requirements: a label and its accepted values. Weights belong to the preferred
// labels in the order of their names (default 100).
type Selector struct {
	Required  map[string][]string
	Preferred map[string][]string
	Weights   []int
}

// Empty reports whether there are no requirements.
func (s Selector) Empty() bool { return len(s.Required) == 0 && len(s.Preferred) == 0 }

// ParseSelector reads the value of --label-selector: JSON, either
// {"label": "value" or ["value", ...]} (all required) or
// {"required": {...}, "preferred": {...}, "weights": [...]}; or label=value
// pairs separated by commas.
func ParseSelector(text string) (Selector, error) {
	var s Selector
	var err error
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		s, err = selectorFromJSON(text)
	} else {
		s, err = selectorFromPairs(text)
	}
	if err != nil {
		return Selector{}, err
	}
	return s, s.check()
}

func selectorError(why string) error {
	return setting.LabelSelector.InvalidSecret("%s", why).
		Suggest(setting.LabelSelector.Option(`{"topology.kubernetes.io/zone": ["us-west-2a", "us-west-2b"]}`), setting.LabelSelector.Option("topology.kubernetes.io/zone=us-west-2a"))
}

func selectorFromPairs(text string) (Selector, error) {
	s := Selector{Required: map[string][]string{}}
	for _, pair := range strings.Split(text, ",") {
		k, v, found := strings.Cut(strings.TrimSpace(pair), "=")
		if !found || k == "" {
			return s, selectorError(manifest.QuoteText(pair) + " must be LABEL=VALUE")
		}
		s.Required[k] = append(s.Required[k], strings.TrimPrefix(v, "="))
	}
	return s, nil
}

func selectorFromJSON(text string) (Selector, error) {
	var outer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &outer); err != nil {
		return Selector{}, selectorError("must be a JSON object such as {\"LABEL\": [\"VALUE\"]}")
	}
	nested := false
	for _, k := range []string{"required", "preferred", "weights"} {
		_, has := outer[k]
		nested = nested || has
	}
	if !nested {
		m, err := labelValues(outer)
		return Selector{Required: m}, err
	}
	var s Selector
	for _, k := range manifest.SortedKeys(outer) {
		var err error
		switch k {
		case "required", "preferred":
			var inner map[string]json.RawMessage
			if json.Unmarshal(outer[k], &inner) != nil {
				return s, selectorError(k + " must map labels to values")
			}
			var m map[string][]string
			m, err = labelValues(inner)
			if k == "required" {
				s.Required = m
			} else {
				s.Preferred = m
			}
		case "weights":
			if json.Unmarshal(outer[k], &s.Weights) != nil {
				err = selectorError("weights must be a list of whole numbers")
			}
		default:
			err = selectorError("field " + manifest.QuoteText(k) + " not found; the fields are required, preferred and weights")
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func labelValues(m map[string]json.RawMessage) (map[string][]string, error) {
	out := make(map[string][]string, len(m))
	for _, k := range manifest.SortedKeys(m) {
		var one string
		var many []string
		switch {
		case json.Unmarshal(m[k], &one) == nil:
			out[k] = []string{one}
		case json.Unmarshal(m[k], &many) == nil && len(many) > 0:
			out[k] = many
		default:
			return nil, selectorError("the value of " + manifest.QuoteText(k) + " must be text or a list of text")
		}
	}
	return out, nil
}

// check validates names, values and weights.
func (s Selector) check() error {
	for _, m := range []map[string][]string{s.Required, s.Preferred} {
		for _, k := range manifest.SortedKeys(m) {
			if msg := validation.IsQualifiedName(k); len(msg) > 0 {
				return selectorError(manifest.QuoteText(k) + " is not a valid label name")
			}
			for _, v := range m[k] {
				if msg := validation.IsValidLabelValue(v); len(msg) > 0 {
					return selectorError(manifest.QuoteText(v) + " is not a valid label value")
				}
			}
		}
	}
	if len(s.Weights) > len(s.Preferred) {
		return selectorError("weights must not outnumber the preferred labels")
	}
	if slices.ContainsFunc(s.Weights, func(w int) bool { return w < 1 || w > 100 }) {
		return selectorError("a weight must be from 1 to 100")
	}
	return nil
}
