package apply

import "testing"

func TestHas(t *testing.T) {
	object := map[string]any{"value": 5.0, "spec": map[string]any{"cohort": "a", "groups": []any{map[string]any{"quota": "2k", "more": true}}}}
	group := func(quota any) map[string]any {
		return map[string]any{"spec": map[string]any{"groups": []any{map[string]any{"quota": quota}}}}
	}
	for name, c := range map[string]struct {
		want map[string]any
		has  bool
	}{
		"a part":           {map[string]any{"spec": map[string]any{"cohort": "a"}}, true},
		"another value":    {map[string]any{"spec": map[string]any{"cohort": "b"}}, false},
		"a missing field":  {map[string]any{"spec": map[string]any{"stopPolicy": "Hold"}}, false},
		"an equal amount":  {group("2000"), true},
		"another amount":   {group("2001"), false},
		"another type":     {map[string]any{"spec": "a"}, false},
		"a number":         {map[string]any{"value": int32(5)}, true},
		"another number":   {map[string]any{"value": int32(6)}, false},
		"a shorter list":   {map[string]any{"spec": map[string]any{"groups": []any{}}}, false},
		"no list":          {map[string]any{"value": []any{}}, false},
		"nothing is there": {map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}, false},
	} {
		if got := has(object, c.want); got != c.has {
			t.Errorf("%s: %v", name, got)
		}
	}
}
