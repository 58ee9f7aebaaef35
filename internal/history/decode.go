package history

import (
	"strconv"
	"strings"
)

// decoder reads the lines of a segment. What it returns shares the memory of the text; keeper copies what stays.
type decoder struct {
	amountsOf map[string]map[string]int64

	jobs   int    // in the segment so far
	entry  string // the rest of the entry
	failed bool
}

func (d *decoder) line(text string) (line, error) {
	var l line
	d.failed = false
	if n := strings.Count(text, ";J\t"); n > 0 {
		l.Jobs = make([]jobLine, 0, n)
	}
	if n := strings.Count(text, ";C\t"); n > 0 {
		l.Changes = make([]changeLine, 0, n)
	}
	for len(text) > 0 && !d.failed {
		end := strings.IndexByte(text, ';')
		if end < 1 {
			return l, errTorn
		}
		kind := text[0]
		d.entry, text = text[1:end], text[end+1:]
		switch kind {
		case 'T':
			l.Time, l.Pace = d.int(), d.int()
		case 'J':
			l.Jobs = append(l.Jobs, jobLine{d.newID(), Job{UID: d.text(), Namespace: d.text(), Name: d.text(), Kind: d.text(), Team: d.text(), Owner: d.text(),
				Project: d.text(), Priority: d.text(), InstanceType: d.text(), Devices: d.amounts()}})
		case 'C':
			l.Changes = append(l.Changes, changeLine{d.id(), Change{Time: unix(d.int()), Phase: Phase(d.text()), Reason: d.text(), Borrowed: d.amounts()}})
		case 'Q':
			l.Queues = append(l.Queues, queueLine{QueueKey{d.text(), d.text(), d.text(), d.text(), d.text()}, QueueFigures{d.int(), d.int(), d.int(), d.int(), d.int()}})
		case 'N':
			l.Nodes = append(l.Nodes, nodeLine{NodeKey{d.text(), d.text()}, NodeFigures{d.int(), d.int(), d.int(), d.int()}})
		default:
			return l, errTorn
		}
	}
	if d.failed || l.Time == 0 {
		return l, errTorn
	}
	return l, nil
}

// field returns the next field, which a tab begins.
func (d *decoder) field() string {
	if d.entry == "" || d.entry[0] != '\t' {
		d.failed = true
		return ""
	}
	d.entry = d.entry[1:]
	end := strings.IndexByte(d.entry, '\t')
	if end < 0 {
		end = len(d.entry)
	}
	out := d.entry[:end]
	d.entry = d.entry[end:]
	return out
}

func (d *decoder) int() int64 {
	s := d.field()
	negative := strings.HasPrefix(s, "-")
	if negative {
		s = s[1:]
	}
	n := int64(0)
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' || n > (1<<63-10)/10 {
			d.failed = true
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	d.failed = d.failed || s == ""
	if negative {
		return -n
	}
	return n
}

// id reads the number of a job that the segment has named.
func (d *decoder) id() int {
	n := d.int()
	d.failed = d.failed || n < 0 || n >= int64(d.jobs)
	if d.failed {
		return 0
	}
	return int(n)
}

// newID reads the number of a job that the segment names. Numbers have no gaps, so that a damaged one cannot make a reader
// reserve memory for jobs that do not exist.
func (d *decoder) newID() int {
	d.jobs++
	n := d.id()
	if n < d.jobs-1 { // named again
		d.jobs--
	}
	return n
}

func (d *decoder) text() string { return plain(d.field()) }

// plain removes the escapes.
func plain(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// amounts reads a map; those that are equal are the same.
func (d *decoder) amounts() map[string]int64 {
	s := d.field()
	if s == "" {
		return nil
	}
	if m, ok := d.amountsOf[s]; ok {
		return m
	}
	m := map[string]int64{}
	if s != "0" {
		for pair := range strings.SplitSeq(strings.Clone(s), ",") {
			name, number, ok := strings.Cut(pair, "=")
			n, err := strconv.ParseInt(number, 10, 64)
			if !ok || err != nil {
				d.failed = true
				return nil
			}
			m[plain(name)] = n
		}
	}
	d.amountsOf[s] = m
	return m
}

// keeper copies texts out of the text of a segment, each that occurs again once.
type keeper map[string]string

func (k keeper) text(s string) string {
	if s == "" {
		return ""
	}
	kept, ok := k[s]
	if !ok {
		kept = strings.Clone(s)
		k[kept] = kept
	}
	return kept
}

func (k keeper) job(j Job) Job {
	j.UID, j.Name = strings.Clone(j.UID), strings.Clone(j.Name)
	for _, s := range []*string{&j.Namespace, &j.Kind, &j.Team, &j.Owner, &j.Project, &j.Priority, &j.InstanceType} {
		*s = k.text(*s)
	}
	return j
}

func (k keeper) change(c Change) Change {
	c.Phase, c.Reason = Phase(k.text(string(c.Phase))), k.text(c.Reason)
	return c
}

func (k keeper) queue(q QueueKey) QueueKey {
	return QueueKey{k.text(q.Queue), k.text(q.Team), k.text(q.Flavor), k.text(q.InstanceType), k.text(q.Resource)}
}

func (k keeper) node(n NodeKey) NodeKey {
	return NodeKey{k.text(n.InstanceType), k.text(n.Resource)}
}
