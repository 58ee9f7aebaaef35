package history

import (
	"bytes"
	"strconv"
)

// decoder reads lines. Texts and amounts that occur again are shared.
type decoder struct {
	known     map[string]string
	amountsOf map[string]map[string]int64

	entry  []byte // the rest of the entry
	failed bool
}

func (d *decoder) line(text []byte) (line, error) {
	var l line
	d.failed = false
	for len(text) > 0 && !d.failed {
		end := bytes.IndexByte(text, ';')
		if end < 1 {
			return l, errTorn
		}
		kind := text[0]
		d.entry, text = text[1:end], text[end+1:]
		switch kind {
		case 'T':
			l.Time, l.Pace = d.int(), d.int()
		case 'J':
			l.Jobs = append(l.Jobs, jobLine{int(d.int()), Job{UID: string(d.field()), Namespace: d.text(), Name: d.unique(), Kind: d.text(), Team: d.text(), Owner: d.text(),
				Project: d.text(), Priority: d.text(), InstanceType: d.text(), Devices: d.amounts()}})
		case 'C':
			l.Changes = append(l.Changes, changeLine{int(d.int()), Change{Time: unix(d.int()), Phase: Phase(d.text()), Reason: d.text(), Borrowed: d.amounts()}})
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
func (d *decoder) field() []byte {
	if len(d.entry) == 0 || d.entry[0] != '\t' {
		d.failed = true
		return nil
	}
	d.entry = d.entry[1:]
	end := bytes.IndexByte(d.entry, '\t')
	if end < 0 {
		end = len(d.entry)
	}
	out := d.entry[:end]
	d.entry = d.entry[end:]
	return out
}

func (d *decoder) int() int64 {
	b := d.field()
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' || n > (1<<63-10)/10 {
			d.failed = true
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	d.failed = d.failed || len(b) == 0
	if negative {
		return -n
	}
	return n
}

// text returns a field that is likely to occur again.
func (d *decoder) text() string {
	b := d.field()
	if len(b) == 0 {
		return ""
	}
	if s, ok := d.known[string(b)]; ok {
		return s
	}
	s := plain(b)
	d.known[string(b)] = s
	return s
}

// unique returns a field that occurs once.
func (d *decoder) unique() string { return plain(d.field()) }

// plain removes the escapes.
func plain(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+2 < len(b) {
			if n, err := strconv.ParseUint(string(b[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, b[i])
	}
	return string(out)
}

func (d *decoder) amounts() map[string]int64 {
	b := d.field()
	if len(b) == 0 {
		return nil
	}
	if m, ok := d.amountsOf[string(b)]; ok {
		return m
	}
	m := map[string]int64{}
	if string(b) != "0" {
		for pair := range bytes.SplitSeq(b, []byte(",")) {
			name, number, ok := bytes.Cut(pair, []byte("="))
			n, err := strconv.ParseInt(string(number), 10, 64)
			if !ok || err != nil {
				d.failed = true
				return nil
			}
			m[plain(name)] = n
		}
	}
	d.amountsOf[string(b)] = m
	return m
}
