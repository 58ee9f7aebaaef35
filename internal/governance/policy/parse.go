package policy

import (
	"errors"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// FaultKind is the kind of a fault in the text of a document.
type FaultKind string

// The kinds of faults.
const (
	Syntax       FaultKind = "Syntax"       // Got is the YAML reader's message
	Documents    FaultKind = "Documents"    // not exactly one YAML document
	Manifest     FaultKind = "Manifest"     // an object of Kubernetes; Got is its kind
	UnknownField FaultKind = "UnknownField" // Got is the key, Want the keys there are, Near those meant
	WrongType    FaultKind = "WrongType"    // Got describes the value, Want the type
	WrongValue   FaultKind = "WrongValue"   // Got is the value, Want the values there are, Near those meant
	Missing      FaultKind = "Missing"      // a required field has no value; Got is its name
	Newer        FaultKind = "Newer"        // Got is the version of the file, Want the one that is read
)

// Position is a line and a column in a file, from 1.
type Position struct{ Line, Column int }

// Fault is a fault in the text of a document.
type Fault struct {
	Position
	// Path names the field: teams[2].quota[0].count.
	Path string
	Kind FaultKind
	Got  string
	Want []string `json:",omitempty"`
	Near []string `json:",omitempty"`
}

// Positions are the positions of a document's fields, by path.
type Positions map[string]Position

// Of returns the position of a path, or of its nearest parent that has one.
func (p Positions) Of(path string) Position {
	for path != "" {
		if at, ok := p[path]; ok {
			return at
		}
		cut := max(strings.LastIndexByte(path, '.'), strings.LastIndexByte(path, '['))
		if cut < 0 {
			break
		}
		path = path[:cut]
	}
	return Position{1, 1}
}

// Parse reads a document, strictly. A text with faults has no document. An empty text
// is a fault: it never means a cluster without teams.
func Parse(data []byte) (*Document, Positions, []Fault) {
	doc, at, faults := ParsePart(data)
	if len(faults) > 0 {
		return nil, nil, faults
	}
	return doc, at, nil
}

// ParsePart is Parse for a text whose other mistakes are to be found, too: the document has the fields without faults. It
// is nil if the text is not one YAML document of this version. See [Beside].
func ParsePart(data []byte) (*Document, Positions, []Fault) {
	docs, broken := manifest.ParseAll(data)
	d := &decoder{at: Positions{}}
	for _, err := range broken {
		at := Position{1, 1}
		text := err.Error()
		var l *manifest.LineError
		if errors.As(err, &l) {
			at, text = Position{max(l.Line, 1), max(l.Column, 1)}, l.Text
		}
		d.faults = append(d.faults, Fault{Position: at, Kind: Syntax, Got: text})
	}
	out := &Document{}
	switch {
	case len(d.faults) > 0:
	case len(docs) > 0 && isObject(docs[0]):
		d.faults = append(d.faults, Fault{Position: Position{max(docs[0].Line, 1), 1}, Kind: Manifest, Got: docs[0].Get("kind").Str()})
	case len(docs) > 1:
		d.faults = append(d.faults, Fault{Position: Position{docs[1].Line, 1}, Kind: Documents, Got: strconv.Itoa(len(docs))})
	case len(docs) == 0:
		d.faults = append(d.faults, Fault{Position: Position{1, 1}, Path: "version", Kind: Missing, Got: "version"})
	case len(docs) == 1 && IsNewer(docs[0].Get("version").Str(), Version):
		d.add(docs[0].Get("version"), "version", Newer, docs[0].Get("version").Str(), []string{Version})
	case len(docs) == 1:
		d.value(docs[0], reflect.ValueOf(out).Elem(), "", nil)
		d.required(docs[0], "version", "")
		if n := docs[0].Get("version"); n != nil && n.Str() != Version {
			d.add(n, "version", WrongValue, n.Str(), []string{Version})
		}
	}
	for _, f := range d.faults {
		if f.Kind == Syntax || f.Kind == Documents || f.Kind == Manifest || f.Path == "" || f.Path == "version" {
			return nil, nil, d.faults
		}
	}
	return out, d.at, d.faults
}

// IsNewer reports whether the version of a file is a later one than the one that is read: NAME/v2 after NAME/v1.
func IsNewer(version, read string) bool {
	name, number, _ := strings.Cut(version, "/v")
	known, last, _ := strings.Cut(read, "/v")
	n, err := strconv.Atoi(number)
	m, _ := strconv.Atoi(last)
	return err == nil && name == known && n > m
}

// isObject reports whether a document is an object of Kubernetes.
func isObject(doc *manifest.Node) bool {
	return doc.Kind == manifest.MapNode && doc.Get("version") == nil && doc.Get("apiVersion") != nil && doc.Get("kind") != nil
}

// Beside returns the findings about a document of [ParsePart] that do not follow from its faults: not those about a field
// with a fault, or about what contains it.
func Beside(findings []Finding, faults []Fault) []Finding {
	faulty, above := map[string]bool{}, map[string]bool{}
	for _, f := range faults {
		faulty[f.Path] = true
		for path := range containers(f.Path) {
			above[path] = true
		}
	}
	return slices.DeleteFunc(findings, func(x Finding) bool {
		if faulty[x.Path] || above[x.Path] {
			return true
		}
		for path := range containers(x.Path) {
			if faulty[path] {
				return true
			}
		}
		return false
	})
}

// containers iterates over the paths of what contains a field: teams[1] and teams for teams[1].quota.
func containers(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := len(path) - 1; i > 0; i-- {
			if (path[i] == '.' || path[i] == '[') && !yield(path[:i]) {
				return
			}
		}
	}
}

