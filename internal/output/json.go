package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Objects is a document of several API objects: YAML prints them one after the
// other, separated by "---", as `kubectl apply -f -` reads them; JSON prints a
// v1 List.
type Objects []any

// list is Kubernetes' generic list.
type list struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []any  `json:"items"`
}

// MarshalJSON writes a v1 List.
func (o Objects) MarshalJSON() ([]byte, error) {
	items := []any(o)
	if items == nil {
		items = []any{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(list{"v1", "List", items})
	return b.Bytes(), err
}

// List returns the objects, one row each.
func (o Objects) List() any { return []any(o) }

// writeJSON writes a document indented by one space, keys in the order of the
// struct, HTML characters as they are, one newline at the end. Control
// characters and others that could deceive a terminal are escaped: for a
// program that reads JSON nothing changes by that. It writes nothing of a
// document that cannot be encoded.
func writeJSON(to io.Writer, document any) error {
	w := &indenter{to: to}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(withLists(document)); err != nil && w.failed == nil {
		return errs.Wrap(err, "cannot write the document as JSON")
	}
	return w.failed
}

// JSONLine returns a document as one line of JSON. Like indented documents, it holds
// control characters and characters that could deceive a terminal as escapes only.
func JSONLine(document any) ([]byte, error) {
	data, err := compactJSON(document)
	return append(escapeUnsafe(data), '\n'), err
}

// PrintJSONLine prints a document as JSONLine returns it.
func (s *IO) PrintJSONLine(document any) error {
	line, err := JSONLine(document)
	if err != nil {
		return err
	}
	_, err = s.Out.Write(line)
	return err
}

// PrintLine prints a line of text, with unsafe characters escaped on a terminal.
func (s *IO) PrintLine(text string) error {
	if s.OutTTY {
		text = Safe(text)
	}
	_, err := s.Out.Write([]byte(text + "\n"))
	return err
}

// JSONOut returns standard output for JSON that is written piece by piece, with unsafe
// characters escaped as in documents.
func (s *IO) JSONOut() io.Writer { return &jsonWriter{to: s.Out} }

// jsonWriter escapes unsafe characters in JSON.
type jsonWriter struct {
	to   io.Writer
	rest []byte // the beginning of a character whose end was not written yet
}

func (w *jsonWriter) Write(p []byte) (int, error) {
	data := append(w.rest, p...)
	n := len(data)
	for i := max(0, n-utf8.UTFMax); i < len(data); i++ {
		if utf8.RuneStart(data[i]) && !utf8.FullRune(data[i:]) {
			n = i
			break
		}
	}
	w.rest = append([]byte(nil), data[n:]...)
	if _, err := w.to.Write(escapeUnsafe(data[:n])); err != nil {
		return 0, err
	}
	return len(p), nil
}

func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(withLists(v))
	return bytes.TrimSpace(b.Bytes()), err
}

// escapeUnsafe replaces unsafe characters in JSON by \u escapes. They can only
// be inside strings, as nothing but ASCII is outside.
func escapeUnsafe(data []byte) []byte {
	return escapeRunes(data, func(out []byte, r rune) []byte {
		if r > 0xFFFF {
			r -= 0x10000
			return fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		}
		return fmt.Appendf(out, `\u%04x`, r)
	})
}

// escapeRunes writes every unsafe character beyond ASCII with escape.
func escapeRunes(data []byte, escape func([]byte, rune) []byte) []byte {
	if isASCII(data) || !bytes.ContainsFunc(data, unsafeInText) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if unsafeInText(r) {
			out = escape(out, r)
		} else {
			out = append(out, data[i:i+n]...)
		}
		i += n
	}
	return out
}

func isASCII(data []byte) bool {
	for _, c := range data {
		if c >= 0x7F {
			return false
		}
	}
	return true
}

func unsafeInText(r rune) bool { return r >= 0x7F && unsafeRune(r) }
