package values

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// Toleration lets pods run on nodes with a taint. Key "" tolerates every taint,
// Exists any value, Effect "" every effect. Seconds, for NoExecute, is how long.
type Toleration struct {
	Key, Value string
	Exists     bool
	Effect     string
	Seconds    *int
}

var taintEffects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// ParseToleration reads KEY[=VALUE][:EFFECT[:SECONDS]] as kubectl writes taints;
// "*" tolerates everything.
func ParseToleration(text string) (Toleration, error) {
	bad := func(why string) (Toleration, error) {
		return Toleration{}, setting.Toleration.Invalid(text, "%s", why).
			Suggest(setting.Toleration.Option("KEY=VALUE:NoSchedule"), setting.Toleration.Option("KEY:NoExecute:300"), setting.Toleration.Option("KEY"))
	}
	parts := strings.Split(text, ":")
	key, value, hasValue := strings.Cut(parts[0], "=")
	t := Toleration{Key: key, Value: value, Exists: !hasValue}
	if key == "*" {
		t.Key = ""
		if hasValue {
			return bad("* takes no value")
		}
	} else if len(validation.IsQualifiedName(key)) > 0 {
		return bad("the key " + manifest.QuoteText(key) + " is not valid")
	}
	if len(validation.IsValidLabelValue(value)) > 0 {
		return bad("the value " + manifest.QuoteText(value) + " is not valid")
	}
	if len(parts) > 1 {
		i := slices.IndexFunc(taintEffects, func(e string) bool { return strings.EqualFold(e, parts[1]) })
		if i < 0 {
			return bad("the effect must be " + manifest.OrList(taintEffects))
		}
		t.Effect = taintEffects[i]
	}
	if len(parts) > 2 {
		n, err := strconv.Atoi(parts[2])
		if err != nil || n < 0 || t.Effect != "NoExecute" {
			return bad("seconds must be a number and are for NoExecute only")
		}
		t.Seconds = &n
	}
	if len(parts) > 3 {
		return bad("too many parts")
	}
	return t, nil
}

// Object returns the toleration as pods have it.
func (t Toleration) Object() map[string]any {
	out := map[string]any{"operator": "Equal"}
	if t.Exists {
		out["operator"] = "Exists"
	} else {
		out["value"] = t.Value
	}
	if t.Key != "" {
		out["key"] = t.Key
	}
	if t.Effect != "" {
		out["effect"] = t.Effect
	}
	if t.Seconds != nil {
		out["tolerationSeconds"] = int64(*t.Seconds)
	}
	return out
}
