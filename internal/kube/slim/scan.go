package slim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// ErrSyntax is in the chain of errors about text that is not JSON.
var ErrSyntax = errors.New("not valid JSON")

// bufferSize is how much is read at a time: enough for a gzip reader to work in
// one go, small enough for the processor's cache.
const bufferSize = 64 << 10

// maxNesting is how deep values may be, as in encoding/json.
const maxNesting = 10_000

// scanner walks over JSON in a stream. Of what nobody asks for only the brackets
// and quotes count.
type scanner struct {
	r       io.Reader
	buf     []byte // unread bytes are buf[pos:]
	pos     int
	base    int64 // offset of buf in the stream
	readErr error
	// held: a value that began in the buffer is still wanted; what of it had to
	// make room is in part.
	held     bool
	from     int // with held: the value goes on at buf[from]
	part     []byte
	nesting  []byte // open brackets
	key      []byte
	interned []string
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, 0, bufferSize), interned: make([]string, internSize)}
}

// more reads on at the end of the buffer; false means that there is nothing
// left, or no way to get it.
func (s *scanner) more() bool {
	if s.pos < len(s.buf) {
		return true
	}
	if s.held {
		s.part = append(s.part, s.buf[s.from:]...)
		s.from = 0
		if len(s.part) > bounded.Object && s.readErr == nil {
			s.readErr = &bounded.TooLarge{Most: bounded.Object}
		}
	}
	s.base += int64(len(s.buf))
	s.buf, s.pos = s.buf[:0], 0
	for empty := 0; s.readErr == nil && len(s.buf) == 0; empty++ {
		if empty == 100 {
			s.readErr = io.ErrNoProgress
			break
		}
		var n int
		n, s.readErr = s.r.Read(s.buf[:cap(s.buf)])
		s.buf = s.buf[:n]
	}
	return len(s.buf) > 0
}

// end returns the error of a stream that ends too early.
func (s *scanner) end() error {
	if s.readErr == nil || s.readErr == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return s.readErr
}

func (s *scanner) syntax(what string) error {
	return fmt.Errorf("%w: %s at byte %d", ErrSyntax, what, s.base+int64(s.pos))
}

// peek returns the next byte that is not white space, without taking it.
func (s *scanner) peek() (byte, error) {
	for {
		if s.pos < len(s.buf) {
			switch c := s.buf[s.pos]; c {
			case ' ', '\n', '\t', '\r':
				s.pos++
			default:
				return c, nil
			}
		} else if !s.more() {
			return 0, s.end()
		}
	}
}

// next goes to the next member of a list or an object, or past its end. first
// says that there was none before.
func (s *scanner) next(closing byte, first bool) (ok bool, err error) {
	c, err := s.peek()
	switch {
	case err != nil:
		return false, err
	case c == closing:
		s.pos++
		return false, nil
	case first:
		return true, nil
	case c != ',':
		return false, s.syntax("expected a comma")
	}
	s.pos++
	if c, err = s.peek(); err == nil && c == closing {
		return false, s.syntax("an extra comma")
	}
	return err == nil, err
}

// members calls f for every member of an object, at its value; f takes the
// value. name lasts until f reads on.
func (s *scanner) members(f func(name []byte) error) error {
	s.pos++
	for first := true; ; first = false {
		ok, err := s.next('}', first)
		if err != nil || !ok {
			return err
		}
		if c, err := s.peek(); err != nil {
			return err
		} else if c != '"' {
			return s.syntax("expected a key")
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := f(name); err != nil {
			return err
		}
	}
}

// name takes a key and its colon.
func (s *scanner) name() ([]byte, error) {
	raw, err := s.raw()
	if err != nil {
		return nil, err
	}
	name := raw[1 : len(raw)-1]
	if !plain(name) {
		text, err := s.unquote(raw)
		if err != nil {
			return nil, err
		}
		name = []byte(text)
	}
	if s.pos+1 < len(s.buf) && s.buf[s.pos] == ':' {
		s.pos++
		return name, nil
	}
	// Looking for the colon may read on, and replace what the name lies in.
	s.key = append(s.key[:0], name...)
	c, err := s.peek()
	if err == nil && c != ':' {
		err = s.syntax("expected a colon")
	}
	if err != nil {
		return nil, err
	}
	s.pos++
	return s.key, nil
}

// raw takes a value and returns its text, which lasts until more is read.
func (s *scanner) raw() ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	s.held, s.from, s.part = true, s.pos, s.part[:0]
	err := s.pass()
	s.held = false
	if err != nil {
		return nil, err
	}
	if len(s.part) == 0 {
		return s.buf[s.from:s.pos], nil
	}
	s.part = append(s.part, s.buf[s.from:s.pos]...)
	return s.part, nil
}

