package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// odd is an unknown field. Its values have no types that a check could need.
const odd = "oddField"

func oddValue() any { return map[string]any{"a": nil, "b": []any{int64(1), "x"}} }

// withOdd makes a value of a type, with an unknown field in each of its structs. It returns nil for a type that only a few texts fit.
func withOdd(t reflect.Type, depth int) any {
	t = deref(t)
	switch {
	case depth == 0, t == fieldsType, t == quantityType, t == intOrString, timeTypes[t], t == objectType:
		return nil
	case t.Kind() == reflect.Struct:
		m := map[string]any{odd: oddValue(), "empty" + odd: nil}
		for _, name := range fieldNames(t) {
			ft, _ := fieldOf(t, name)
			if v := withOdd(ft, depth-1); v != nil {
				m[name] = v
			}
		}
		return m
	case t.Kind() == reflect.Map:
		if v := withOdd(t.Elem(), depth-1); v != nil {
			return map[string]any{"k.e/y": v}
		}
	case t.Kind() == reflect.Slice:
		if v := withOdd(t.Elem(), depth-1); v != nil {
			return []any{v}
		}
	}
	return nil
}

// An unknown field of any kind is refused, kept where it is allowed, and known by its place.
func TestAllowedFields(t *testing.T) {
	for _, s := range Shapes() {
		t.Run(s.APIVersion+" "+s.Kind, func(t *testing.T) {
			object := withOdd(s.Type, 7).(map[string]any)
			object["apiVersion"], object["kind"] = s.APIVersion, s.Kind
			r := &Report{Most: 100_000}
			Check(manifest.FromPlain(object), r, true)
			refused := 0
			for _, f := range r.Faults {
				if strings.Contains(f.Error(), `no field "`) {
					refused++
				}
			}
			if refused < 2 || refused != len(r.Faults) {
				t.Fatalf("%d of %d faults are about unknown fields: %v", refused, len(r.Faults), r.Faults[:min(3, len(r.Faults))])
			}
			allowed := map[string]bool{}
			r = &Report{Most: 100_000, Allow: func(f Field) bool {
				if f.APIVersion != s.APIVersion || f.Kind != s.Kind || f.Own != f.Path {
					t.Errorf("asked about %+v", f)
				}
				allowed[f.Path] = true
				return true
			}}
			n := manifest.FromPlain(object)
			Check(n, r, true)
			if len(r.Faults) > 0 {
				t.Errorf("faults: %v", r.Faults[:min(3, len(r.Faults))])
			}
			if len(allowed) != refused {
				t.Errorf("%d fields were allowed, and %d refused", len(allowed), refused)
			}
			if got := n.Plain(); !reflect.DeepEqual(got, object) {
				t.Error("the object changed")
			}
		})
	}
}

// A value of the wrong type in a known field is a fault even where unknown fields are allowed.
func TestAllowedFieldsBesideWrongValues(t *testing.T) {
	n := manifest.FromPlain(map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"parallelism": "two", "paralelism": int64(2), odd: oddValue()}})
	var asked []string
	r := &Report{Allow: func(f Field) bool { asked = append(asked, fmt.Sprint(f.Path, f.Near)); return true }}
	Check(n, r, true)
	if len(r.Faults) != 1 || !strings.Contains(r.Faults[0].Error(), "spec.parallelism") {
		t.Errorf("faults: %v", r.Faults)
	}
	slices.Sort(asked)
	if want := []string{"spec.oddField[]", "spec.paralelism[parallelism]"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
}

// A field of an object inside of another one is one of the inner kind.
func TestAllowedFieldsOfAnInnerObject(t *testing.T) {
	n := manifest.FromPlain(map[string]any{"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"components": []any{map[string]any{"template": map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": map[string]any{odd: oddValue()}},
			odd: oddValue()}}}})
	var asked []string
	Check(n, &Report{Allow: func(f Field) bool {
		asked = append(asked, f.Kind+" "+f.Own+" at "+f.Path)
		return true
	}}, true)
	slices.Sort(asked)
	want := []string{"AppWrapper spec.components[0].oddField at spec.components[0].oddField", "Job spec.oddField at spec.components[0].template.spec.oddField"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
}
