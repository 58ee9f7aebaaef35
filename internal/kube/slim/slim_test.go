package slim_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/kube/slim"
)

type inner struct {
	Deep   string `json:"deep"`
	Number int32  `json:"number"`
}

type quantity string

func (q *quantity) UnmarshalJSON(b []byte) error {
	*q = quantity(strings.Trim(string(b), `"`))
	return nil
}

type object struct {
	Name     string                     `json:"name"`
	On       bool                       `json:"on"`
	Count    int64                      `json:"count"`
	Small    int8                       `json:"small"`
	Pointer  *inner                     `json:"pointer"`
	List     []inner                    `json:"list"`
	Strings  []string                   `json:"strings"`
	Labels   map[string]string          `json:"labels"`
	Map      map[string]inner           `json:"map"`
	Named    map[string]quantity        `json:"named"`
	Raw      json.RawMessage            `json:"raw"`
	Any      any                        `json:"any"`
	When     time.Time                  `json:"when"`
	Float    float64                    `json:"float"`
	Nested   map[string]map[string]bool `json:"nested"`
	Untagged string
	Skipped  string `json:"-"`
	inner
}

func read(r io.Reader) ([]object, slim.Meta, error) {
	var out []object
	meta, err := slim.List(r, func(o *object) { out = append(out, *o) })
	return out, meta, err
}

