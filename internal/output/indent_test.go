package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

// jsonOf returns a document as writeJSON writes it.
func jsonOf(document any) ([]byte, error) {
	var b bytes.Buffer
	err := writeJSON(&b, document)
	return b.Bytes(), err
}

// TestIndent: documents are indented as encoding/json indents them.
func TestIndent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", `"`, `\`, `\"`, `a\\`, `{"a":[1,2]}`, "[", "},{", ":", "\n\t", "é", "日本", "<&>", "\u2028", "\u009b", "\U000e0001"}
	var value func(depth int) any
	value = func(depth int) any {
		n := random.IntN(4)
		switch kind := random.IntN(7); {
		case kind == 0 && depth > 0:
			out := map[string]any{}
			for range n {
				out[texts[random.IntN(len(texts))]] = value(depth - 1)
			}
			return out
		case kind <= 2 && depth > 0:
			out := []any{}
			for range n {
				out = append(out, value(depth-1))
			}
			return out
		case kind == 3:
			return random.NormFloat64()
		case kind == 4:
			return []any{nil, true, false}[random.IntN(3)]
		}
		return texts[random.IntN(len(texts))]
	}
	for range 2000 {
		document := value(5)
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(document); err != nil {
			t.Fatal(err)
		}
		if got, err := jsonOf(document); err != nil || string(got) != string(escapeUnsafe(b.Bytes())) {
			t.Fatalf("%v:\n%s\nwant\n%s", err, got, b.Bytes())
		}
	}
}

// pieces keeps what it gets, and refuses what comes after the first few.
type pieces struct {
	got  []string
	most int
}

func (p *pieces) Write(data []byte) (int, error) {
	if len(p.got) == p.most {
		return 0, syscall.ENOSPC
	}
	p.got = append(p.got, string(data))
	return len(data), nil
}

// TestWriteJSON: a small document is written at once and a large one in pieces; nothing is written of a document that cannot
// be encoded, and a failure to write stays what it is.
func TestWriteJSON(t *testing.T) {
	small := &pieces{most: 10}
	if err := writeJSON(small, map[string]any{"a": strings.Repeat("é", 1000)}); err != nil || len(small.got) != 1 {
		t.Errorf("%v: %d writes", err, len(small.got))
	}
	document := map[string]any{"a": strings.Split(strings.Repeat("é\u009b ", 50_000), " ")}
	want, err := jsonOf(document)
	if err != nil {
		t.Fatal(err)
	}
	large := &pieces{most: 100}
	if err := writeJSON(large, document); err != nil || len(large.got) < 5 || strings.Join(large.got, "") != string(want) {
		t.Errorf("%v: %d writes", err, len(large.got))
	}
	var back map[string]any
	if err := json.Unmarshal(want, &back); err != nil {
		t.Error(err)
	}
	full := &pieces{most: 2}
	if err := writeJSON(full, document); err != syscall.ENOSPC || len(full.got) != 2 {
		t.Errorf("%v: %d writes", err, len(full.got))
	}
	none := &pieces{most: 10}
	if err := writeJSON(none, []any{document, func() {}}); err == nil || errors.Is(err, syscall.ENOSPC) || len(none.got) != 0 {
		t.Errorf("%v: %d writes", err, len(none.got))
	}
}
