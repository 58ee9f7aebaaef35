package templates

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
)

// report collects faults up to a bound.
type report struct {
	faults []error
	most   int // how many faults are kept; 0 stands for a screenful
	// typed: values are final; otherwise only names of fields are checked.
	typed bool
}

func (r *report) addf(line, column int, format string, args ...any) {
	if len(r.faults) < cmp.Or(r.most, 20) {
		r.faults = append(r.faults, faultf(line, format, args...).col(column))
	}
}

// checkObject compares an object with its kind's fields, as a strict decoder
// does. With typed, values are compared too: filled-in scalars take the type of
// their field, and empty values of known fields are dropped, as the API server
// does.
func checkObject(n *node, r *report, typed bool) {
	r.typed = typed
	if t := shapeOf(n.get("apiVersion").str(), n.get("kind").str()); t != nil {
		r.check(t, n, "")
	} else if meta := n.get("metadata"); meta != nil {
		r.check(reflect.TypeFor[metav1.ObjectMeta](), meta, "metadata")
	}
	if typed {
		settle(n)
	}
}

// settle makes text of values that were filled into quotes where no field type
// said otherwise.
func settle(n *node) {
	visit(n, place{}, func(n *node, _ place) {
		if n.filled && n.quoted {
			if _, isText := n.value.(string); !isText {
				n.value = n.text
			}
		}
	})
}

var (
	quantityType = reflect.TypeFor[resource.Quantity]()
	intOrString  = reflect.TypeFor[intstr.IntOrString]()
	timeTypes    = map[reflect.Type]bool{reflect.TypeFor[metav1.Time](): true, reflect.TypeFor[metav1.MicroTime](): true, reflect.TypeFor[metav1.Duration](): true}
	fieldsType   = reflect.TypeFor[metav1.FieldsV1]()
)

func (r *report) check(t reflect.Type, n *node, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.kind == scalarNode && n.value == nil {
		return
	}
	if n.kind == scalarNode && !r.typed && unfilled(n.str()) {
		return
	}
	switch {
	case t == fieldsType || t.Kind() == reflect.Interface:
		return
	case t == quantityType:
		r.quantity(n, path)
		return
	case t == intOrString:
		r.scalar(n, path, "a number or text", func(v any) (any, bool) {
			switch v.(type) {
			case int64, string:
				return v, true
			}
			return nil, false
		})
		return
	case timeTypes[t]:
		r.text(n, path)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		r.object(t, n, path)
	case reflect.Map:
		if n.kind != mapNode {
			r.wrong(n, path, "a map")
			return
		}
		for _, f := range n.fields {
			r.check(t.Elem(), f.value, joinPath(path, f.key))
		}
		r.dropEmpty(n)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			r.text(n, path)
			return
		}
		if n.kind != listNode {
			r.wrong(n, path, "a list")
			return
		}
		for i, item := range n.items {
			r.check(t.Elem(), item, place{path: path}.item(i).path)
		}
	case reflect.String:
		r.text(n, path)
	case reflect.Bool:
		r.scalar(n, path, "true or false", asBool)
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		want := "a whole number"
		if i, whole := n.value.(int64); whole && reflect.Zero(t).CanInt() && reflect.Zero(t).OverflowInt(i) {
			want = fmt.Sprintf("a whole number up to %d", int64(1)<<(t.Bits()-1)-1)
		}
		r.scalar(n, path, want, func(v any) (any, bool) {
			i, ok := v.(int64)
			if ok && reflect.Zero(t).CanInt() {
				ok = !reflect.Zero(t).OverflowInt(i)
			}
			return i, ok
		})
	}
}

// asBool also takes YAML 1.1's words, which kubectl understands.
func asBool(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(v) {
		case "yes", "on":
			return true, true
		case "no", "off":
			return false, true
		}
	}
	return nil, false
}

func (r *report) wrong(n *node, path, want string) {
	r.addf(n.line, n.column, "%s is %s, want %s", path, n.describe(secret.Field("", path)), want)
}