// reference decodes the same text with the decoder of the API machinery.
func reference(data []byte) ([]object, error) {
	var l struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &l); err != nil {
		return nil, err
	}
	var out []object
	for _, raw := range l.Items {
		if string(raw) == "null" {
			return nil, slim.ErrNull
		}
		var o object
		err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &o)
		if mistyped := new(json.UnmarshalTypeError); err != nil && !errors.As(err, &mistyped) {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

var lists = []string{
	`{"kind":"XList","items":[]}`,
	`{"items":[{"name":"a"}],"metadata":{"resourceVersion":"7","continue":"next"}}`,
	`{"kind":"XList","metadata":{"resourceVersion":"7"},"items":[{"name":"a","on":true,"count":12,"small":-3,"deep":"d","number":9,"Untagged":"u"},{"name":"b","-":"no","Skipped":"no"}]}`,
	` { "items" : [ { "name" : "a" , "list" : [ { "deep" : "x" } , { "number" : 2 } ] , "strings":["p","q"] } ] } `,
	`{"items":[{"labels":{"k":"v","e":"","quote\"d":"with \\ and \u00e9 é"},"map":{"m":{"deep":"x","unknown":[1,2,{"a":"]"}]}},"named":{"cpu":"4","gpu":8}}]}`,
	`{"items":[{"pointer":null,"list":null,"labels":null,"name":null,"count":null,"on":null,"raw":null,"any":null}]}`,
	`{"items":[{"pointer":{"deep":"x"},"list":[],"labels":{},"raw":{"a":[1, 2]},"any":{"n":3,"f":1.5,"l":[true,"x"]}}]}`,
	`{"items":[{"name":7,"on":"yes","count":"12","small":4000,"pointer":[],"list":{},"labels":["x"],"map":3,"float":"x","strings":[1,"a"]}]}`,
	`{"items":[{"count":1.5,"float":-2.5e3,"when":"2026-11-20T10:00:00Z"},{}]}`,
	`{"items":[{"nested":{"a":{"b":true,"c":false}},"unknown":{"x":"\\\"}","y":[[[]]],"z":"{"},"name":"after"}]}`,
	`{"items":null}`,
	`{"kind":"XList"}`,
	`{"items":[{"Name":"case matters","name":"tab\tend"}]}`,
}

func TestListAgreesWithReference(t *testing.T) {
	for _, text := range lists {
		want, err := reference([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for name, r := range readers(text) {
			got, _, err := read(r)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s:\n got %+v, %v\nwant %+v", text, name, got, err, want)
			}
		}
	}
}

// null is not an object.
func TestNullItem(t *testing.T) {
	if _, _, err := read(strings.NewReader(`{"items":[{"name":"a"}, null]}`)); !errors.Is(err, slim.ErrNull) {
		t.Errorf("got %v", err)
	}
}

// Items of another type are an error, and not an empty list.
func TestItemsAreAList(t *testing.T) {
	for _, items := range []string{`{"a":1}`, `"a"`, `7`, `true`} {
		if _, _, err := read(strings.NewReader(`{"kind":"XList","items":` + items + `}`)); !errors.Is(err, slim.ErrNotList) {
			t.Errorf("%s: got %v", items, err)
		}
	}
}

// readers hand out a text in pieces of every awkward size.
func readers(text string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":   strings.NewReader(text),
		"bytes":   iotest.OneByteReader(strings.NewReader(text)),
		"halves":  iotest.HalfReader(strings.NewReader(text)),
		"dataErr": iotest.DataErrReader(strings.NewReader(text)),
	}
}

func TestListMeta(t *testing.T) {
	_, meta, err := read(strings.NewReader(lists[1]))
	if err != nil || meta != (slim.Meta{ResourceVersion: "7", Continue: "next"}) {
		t.Errorf("got %+v, %v", meta, err)
	}
}

// A list is never shorter than it was sent: every way to break off is an error.
func TestTruncated(t *testing.T) {
	text := lists[4]
	for i := range text {
		_, _, err := read(strings.NewReader(text[:i]))
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: got %v", text[:i], err)
		}
	}
	broken := errors.New("broken")
	_, _, err := read(io.MultiReader(strings.NewReader(text[:40]), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("the reader's error is lost: %v", err)
	}
	// The error may come after the last bracket (a wrong gzip checksum).
	if _, _, err := read(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("an error after the list is lost: %v", err)
	}
	if _, _, err := read(iotest.ErrReader(nil)); err == nil {
		t.Error("a reader that never reads gives no error")
	}
}

func TestNotAList(t *testing.T) {
	for text, want := range map[string]error{
		`[]`:                               slim.ErrNotList,
		`"x"`:                              slim.ErrNotList,
		`<html>`:                           slim.ErrNotList,
		`{"kind":"Status"}`:                slim.ErrNotList,
		`{}`:                               slim.ErrNotList,
		`{"items":[{]}`:                    slim.ErrSyntax,
		`{"items":[{"unknown":{"a":[}}]}`:  slim.ErrSyntax,
		`{"items":[{"name":"a"},]}`:        slim.ErrSyntax,
		`{"items":[{"name":"a",}]}`:        slim.ErrSyntax,
		`{"items":[{"name" "a"}]}`:         slim.ErrSyntax,
		`{"items":[{name:"a"}]}`:           slim.ErrSyntax,
		`{"items":[{"name":"a"} {}]}`:      slim.ErrSyntax,
		"{\"items\":[{\"name\":\"a\n\"}]}": slim.ErrSyntax,
		`{"items":[{"raw":tru}]}`:          slim.ErrSyntax,
		`{"items":[{"when":2026-11}]}`:     slim.ErrSyntax,
		`{"items":[{"any":[1,}]}`:          slim.ErrSyntax,
		`{"items":[{"unknown":!}]}`:        slim.ErrSyntax,
		`{"items":[]} {}`:                  slim.ErrSyntax,
		``:                                 io.ErrUnexpectedEOF,
	} {
		for name, r := range readers(text) {
			if got, _, err := read(r); !errors.Is(err, want) {
				t.Errorf("%s, %s: got %v, %v; want %v", text, name, got, err, want)
			}
		}
	}
}

// Items must not share memory that the next item is read into.
func TestItemsAreIndependent(t *testing.T) {
	kept, _, err := read(strings.NewReader(`{"items":[{"name":"a","strings":["1"],"labels":{"k":"1"},"raw":[1],"pointer":{"deep":"1"}},{"strings":["2"],"labels":{"k":"2"},"raw":[2],"pointer":{"deep":"2"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if a := kept[0]; a.Strings[0] != "1" || a.Labels["k"] != "1" || string(a.Raw) != "[1]" || a.Pointer.Deep != "1" || kept[1].Name != "" {
		t.Errorf("got %+v", kept)
	}
}

// Of a key that comes twice the last counts, and nothing of the first is left.
func TestDuplicateKey(t *testing.T) {
	got, _, err := read(strings.NewReader(`{"items":[{"list":[{"deep":"first"},{"deep":"second"}],"list":[{"number":1}]}]}`))
	if err != nil || len(got[0].List) != 1 || got[0].List[0] != (inner{Number: 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Strings and items that are longer than the buffer.
func TestLarge(t *testing.T) {
	long := strings.Repeat(`abc\"\\`, 40<<10)
	text := `{"items":[{"unknown":{"x":"` + long + `"},"name":"` + long + `","strings":["` + strings.Repeat("y", 200<<10) + `"]},{"name":"last"}]}`
	want, err := reference([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range readers(text) {
		got, _, err := read(r)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d items, %v", name, len(got), err)
		}
	}
}

func TestRecursiveType(t *testing.T) {
	type tree struct {
		Name     string `json:"name"`
		Children []tree `json:"children"`
	}
	var got []tree
	_, err := slim.List(strings.NewReader(`{"items":[{"name":"a","children":[{"name":"b","children":[{"name":"c"}]}]}]}`), func(n *tree) { got = append(got, *n) })
	if err != nil || got[0].Children[0].Children[0].Name != "c" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// FuzzList holds the reader against the API machinery's own decoder: what that
// accepts must come out the same, whole or byte by byte; anything else must not
// panic or hang.
func FuzzList(f *testing.F) {
	for _, text := range lists {
		f.Add([]byte(text))
	}
	for _, item := range []string{`{"name":"\ud800"}`, `{"labels":{"a":"b","a":"c"}}`, `{"any":1e400}`, `{"name":"\x"}`, `{"raw":[1,2}`, "{\"name\":\"\xff\"}"} {
		f.Add([]byte(`{"items":[` + item + `]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _, err := read(strings.NewReader(string(data)))
		slow, _, slowErr := read(iotest.OneByteReader(strings.NewReader(string(data))))
		if (err == nil) != (slowErr == nil) || !same(got, slow) {
			t.Fatalf("whole: %+v, %v\nbytes: %+v, %v", got, err, slow, slowErr)
		}
		if !json.Valid(data) || duplicated(data) {
			return
		}
		want, refErr := reference(data)
		if refErr != nil || errors.Is(err, slim.ErrNotList) {
			return
		}
		if err != nil || !same(got, want) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
	})
}

func same(a, b []object) bool { return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b) }

// duplicated reports an object that has a key twice, which has no one meaning.
func duplicated(data []byte) bool {
	var v any
	strict, err := kjson.UnmarshalStrict(data, &v, kjson.DisallowDuplicateFields)
	return err != nil || slices.ContainsFunc(strict, func(err error) bool { return strings.Contains(err.Error(), "duplicate") })
}
