package schema

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
)

// Report collects faults up to a limit. Check repairs what has a fault in the tree, so that it is reported
// once: it empties and marks a value, replaces a misspelt field by the intended one, and drops other unknown
// fields.
type Report struct {
	Faults []error
	Most   int // how many faults are kept; 0 stands for a screenful
	Allow  Allow
	// typed: values are final; otherwise only names of fields are checked.
	typed bool
	// otherVersion: the object has another API version than the known type, which can lack some of its fields.
	otherVersion bool
	told         map[spot]bool
	// of is the object whose fields are checked.
	of owner
}

// spot is a field at a place of a file. An alias brings the same one to several places
// of the object.
type spot struct {
	line, column int
	field        string
}

// addf notes a fault of the field that a path ends in.
func (r *Report) addf(line, column int, path, format string, args ...any) {
	at := spot{line, column, path[strings.LastIndexByte(path, '.')+1:]}
	if r.told[at] || len(r.Faults) >= cmp.Or(r.Most, 20) {
		return
	}
	if line > 0 {
		if r.told == nil {
			r.told = map[spot]bool{}
		}
		r.told[at] = true
	}
	r.Faults = append(r.Faults, manifest.Faultf(line, format, args...).Col(column))
}

// Check compares an object with its kind's fields, as a strict decoder
// does. With typed, values are compared too: filled-in scalars take the type of
// their field, and empty values of known fields are dropped, as the API server
// does.
func Check(n *manifest.Node, r *Report, typed bool) {
	r.typed = typed
	r.otherVersion = false
	r.of = ownerAt(n, "")
	if k, ok := kinds.JobFor(n.Get("apiVersion").Str(), n.Get("kind").Str()); ok {
		_, version, _ := strings.Cut("/"+n.Get("apiVersion").Str(), k.Group+"/")
		r.otherVersion = k.Group != "" && !slices.Contains(k.Versions(), version) && !exact(n.Get("apiVersion").Str(), k.Kind)
	}
	if t := shapeOf(n.Get("apiVersion").Str(), n.Get("kind").Str()); t != nil {
		r.check(t, n, "")
	} else {
		if meta := n.Get("metadata"); meta != nil {
			r.check(reflect.TypeFor[metav1.ObjectMeta](), meta, "metadata")
		}
		if k, ok := kinds.JobFor(n.Get("apiVersion").Str(), n.Get("kind").Str()); ok {
			r.described(k, n)
		}
	}
	if typed {
		settle(n)
	}
}

// settle turns values that were filled into quotes into text, unless a field type required otherwise.
func settle(n *manifest.Node) {
	manifest.Visit(n, manifest.Location{}, func(n *manifest.Node, _ manifest.Location) {
		if n.Filled && n.Quoted {
			if _, isText := n.Value.(string); !isText {
				n.Value = n.Text
			}
		}
	})
}

var (
	quantityType = reflect.TypeFor[resource.Quantity]()
	intOrString  = reflect.TypeFor[intstr.IntOrString]()
	timeTypes    = map[reflect.Type]bool{reflect.TypeFor[metav1.Time](): true, reflect.TypeFor[metav1.MicroTime](): true, reflect.TypeFor[metav1.Duration](): true}
	fieldsType   = reflect.TypeFor[metav1.FieldsV1]()
	objectType   = reflect.TypeFor[runtime.RawExtension]() // an object of any kind
)

func (r *Report) check(t reflect.Type, n *manifest.Node, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Faulty && n.Kind != kindOf(t) {
		n.Spoil(kindOf(t))
	}
	if n.Faulty || n.Kind == manifest.ScalarNode && n.Value == nil {
		return
	}
	if n.Kind == manifest.ScalarNode && !r.typed && manifest.Unfilled(n.Str()) {
		return
	}
	if !r.named(t, n, path) {
		r.builtin(t, n, path)
	}
}

// named checks a value of a type of the API that has a form of its own in JSON, and reports whether the type is one.
func (r *Report) named(t reflect.Type, n *manifest.Node, path string) bool {
	switch {
	case t == fieldsType || t.Kind() == reflect.Interface:
	case t == quantityType:
		r.quantity(n, path)
	case t == intOrString:
		r.scalar(n, path, "a number or text", func(v any) (any, bool) {
			switch v.(type) {
			case int64, string:
				return v, true
			}
			return nil, false
		})
	case timeTypes[t]:
		r.text(n, path)
	case t == objectType:
		if inner := shapeOf(n.Get("apiVersion").Str(), n.Get("kind").Str()); inner != nil {
			outer := r.of
			r.of = ownerAt(n, path)
			r.check(inner, n, path)
			r.of = outer
		}
	default:
		return false
	}
	return true
}