// scalar checks one value. A filled-in text is typed as the field wants it.
func (r *report) scalar(n *node, path, want string, accept func(any) (any, bool)) {
	if n.kind != scalarNode {
		r.wrong(n, path, want)
		return
	}
	if v, ok := accept(n.value); ok {
		if n.value != v || n.filled {
			n.value, n.filled = v, false
		}
		return
	}
	if n.filled {
		if v, ok := accept(resolve(strings.TrimSpace(n.text))); ok {
			n.value, n.filled = v, false
			return
		}
	}
	if unfilled(n.str()) {
		return // reported as a missing parameter
	}
	r.wrong(n, path, want)
}

func (r *report) text(n *node, path string) {
	if n.kind == scalarNode && n.filled {
		n.value, n.filled = n.text, false
	}
	if n.kind != scalarNode {
		r.wrong(n, path, "text")
		return
	}
	if _, ok := n.value.(string); !ok {
		r.addf(n.line, n.column, "%s is %s, want text: put it in quotes", path, n.describe(secret.Field("", path)))
	}
}

func (r *report) quantity(n *node, path string) {
	if n.kind != scalarNode {
		r.wrong(n, path, "a quantity")
		return
	}
	if n.filled {
		n.filled = false
		if s, ok := n.value.(string); ok {
			n.value = resolve(strings.TrimSpace(s))
		}
	}
	switch v := n.value.(type) {
	case nil, int64, float64:
		return
	case string:
		if unfilled(v) {
			return
		}
		if _, err := resource.ParseQuantity(v); err == nil {
			return
		}
	}
	r.addf(n.line, n.column, "%s is %s, want a quantity such as 500m, 4 or 16Gi", path, n.describe(secret.Field("", path)))
}

func (r *report) object(t reflect.Type, n *node, path string) {
	if n.kind != mapNode {
		r.wrong(n, path, "a map")
		return
	}
	for _, f := range n.fields {
		ft, ok := fieldOf(t, f.key)
		if !ok {
			where := "at the top"
			if path != "" {
				where = "in " + path
			}
			r.addf(f.line, f.column, "no field %q %s%s", clip(f.key), where, meant(errs.Near(f.key, fieldNames(t))))
			continue
		}
		r.check(ft, f.value, joinPath(path, f.key))
	}
	r.dropEmpty(n)
}

// dropEmpty removes fields without a value: null quantities and the like.
func (r *report) dropEmpty(n *node) {
	if !r.typed {
		return
	}
	kept := n.fields[:0]
	for _, f := range n.fields {
		if f.value.kind != scalarNode || f.value.value != nil {
			kept = append(kept, f)
		}
	}
	n.fields = kept
}

// fieldOf finds a struct's field by its JSON name, embedded structs included.
func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && (tag == "" || strings.Contains(opts, "inline")) {
			if ft, ok := fieldOf(deref(f.Type), name); ok {
				return ft, true
			}
			continue
		}
		if tag == name && tag != "-" {
			return f.Type, true
		}
	}
	return nil, false
}

func fieldNames(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && (tag == "" || strings.Contains(opts, "inline")) {
			out = append(out, fieldNames(deref(f.Type))...)
		} else if tag != "" && tag != "-" {
			out = append(out, tag)
		}
	}
	return out
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// helm finds Helm's own words in a script, where {{ }} alone may be meant for
// another program.
var helm = regexp.MustCompile(`\{\{-?\s*(\.Values|\.Release|\.Chart|\.Capabilities|include\s|template\s|toYaml\s)`)

// foreign reports text of other template languages that is valid YAML.
func (r *report) foreign(n *node, at place) {
	visit(n, at, func(n *node, at place) {
		if s := n.str(); helm.MatchString(s) || !at.script && foreign.MatchString(s) {
			r.addf(n.line, n.column, "%s", foreignText)
		}
	})
}