// Unknown returns the values of a document that their fields do not allow. [Parse] finds them itself, but a document
// from another source can have them. They have no position.
func Unknown(d *Document) []Fault {
	return unknown(nil, reflect.ValueOf(d), "", nil)
}

func unknown(faults []Fault, v reflect.Value, path string, enum []string) []Fault {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			faults = unknown(faults, v.Elem(), path, enum)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			faults = unknown(faults, v.Field(i), join(path, name), words(f.Tag.Get("enum")))
		}
	case reflect.Slice:
		for i := range v.Len() {
			faults = unknown(faults, v.Index(i), path+"["+strconv.Itoa(i)+"]", nil)
		}
	case reflect.String:
		if text := v.String(); enum != nil && text != "" && !slices.Contains(enum, text) {
			faults = append(faults, Fault{Path: path, Kind: WrongValue, Got: text, Want: enum, Near: errs.Near(text, enum)})
		}
	}
	return faults
}

// decoder fills a document from a tree and notes where each field is.
type decoder struct {
	at     Positions
	faults []Fault
}

func (d *decoder) add(n *manifest.Node, path string, k FaultKind, got string, want []string) {
	f := Fault{Position: Position{n.Line, n.Column}, Path: path, Kind: k, Got: got, Want: want}
	if k == UnknownField || k == WrongValue {
		f.Near = errs.Near(got, want)
	}
	d.faults = append(d.faults, f)
}

// value decodes a node; enum lists the words that a text may be.
func (d *decoder) value(n *manifest.Node, to reflect.Value, path string, enum []string) {
	if path != "" {
		d.at[path] = Position{n.Line, n.Column}
	}
	switch to.Kind() {
	case reflect.Pointer:
		v := reflect.New(to.Type().Elem())
		d.value(n, v.Elem(), path, enum)
		to.Set(v)
	case reflect.Struct:
		d.fields(n, to, path)
	case reflect.Slice:
		if n.Kind != manifest.ListNode {
			d.add(n, path, WrongType, n.Describe(false), []string{"a list"})
			return
		}
		to.Set(reflect.MakeSlice(to.Type(), len(n.Items), len(n.Items)))
		for i, item := range n.Items {
			d.value(item, to.Index(i), path+"["+strconv.Itoa(i)+"]", nil)
		}
	case reflect.Map:
		d.mapping(n, to, path)
	default:
		d.scalar(n, to, path, enum)
	}
}

func (d *decoder) mapping(n *manifest.Node, to reflect.Value, path string) {
	if n.Kind != manifest.MapNode {
		d.add(n, path, WrongType, n.Describe(false), []string{"a map"})
		return
	}
	if to.Type().Elem().Kind() == reflect.Interface {
		plain, err := toPlain(n.Plain()) // numbers as JSON has them
		if err != nil {
			d.add(n, path, WrongType, err.Error(), []string{"a map"})
			return
		}
		to.Set(reflect.ValueOf(plain))
		return
	}
	to.Set(reflect.MakeMap(to.Type()))
	for _, f := range n.Fields {
		v := reflect.New(to.Type().Elem()).Elem()
		d.value(f.Value, v, path+"."+f.Key, nil)
		to.SetMapIndex(reflect.ValueOf(f.Key), v)
	}
}

func (d *decoder) fields(n *manifest.Node, to reflect.Value, path string) {
	if n.Kind != manifest.MapNode {
		d.add(n, path, WrongType, n.Describe(false), []string{"a map"})
		return
	}
	type field struct {
		index    int
		enum     []string
		required bool
	}
	known := map[string]field{}
	var names []string
	for i := range to.NumField() {
		f := to.Type().Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = field{i, words(f.Tag.Get("enum")), rest == ""}
		names = append(names, name)
	}
	for _, f := range n.Fields {
		k, ok := known[f.Key]
		if !ok {
			d.add(&manifest.Node{Line: f.Line, Column: f.Column}, join(path, f.Key), UnknownField, f.Key, names)
			continue
		}
		if f.Value.Kind == manifest.ScalarNode && f.Value.Value == nil && !k.required {
			continue // a key without a value
		}
		d.value(f.Value, to.Field(k.index), join(path, f.Key), k.enum)
	}
	for _, name := range names {
		if known[name].required && path != "" {
			d.required(n, name, path)
		}
	}
}

func (d *decoder) required(n *manifest.Node, name, path string) {
	v := n.Get(name)
	if v == nil || v.Kind == manifest.ScalarNode && (v.Value == nil || v.Value == "") {
		d.add(n, join(path, name), Missing, name, nil)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func words(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

func (d *decoder) scalar(n *manifest.Node, to reflect.Value, path string, enum []string) {
	wrong := func(want string) { d.add(n, path, WrongType, n.Describe(false), []string{want}) }
	switch to.Kind() {
	case reflect.String:
		// A name such as 8 is written without quotes and is a text all the same.
		text, isText := n.Value.(string)
		if !isText {
			if _, isNumber := n.Value.(int64); !isNumber || enum != nil {
				wrong("a text")
				return
			}
			text = n.Text
		}
		if enum != nil && !slices.Contains(enum, text) {
			d.add(n, path, WrongValue, text, enum)
			return
		}
		to.SetString(text)
	case reflect.Int:
		v, ok := n.Value.(int64)
		if !ok || n.Kind != manifest.ScalarNode {
			wrong("a whole number")
			return
		}
		to.SetInt(v)
	case reflect.Float64:
		switch v := n.Value.(type) {
		case int64:
			to.SetFloat(float64(v))
			return
		case float64:
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				to.SetFloat(v)
				return
			}
		}
		wrong("a number")
	}
}
