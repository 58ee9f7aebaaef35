package execcmd

import (
	"bytes"
	"io"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// text writes what a command prints: unchanged in a pipe; with escape sequences made
// visible on a terminal; with a prefix line by line.
type text struct {
	io     *output.IO
	prefix string
	shared *sync.Mutex // held while a line is written; nil when nobody else writes

	line []byte // of a prefixed line: what has come so far
	rest []byte // bytes that cannot be printed before more arrive
}

// maxLine is how many bytes of a prefixed line are collected to write it in one piece.
const maxLine = 1 << 20

func newText(s *output.IO, prefix string) *text { return &text{io: s, prefix: prefix} }

// errSide returns the streams with stderr as stdout.
func errSide(s *output.IO) *output.IO {
	e := *s
	e.Out, e.OutTTY, e.Color = s.Err, s.ErrTTY, s.ErrColor
	return &e
}

func (t *text) Write(p []byte) (int, error) {
	if t.prefix == "" {
		return len(p), t.out(t.visible(p, true))
	}
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			t.line = append(t.line, rest...)
			if len(t.line) > maxLine {
				return len(p), t.flush(false)
			}
			break
		}
		t.line = append(t.line, rest[:i+1]...)
		rest = rest[i+1:]
		if err := t.flush(true); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close writes what is left; a prefixed line that has no end gets one.
func (t *text) Close() error {
	if t.prefix == "" {
		return t.out(t.visible(nil, false))
	}
	if len(t.line) == 0 {
		return nil
	}
	t.line = append(t.line, '\n')
	return t.flush(true)
}

// flush writes the line that was collected. A part that is not the first of its
// line gets a prefix too: other pods' lines may have come between.
func (t *text) flush(whole bool) error {
	b := append([]byte(t.io.Hue(output.Safe(t.prefix))), " | "...)
	b = append(b, t.visible(t.line, false)...)
	if !whole {
		b = append(b, '\n')
	}
	t.line = t.line[:0]
	return t.out(b)
}

func (t *text) out(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if t.shared != nil {
		t.shared.Lock()
		defer t.shared.Unlock()
	}
	_, err := t.io.Out.Write(b)
	return err
}

// visible returns p as it may be shown. Line ends stay.
func (t *text) visible(p []byte, more bool) []byte {
	if !t.io.OutTTY {
		return p
	}
	p = append(t.rest, p...)
	t.rest = nil
	var b []byte
	for {
		part, after, found := bytes.Cut(p, []byte("\n"))
		var rest []byte
		b, rest = output.AppendLog(b, bytes.TrimSuffix(part, []byte("\r")), t.io.Color, more && !found)
		if t.io.Color && found {
			b = output.AppendColorReset(b, part)
		}
		if !found {
			t.rest = bytes.Clone(rest)
			return b
		}
		b = append(b, '\n')
		p = after
	}
}

var _ io.WriteCloser = (*text)(nil)