// builtin checks a value by the kind of its Go type.
func (r *Report) builtin(t reflect.Type, n *manifest.Node, path string) {
	switch t.Kind() {
	case reflect.Struct:
		r.object(t, n, path)
	case reflect.Map:
		if n.Kind != manifest.MapNode {
			r.wrong(n, path, "a map", manifest.MapNode)
			return
		}
		for _, f := range n.Fields {
			r.check(t.Elem(), f.Value, manifest.JoinPath(path, f.Key))
		}
		r.dropEmpty(n, nil)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			r.text(n, path)
			return
		}
		if n.Kind != manifest.ListNode {
			r.wrong(n, path, "a list", manifest.ListNode)
			return
		}
		for i, item := range n.Items {
			r.check(t.Elem(), item, manifest.Location{Path: path}.Item(i).Path)
		}
	case reflect.String:
		r.text(n, path)
	case reflect.Bool:
		r.scalar(n, path, "true or false", asBool(n.Quoted && !n.Filled))
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		r.integer(t, n, path)
	}
}

// integer checks a whole number within the bounds of its Go type.
func (r *Report) integer(t reflect.Type, n *manifest.Node, path string) {
	want := "a whole number"
	if i, whole := n.Value.(int64); whole && reflect.Zero(t).CanInt() && reflect.Zero(t).OverflowInt(i) {
		want = fmt.Sprintf("a whole number up to %d", int64(1)<<(t.Bits()-1)-1)
	}
	r.scalar(n, path, want, func(v any) (any, bool) {
		i, ok := v.(int64)
		if f, isFloat := v.(float64); isFloat && f == math.Trunc(f) && math.Abs(f) < 1<<53 { // 2.0 and 2e0, as the API server reads them
			i, ok = int64(f), true
		}
		if ok && reflect.Zero(t).CanInt() {
			ok = !reflect.Zero(t).OverflowInt(i)
		}
		return i, ok
	})
}

// asBool also accepts the words of YAML 1.1, which kubectl accepts without quotes.
func asBool(quoted bool) func(any) (any, bool) {
	return func(v any) (any, bool) {
		switch v := v.(type) {
		case bool:
			return v, true
		case string:
			if quoted {
				return nil, false
			}
			switch strings.ToLower(v) {
			case "yes", "on":
				return true, true
			case "no", "off":
				return false, true
			}
		}
		return nil, false
	}
}

func (r *Report) wrong(n *manifest.Node, path, want string, kind manifest.NodeKind) {
	r.addf(n.Line, n.Column, path, "%s is %s: must be %s", path, n.Describe(secret.Field("", path)), want)
	n.Spoil(kind)
}

// scalar checks one value. It converts filled-in text to the type of the field.
func (r *Report) scalar(n *manifest.Node, path, want string, accept func(any) (any, bool)) {
	if n.Kind != manifest.ScalarNode {
		r.wrong(n, path, want, manifest.ScalarNode)
		return
	}
	if v, ok := accept(n.Value); ok {
		if n.Value != v || n.Filled {
			n.Value, n.Filled = v, false
		}
		return
	}
	if n.Filled {
		if v, ok := accept(manifest.Resolve(strings.TrimSpace(n.Text))); ok {
			n.Value, n.Filled = v, false
			return
		}
	}
	if manifest.Unfilled(n.Str()) {
		return // reported as a missing parameter
	}
	r.wrong(n, path, want, manifest.ScalarNode)
}

func (r *Report) text(n *manifest.Node, path string) {
	if n.Kind == manifest.ScalarNode && n.Filled {
		n.Value, n.Filled = n.Text, false
	}
	if n.Kind != manifest.ScalarNode {
		r.wrong(n, path, "text", manifest.ScalarNode)
		return
	}
	if _, ok := n.Value.(string); !ok {
		r.wrong(n, path, "text (put it in quotes)", manifest.ScalarNode)
	}
}

