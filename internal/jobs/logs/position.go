package logs

import (
	"math"
	"slices"
	"time"
)

// remembered is the number of lines that a position remembers one by one; older lines are recognized by their
// timestamp alone.
const remembered = 4096

// position is how far a log has been read: enough to resume after a lost connection without losing or repeating
// a line. The API takes a start in whole seconds only, so repeated lines are recognized by their timestamps,
// and lines with equal timestamps are counted. Timestamps need not be in order: a container's two streams get
// theirs separately.
type position struct {
	ring  []int64 // the stamps of the last lines, in nanoseconds
	at    int
	given bool  // anything was given
	first int64 // of the first line given; what is older was not asked for
	last  int64 // the latest
	floor int64 // the latest that fell out of ring

	// open is the line that was given in part: its timestamp and the number of bytes.
	open   int64
	opened int

	resumed bool
	seen    map[int64]int // what comes again after a resume

	// Of the current line:
	skip bool // it was given before
	cut  int  // bytes of it that were given before
}

func newPosition() *position {
	return &position{first: math.MaxInt64, last: math.MinInt64, floor: math.MinInt64, open: math.MinInt64}
}

// begun reports whether anything was given.
func (p *position) begun() bool { return p.given }

// resume prepares for reading again, and returns from when. Lines that are still
// to come may have stamps a little before the latest.
func (p *position) resume() time.Time {
	p.resumed, p.skip, p.cut = true, false, 0
	p.seen = make(map[int64]int, len(p.ring))
	for _, t := range p.ring {
		p.seen[t]++
	}
	return time.Unix(0, p.last).UTC().Truncate(time.Second).Add(-time.Second)
}

// admit takes off what was given before; false when nothing is left of the line
// or part.
func (p *position) admit(l *Line) bool {
	stamp := l.Time.UnixNano()
	if l.Time.IsZero() {
		return true // the API's own words
	}
	if !l.Rest {
		p.skip, p.cut = p.known(stamp), 0
		if !p.skip && p.resumed && stamp == p.open {
			p.cut = p.opened
		}
	}
	if p.skip {
		return false
	}
	if p.cut > 0 {
		n := min(p.cut, len(l.Text))
		l.Text, l.Rest, p.cut = l.Text[n:], true, p.cut-n
		if l.More && len(l.Text) == 0 {
			return false
		}
	}
	p.note(stamp, l)
	return true
}

func (p *position) known(stamp int64) bool {
	switch {
	case !p.resumed:
		return false
	case stamp < p.first || stamp <= p.floor:
		return true
	case p.seen[stamp] > 0:
		p.seen[stamp]--
		return true
	}
	return false
}

// note remembers what is given.
func (p *position) note(stamp int64, l *Line) {
	p.given, p.first, p.last = true, min(p.first, stamp), max(p.last, stamp)
	if l.More {
		if p.open != stamp || !l.Rest {
			p.open, p.opened = stamp, 0
		}
		p.opened += len(l.Text)
		return
	}
	p.open, p.opened = math.MinInt64, 0
	if len(p.ring) < remembered {
		p.ring = append(p.ring, stamp)
		return
	}
	p.floor = max(p.floor, p.ring[p.at])
	p.ring[p.at] = stamp
	p.at = (p.at + 1) % remembered
}

// inherit makes a position know what was given by another: the last lines of a
// run may have been read under the name of the next.
func (p *position) inherit(o *position) {
	p.ring, p.at = slices.Clone(o.ring), o.at
	p.first = math.MinInt64
	p.resume()
}
