package output

import (
	"bytes"
	"maps"
	"slices"
)

// Line is one row of a list that changes, identified by its key. The value is a struct or a map.
type Line struct {
	Key   string
	Value any
}

// Lines shows a list that changes as JSON: one object a line for each row that is
// new, changed or gone, with the key Type (ADDED, MODIFIED, DELETED) in front.
type Lines struct {
	io   *IO
	last map[string][]byte
}

// NewLines returns an empty list.
func NewLines(s *IO) *Lines { return &Lines{io: s} }

// Update shows the differences to the last rows. It returns errors of encoding and of writing.
func (l *Lines) Update(rows []Line) error {
	var b bytes.Buffer
	put := func(kind string, row []byte) {
		b.WriteString(`{"Type":"` + kind + `",`)
		b.Write(row[1:])
		b.WriteByte('\n')
	}
	now := make(map[string][]byte, len(rows))
	for _, r := range rows {
		row, err := compactJSON(r.Value)
		if err != nil {
			return err
		}
		row = escapeUnsafe(row)
		now[r.Key] = row
		switch old, had := l.last[r.Key]; {
		case !had:
			put("ADDED", row)
		case !bytes.Equal(old, row):
			put("MODIFIED", row)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.last)) {
		if _, here := now[key]; !here {
			put("DELETED", l.last[key])
		}
	}
	l.last = now
	if b.Len() == 0 {
		return nil
	}
	_, err := l.io.Out.Write(b.Bytes())
	return err
}
