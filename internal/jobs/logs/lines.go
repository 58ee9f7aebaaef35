package logs

import (
	"bytes"
	"io"
	"time"
)

const (
	// bufferSize is what one stream holds. A longer line is handed on in parts.
	bufferSize = 64 << 10
	// matchLimit is how much of a line is held when lines are chosen by what is in them.
	matchLimit = 1 << 20
)

// splitter cuts what the API sends into lines and takes off their stamps.
type splitter struct {
	r io.Reader
	// buf[:n] is what was read and not given away yet.
	buf   []byte
	n     int
	given int  // how much of it the last call gave away
	parts bool // give away lines that have not ended yet
	mid   bool // the next byte continues a line that was given in part
	stamp []byte
	time  time.Time
	lines []Line
}

func newSplitter(r io.Reader, size int, parts bool) *splitter {
	return &splitter{r: r, buf: make([]byte, size), parts: parts}
}

// next reads once and returns the lines that are complete, valid until the next
// call. With an error, io.EOF included, there may be lines too. At io.EOF the last
// of them may be one that no newline ended (More); after another error what has
// no end is kept back: it comes again.
func (s *splitter) next() ([]Line, error) {
	copy(s.buf, s.buf[s.given:s.n])
	s.n -= s.given
	s.given = 0
	searched := s.n
	n, err := s.r.Read(s.buf[s.n:])
	s.n += n
	s.lines = s.lines[:0]
	for {
		i := bytes.IndexByte(s.buf[searched:s.n], '\n')
		if i < 0 {
			break
		}
		s.add(s.buf[s.given:searched+i], false)
		s.given = searched + i + 1
		searched = s.given
	}
	rest := s.buf[s.given:s.n]
	if len(rest) > 0 && (len(rest) == len(s.buf) || err == io.EOF && s.whole(rest) || err == nil && s.parts && s.begun(rest)) {
		s.add(rest, true)
		s.given = s.n
	}
	return s.lines, err
}

// begun reports whether the beginning of a line holds more than its stamp.
func (s *splitter) begun(b []byte) bool {
	if s.mid {
		return true
	}
	i := bytes.IndexByte(b, ' ')
	return i > 0 && i+1 < len(b) || i < 0 && len(b) > maxStamp
}

// whole reports whether the end of a log can be given away as it is: it is not a
// stamp that was cut off.
func (s *splitter) whole(b []byte) bool {
	return s.begun(b) || b[0] < '0' || b[0] > '9'
}

// maxStamp is longer than any stamp: 2006-01-02T15:04:05.999999999+07:00.
const maxStamp = 40

func (s *splitter) add(text []byte, more bool) {
	rest := s.mid
	s.mid = more
	if !rest {
		s.stamp, s.time = nil, time.Time{}
		if i := bytes.IndexByte(text[:min(len(text), maxStamp)], ' '); i > 0 && s.time.UnmarshalText(text[:i]) == nil {
			s.stamp, text = text[:i], text[i+1:]
			if more { // the buffer will not keep it
				s.stamp = bytes.Clone(s.stamp)
			}
		} else {
			s.time = time.Time{}
		}
	}
	s.lines = append(s.lines, Line{Stamp: s.stamp, Time: s.time, Text: text, Rest: rest, More: more})
}