func (r *Report) quantity(n *manifest.Node, path string) {
	if n.Kind != manifest.ScalarNode {
		r.wrong(n, path, "a quantity", manifest.ScalarNode)
		return
	}
	if n.Filled {
		n.Filled = false
		if s, ok := n.Value.(string); ok {
			n.Value = manifest.Resolve(strings.TrimSpace(s))
		}
	}
	switch v := n.Value.(type) {
	case nil, int64, float64:
		return
	case string:
		if manifest.Unfilled(v) {
			return
		}
		v = strings.TrimSpace(v)
		if _, err := resource.ParseQuantity(v); err == nil {
			n.Value = v
			return
		}
	}
	r.wrong(n, path, "a quantity such as 500m, 4 or 16Gi", manifest.ScalarNode)
}

func (r *Report) object(t reflect.Type, n *manifest.Node, path string) {
	if n.Kind != manifest.MapNode {
		r.wrong(n, path, "a map", manifest.MapNode)
		return
	}
	kept := make([]manifest.Field, 0, len(n.Fields))
	var allowed []string
	for _, f := range n.Fields {
		ft, ok := fieldOf(t, f.Key)
		if !ok && r.otherVersion && !strings.HasPrefix(t.PkgPath(), "k8s.io/") {
			kept = append(kept, f)
			continue
		}
		if !ok {
			where := "at the top"
			if path != "" {
				where = "in " + path
			}
			near := errs.Near(f.Key, fieldNames(t))
			if r.allows(manifest.JoinPath(path, f.Key), near) {
				kept, allowed = append(kept, f), append(allowed, f.Key)
				continue
			}
			r.addf(f.Line, f.Column, manifest.JoinPath(path, f.Key), "no field %q %s%s", manifest.Clip(f.Key), where, manifest.DidYouMean(near))
			if len(near) == 0 || n.Get(near[0]) != nil {
				continue
			}
			f.Key = near[0]
			if ft, _ = fieldOf(t, f.Key); !couldBe(ft, f.Value) {
				f.Value.Spoil(kindOf(ft))
			}
		}
		kept = append(kept, f)
		r.check(ft, f.Value, manifest.JoinPath(path, f.Key))
	}
	n.Fields = kept
	r.dropEmpty(n, allowed)
}

// kindOf returns the kind of node that a type requires.
func kindOf(t reflect.Type) manifest.NodeKind {
	switch t = deref(t); {
	case t.Kind() == reflect.Map, t.Kind() == reflect.Struct && t != quantityType && t != intOrString && t != fieldsType && !timeTypes[t]:
		return manifest.MapNode
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return manifest.ListNode
	}
	return manifest.ScalarNode
}

// couldBe reports whether a value is of the kind that a field's type requires. Its content may be wrong.
func couldBe(t reflect.Type, n *manifest.Node) bool {
	if n.Kind != manifest.ScalarNode || kindOf(t) != manifest.ScalarNode {
		return n.Kind == kindOf(t)
	}
	alone, r := *n, &Report{}
	r.check(t, &alone, "")
	return len(r.Faults) == 0
}

// dropEmpty removes known fields without a value: null quantities and the like.
func (r *Report) dropEmpty(n *manifest.Node, unknown []string) {
	if !r.typed {
		return
	}
	kept := n.Fields[:0]
	for _, f := range n.Fields {
		if f.Value.Kind != manifest.ScalarNode || f.Value.Value != nil || f.Value.Faulty || slices.Contains(unknown, f.Key) {
			kept = append(kept, f)
		}
	}
	n.Fields = kept
}

// fieldOf finds a struct's field by its JSON name, including embedded structs. The struct's
// own field hides theirs, as for encoding/json.
func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	var hidden reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && (tag == "" || strings.Contains(opts, "inline")) {
			if ft, ok := fieldOf(deref(f.Type), name); ok && hidden == nil {
				hidden = ft
			}
			continue
		}
		if tag == name && tag != "-" {
			return f.Type, true
		}
	}
	return hidden, hidden != nil
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

// helm matches Helm's own words in a script, in which {{ }} alone may belong to another program.
var helm = pattern.Lazy(`\{\{-?\s*(\.Values|\.Release|\.Chart|\.Capabilities|include\s|template\s|toYaml\s)`)

// Foreign reports text of other template languages that is also valid YAML.
func (r *Report) Foreign(n *manifest.Node, at manifest.Location) {
	manifest.Visit(n, at, func(n *manifest.Node, at manifest.Location) {
		if s := n.Str(); helm().MatchString(s) || !at.Script && manifest.Foreign().MatchString(s) {
			r.addf(n.Line, n.Column, at.Path, "%s", manifest.ForeignText)
			n.Faulty = true
		}
	})
}
