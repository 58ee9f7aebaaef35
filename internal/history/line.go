package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Format is the version of the files. A program that finds a newer one refuses it.
const Format = 1

// header is the first line of a segment, as JSON: other versions can read it.
type header struct {
	Format  int    `json:"hyperpodHistory"`
	Cluster string `json:"cluster"`
}

// line is a sample as it is written: what differs from the lines before it. The first line of a segment has
// everything. As text it has entries that end in ";" and fields that end in a tab; encoding/json would take most of
// the time of a report.
type line struct {
	Time int64 // Unix seconds
	// Pace is how often samples are taken, in seconds.
	Pace    int64
	Jobs    []jobLine // new ones, and those with other fields
	Changes []changeLine
	Queues  []queueLine
	Nodes   []nodeLine
}

// jobLine is a job and its number in the segment, from 0 in the order of the first lines.
type jobLine struct {
	ID int
	Job
}

type changeLine struct {
	ID int
	Change
}

type queueLine struct {
	Key QueueKey
	QueueFigures
}

type nodeLine struct {
	Key NodeKey
	NodeFigures
}

func unix(s int64) time.Time { return time.Unix(s, 0).UTC() }

// sealed puts a text into a line: checksum, space, text, line end.
func sealed(text []byte) []byte {
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text)
}

func (h header) encode() ([]byte, error) {
	text, err := json.Marshal(h)
	return sealed(text), err
}

// encode writes the entries of a sample.
func (l line) encode() []byte {
	e := encoder{}
	e.entry('T').int(l.Time).int(l.Pace)
	for _, j := range l.Jobs {
		e.entry('J').int(int64(j.ID)).text(j.UID).text(j.Namespace).text(j.Name).text(j.Kind).text(j.Team).text(j.Owner).text(j.Project).text(j.Priority).text(j.InstanceType).amounts(j.Devices)
	}
	for _, c := range l.Changes {
		e.entry('C').int(int64(c.ID)).int(c.Time.Unix()).text(string(c.Phase)).text(c.Reason).amounts(c.Borrowed)
	}
	slices.SortFunc(l.Queues, func(a, b queueLine) int { return a.Key.compare(b.Key) })
	for _, q := range l.Queues {
		e.entry('Q').text(q.Key.Queue).text(q.Key.Team).text(q.Key.Flavor).text(q.Key.InstanceType).text(q.Key.Resource)
		e.int(q.Nominal).int(q.Reserved).int(q.Borrowed).int(q.Lent).int(q.Waiting)
	}
	slices.SortFunc(l.Nodes, func(a, b nodeLine) int { return a.Key.compare(b.Key) })
	for _, n := range l.Nodes {
		e.entry('N').text(n.Key.InstanceType).text(n.Key.Resource).int(n.Capacity).int(n.Healthy).int(n.Nodes).int(n.HealthyNodes)
	}
	return sealed(append(e.b, ';'))
}

func (k QueueKey) compare(o QueueKey) int {
	return cmp.Or(cmp.Compare(k.Queue, o.Queue), cmp.Compare(k.Flavor, o.Flavor), cmp.Compare(k.Resource, o.Resource), cmp.Compare(k.Team, o.Team), cmp.Compare(k.InstanceType, o.InstanceType))
}

func (k NodeKey) compare(o NodeKey) int {
	return cmp.Or(cmp.Compare(k.InstanceType, o.InstanceType), cmp.Compare(k.Resource, o.Resource))
}

type encoder struct{ b []byte }

func (e *encoder) entry(kind byte) *encoder {
	if len(e.b) > 0 {
		e.b = append(e.b, ';')
	}
	e.b = append(e.b, kind)
	return e
}

func (e *encoder) int(n int64) *encoder {
	e.b = strconv.AppendInt(append(e.b, '\t'), n, 10)
	return e
}

// text writes a field; what separates fields and lines is escaped.
func (e *encoder) text(s string) *encoder {
	e.b = append(e.b, '\t')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\t', '\n', ';', '\\', '=', ',':
			e.b = fmt.Appendf(e.b, "\\%02x", c)
		default:
			e.b = append(e.b, c)
		}
	}
	return e
}

// amounts writes name=number pairs; the empty field is nil.
func (e *encoder) amounts(m map[string]int64) *encoder {
	if m != nil && len(m) == 0 {
		e.b = append(e.b, "\t0"...)
		return e
	}
	e.b = append(e.b, '\t')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		inner := (&encoder{}).text(name).b
		e.b = strconv.AppendInt(append(append(e.b, inner[1:]...), '='), m[name], 10)
	}
	return e
}

// errTorn is the error of a line that was cut or changed.
var errTorn = errors.New("the line is damaged")

// unseal returns the text of the first line of data, and what follows it.
func unseal(data []byte) (text, rest []byte, err error) {
	end := bytes.IndexByte(data, '\n')
	if end < 10 || data[8] != ' ' {
		return nil, data, errTorn
	}
	sum, err := strconv.ParseUint(string(data[:8]), 16, 32)
	text = data[9:end]
	if err != nil || uint32(sum) != crc32.ChecksumIEEE(text) {
		return nil, data, errTorn
	}
	return text, data[end+1:], nil
}

// NewerError is the error of a store that a newer version wrote.
type NewerError struct {
	Path   string
	Format int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("the store has format %d, and this version reads up to format %d", e.Format, Format)
}

// segment is the content of a segment.
type segment struct {
	header
	lines []line
	// good is how much of the file could be read; whole reports all of it.
	good  int
	whole bool
	// damaged reports a file whose samples cannot be read.
	damaged bool
}

// parse reads a segment up to the first damaged line. A segment without a readable header has Format 0.
func parse(path string, data []byte) (segment, error) {
	var s segment
	text, rest, err := unseal(data)
	if err != nil {
		return segment{}, nil
	}
	err = json.Unmarshal(text, &s.header) // it goes on after members of another type, which a newer version may write
	switch {
	case s.Format > Format:
		return s, &NewerError{path, s.Format}
	case err != nil || s.Format == 0:
		return segment{}, nil
	}
	d, shared := decoder{amountsOf: map[string]map[string]int64{}}, string(data)
	s.lines = make([]line, 0, bytes.Count(rest, []byte("\n")))
	for len(rest) > 0 {
		text, after, err := unseal(rest)
		if err != nil {
			break
		}
		at := len(data) - len(rest) + len("00000000 ")
		l, err := d.line(shared[at : at+len(text)])
		if err != nil {
			break
		}
		s.lines, rest = append(s.lines, l), after
	}
	s.good, s.whole = len(data)-len(rest), len(rest) == 0
	return s, nil
}
