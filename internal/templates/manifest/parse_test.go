package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// Every document that can be read is read, and every fault has its place in the file,
// whatever stands before it.
func TestParseAll(t *testing.T) {
	docs, faults := ParseAll([]byte("\ufeff# top\r\na: {b: ${X}, b: 1}\r\n--- # two\nc: [\n...\n%YAML 1.1\n---\nd: 1\nd: 2\n---\ne: \"---\n\"\n---\nf: |\n  --- \n  x\n--- {g: *none}\n---\nh: &h [1]\ni: {<<: *h, j: !t k}\n"))
	var got strings.Builder
	for _, d := range docs {
		fmt.Fprintf(&got, "%d %v %v\n", d.Line, d.Plain(), d.Faulty)
	}
	for _, f := range faults {
		l := f.(*LineError)
		fmt.Fprintf(&got, "%d:%d %s\n", l.Line, l.Column, l.Text)
	}
	const want = `2 map[a:map[b:${X}]] false
3 <nil> true
8 map[d:1] false
11 map[e:--- ] false
14 map[f:--- 
x
] false
17 <nil> true
19 map[h:[1] i:map[j:<nil>]] false
2:14 the key "b" is given twice (first in line 2)
4:1 not valid YAML: expected a value
9:1 the key "d" is given twice (first in line 8)
17:9 not valid YAML: alias *none has no anchor &none before it
19:8 << accepts maps only
20:16 tag "!t" is not supported
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// A syntax error at the end of a large text costs no more than reading it a few times.
func TestLargeBrokenText(t *testing.T) {
	text := strings.Repeat("key: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n---\n", 400) + "list:\n" + strings.Repeat("- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 20_000) + "- [\n"
	docs, faults := ParseAll([]byte(text))
	if len(docs) != 401 || len(faults) != 1 || faults[0].(*LineError).Line < 20_800 {
		t.Errorf("%d documents, %v", len(docs), faults)
	}
}

// The bounds hold for all documents together.
func TestBoundsOverDocuments(t *testing.T) {
	doc := "---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
	_, err := Parse([]byte(strings.Repeat(doc, 3)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Parse([]byte(strings.Repeat(doc, 300))); err == nil || !strings.Contains(err.Error(), "values in all documents") {
		t.Error(err)
	}
}

// Values are shown as a person types them.
func TestAsTyped(t *testing.T) {
	for v, want := range map[any]string{int64(2): "2", 0.5: "0.5", true: "true", "All": "All", "ml.p5.48xlarge": "ml.p5.48xlarge", "a/b:1@x": "a/b:1@x", "": `""`,
		"a b": `"a b"`, "it's": `"it's"`, "$X": `"$X"`, "\x1b[2J": `"\x1b[2J"`} {
		if got := AsTyped(v); got != want {
			t.Errorf("%#v is %s, want %s", v, got, want)
		}
	}
}
