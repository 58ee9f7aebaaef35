package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"k8s.io/client-go/util/jsonpath"
	kjson "sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// jsonPath is a template that can be parsed. The parser of client-go keeps state
// while it executes, so each Print has its own.
type jsonPath struct{ text string }

// parseJSONPath parses a template like kubectl. A text without braces is a path: ".a.b" and "a.b" mean
// "{.a.b}".
func parseJSONPath(text string) (*jsonPath, error) { return parsePath(text, relaxed(text)) }

// parsePath parses a template; text is what the user typed.
func parsePath(text, template string) (*jsonPath, error) {
	p := &jsonPath{template}
	if _, err := p.parser(); err != nil {
		e := errs.Usagef("the jsonpath template %q cannot be understood", text)
		e.Why, e.Cause = reason(err), err
		return nil, e.Suggest(example(JSONPath))
	}
	return p, nil
}

func relaxed(text string) string {
	if strings.ContainsAny(text, "{}") {
		return text
	}
	path := strings.TrimSpace(text)
	if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "[") && !strings.HasPrefix(path, "$") && !strings.HasPrefix(path, "@") {
		path = "." + path
	}
	return "{" + path + "}"
}

// reason returns the first line of a parser's complaint.
func reason(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (p *jsonPath) parser() (*jsonpath.JSONPath, error) {
	j := jsonpath.New("output").AllowMissingKeys(true)
	return j, j.Parse(p.text)
}

// goTypes replaces the types in errors of the jsonpath library.
var goTypes = strings.NewReplacer("map[string]interface {}", "an object", "[]interface {}", "a list", "interface {}", "a value", "float64", "a number", "int64", "a number")

// execute writes what the template finds in a value of maps, lists and scalars,
// with no newline of its own, as kubectl does.
func (p *jsonPath) execute(value any) ([]byte, error) {
	j, err := p.parser()
	if err != nil {
		return nil, errs.Wrap(err, "cannot use the jsonpath template")
	}
	var b bytes.Buffer
	if err := guarded(func() error { return j.Execute(&b, value) }); err != nil {
		return nil, errs.New("the jsonpath template does not fit this document", goTypes.Replace(err.Error())).WithCause(err)
	}
	return b.Bytes(), nil
}

// guarded returns a panic of client-go as an error: it panics on a range inside a range that finds nothing.
func guarded(f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a range inside an empty range cannot be evaluated")
		}
	}()
	return f()
}

// findAll returns every value that a template leads to.
func findAll(j *jsonpath.JSONPath, value any) ([]any, error) {
	var results [][]reflect.Value
	if err := guarded(func() (err error) {
		results, err = j.FindResults(value)
		return err
	}); err != nil {
		return nil, err
	}
	var out []any
	for _, list := range results {
		for _, v := range list {
			if v.IsValid() && v.CanInterface() {
				out = append(out, v.Interface())
			}
		}
	}
	return out, nil
}

// generic turns a document into maps, lists and scalars by way of its JSON, so
// that templates see the keys that JSON has. Integers stay integers.
func generic(document any) (any, error) { return readBack(withLists(document)) }

func readBack(document any) (any, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, errs.Wrap(err, "cannot write the document as JSON")
	}
	var out any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &out); err != nil {
		return nil, errs.Wrap(err, "cannot read back the document")
	}
	return out, nil
}