// text takes a string and returns what it means.
func (s *scanner) text() (string, error) {
	raw, err := s.raw()
	if err != nil {
		return "", err
	}
	if inner := raw[1 : len(raw)-1]; plain(inner) {
		return s.intern(inner), nil
	}
	return s.unquote(raw)
}

// pass passes over a value.
func (s *scanner) pass() error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		return s.passString()
	case '{', '[':
		return s.passNested()
	}
	return s.passWord()
}

// passString passes over a string.
func (s *scanner) passString() error {
	s.pos++
	for {
		if !s.more() {
			return s.end()
		}
		b := s.buf[s.pos:]
		i := bytes.IndexByte(b, '"')
		if i < 0 {
			s.pos = len(s.buf)
			if escaping(b) { // the byte it is about has not been read yet
				if !s.more() {
					return s.end()
				}
				s.pos++
			}
			continue
		}
		s.pos += i + 1
		if !escaping(b[:i]) {
			return nil
		}
	}
}

// escaping reports a text after which a quote does not end a string.
func escaping(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// passNested passes over an object or a list.
func (s *scanner) passNested() error {
	s.nesting = s.nesting[:0]
	for {
		if !s.more() {
			return s.end()
		}
		b := s.buf[s.pos:]
		i := 0
		for i < len(b) && !stops[b[i]] {
			i++
		}
		s.pos += i
		if i == len(b) {
			continue
		}
		switch c := b[i]; c {
		case '"':
			// Most strings end in this buffer and escape nothing.
			if n := bytes.IndexByte(b[i+1:], '"'); n >= 0 && b[i+n] != '\\' {
				s.pos += n + 2
			} else if err := s.passString(); err != nil {
				return err
			}
		case '{', '[':
			if len(s.nesting) == maxNesting {
				return s.syntax("brackets are nested too deeply")
			}
			s.nesting = append(s.nesting, c+2) // '{'+2 is '}', '['+2 is ']'
			s.pos++
		default:
			top := len(s.nesting) - 1
			if s.nesting[top] != c {
				return s.syntax("brackets do not match")
			}
			s.nesting = s.nesting[:top]
			s.pos++
			if top == 0 {
				return nil
			}
		}
	}
}

// stops are the bytes that matter outside of strings.
var stops = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// passWord passes over a number, true, false or null.
func (s *scanner) passWord() error {
	n := 0
	for s.more() {
		b := s.buf[s.pos:]
		i := 0
		for i < len(b) && word(b[i]) {
			i++
		}
		s.pos += i
		n += i
		if i < len(b) {
			break
		}
	}
	if n == 0 {
		if s.pos == len(s.buf) {
			return s.end()
		}
		return s.syntax("expected a value")
	}
	return nil
}

func word(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// plain reports a string that means itself: ASCII without escapes and control
// characters.
func plain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c >= 0x80 || c == '\\' {
			return false
		}
	}
	return true
}

// unquote returns what a string means.
func (s *scanner) unquote(raw []byte) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", s.syntax("not a string")
	}
	return text, nil
}

const (
	internSize = 1 << 10
	internMax  = 64
)

// intern returns b as a string. Lists repeat the same short strings thousands of
// times (label keys, reasons, queue names): the ones seen lately are shared.
func (s *scanner) intern(b []byte) string {
	if len(b) == 0 || len(b) > internMax {
		return string(b)
	}
	h := uint32(2166136261) // FNV-1a
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	slot := &s.interned[(h^h>>16)%internSize]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}
