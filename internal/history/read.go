package history

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/parallel"
)

// ErrEmpty is the error of a folder without samples.
var ErrEmpty = errors.New("the store has no samples")

// Read returns what a store knows from one time to another; jobs also have the phase that began before. It does
// not disturb a recorder that writes meanwhile.
func Read(dir string, from, to time.Time) (*Data, error) {
	list, err := segments(dir)
	if err != nil {
		return nil, err
	}
	var wanted []stored
	for i, s := range list {
		if i+1 < len(list) && !list[i+1].start.After(from) {
			continue
		}
		wanted = append(wanted, s)
		if s.start.After(to) { // its first sample ends what was open
			break
		}
	}
	parsed, err := parallel.Map(wanted, func(s stored) (segment, error) {
		path, data, err := s.read(dir)
		if errors.Is(err, fs.ErrNotExist) { // its time to be kept has passed
			return segment{}, nil
		}
		if err != nil {
			return segment{}, err
		}
		return parse(path, data)
	})
	if err != nil {
		return nil, err
	}
	m := newMerger(from, to)
	for i, s := range parsed {
		if (s.Format == 0 || !s.whole) && i < len(parsed)-1 {
			m.out.Damaged = append(m.out.Damaged, wanted[i].name)
		}
		m.out.Cluster = cmp.Or(m.out.Cluster, s.Cluster)
		for n, l := range s.lines {
			m.add(l, n == 0)
		}
	}
	if m.out.Samples == 0 {
		return nil, ErrEmpty
	}
	return m.data(), nil
}

// Last returns when the last sample of a store was taken.
func Last(dir string) (time.Time, error) {
	list, err := segments(dir)
	if err != nil {
		return time.Time{}, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		path, data, err := list[i].read(dir)
		if err != nil {
			return time.Time{}, err
		}
		s, err := parse(path, data)
		if err != nil {
			return time.Time{}, err
		}
		if n := len(s.lines); n > 0 {
			return unix(s.lines[n-1].Time), nil
		}
	}
	return time.Time{}, ErrEmpty
}

// Of returns what one observation knows, as Read does of a store with one sample.
func Of(cluster string, o Observation, from time.Time) *Data {
	l, _ := newLive().next(o, true)
	m := newMerger(from, o.Time)
	m.out.Cluster = cluster
	m.add(l, true)
	return m.data()
}

// merger joins lines to Data.
type merger struct {
	from, to time.Time
	out      *Data
	at       time.Time
	later    bool // a sample after to was seen
	live     *live
	tracks   map[string]*Track
	queues   map[QueueKey]*Series[QueueKey, QueueFigures]
	nodes    map[NodeKey]*Series[NodeKey, NodeFigures]
}

func newMerger(from, to time.Time) *merger {
	return &merger{from: from, to: to, out: &Data{}, live: newLive(), tracks: map[string]*Track{},
		queues: map[QueueKey]*Series[QueueKey, QueueFigures]{}, nodes: map[NodeKey]*Series[NodeKey, NodeFigures]{}}
}

func (m *merger) add(l line, first bool) {
	t := unix(l.Time)
	if !t.After(m.at) && !m.at.IsZero() {
		return // never twice
	}
	later := t.After(m.to)
	if last := m.at; !m.later && !last.IsZero() && t.Sub(last) <= time.Duration(Slack*float64(l.Pace)*float64(time.Second)) {
		if n := len(m.out.Covered); n > 0 && m.out.Covered[n-1].To.Equal(last) {
			m.out.Covered[n-1].To = t
		} else {
			m.out.Covered = append(m.out.Covered, Span{last, t})
		}
	}
	if later {
		// It knows when phases before had begun.
		if !m.at.IsZero() {
			m.out.Until = m.to
		}
		m.later = true
		m.jobs(l, first)
		return
	}
	if m.at.IsZero() {
		m.out.First = t
	}
	m.at, m.out.Last, m.out.Until = t, t, t
	m.out.Samples++
	m.jobs(l, first)
	if first { // a segment starts with everything that there is
		for _, s := range m.queues {
			put(m.queues, s.Key, QueueFigures{}, t)
		}
		for _, s := range m.nodes {
			put(m.nodes, s.Key, NodeFigures{}, t)
		}
	}
	for _, q := range l.Queues {
		put(m.queues, q.Key, q.QueueFigures, t)
	}
	for _, n := range l.Nodes {
		put(m.nodes, n.Key, n.NodeFigures, t)
	}
}

func put[K comparable, V comparable](all map[K]*Series[K, V], k K, v V, t time.Time) {
	s := all[k]
	if s == nil {
		s = &Series[K, V]{Key: k}
		all[k] = s
	}
	n := len(s.Points)
	if n > 0 && s.Points[n-1].Time.Equal(t) {
		s.Points = s.Points[:n-1]
		n--
	}
	if n == 0 || s.Points[n-1].Value != v {
		s.Points = append(s.Points, Point[V]{t, v})
	}
}

// jobs adds the jobs of a line.
func (m *merger) jobs(l line, first bool) {
	ids := m.live
	if first {
		ids.byID = nil
	}
	for _, j := range l.Jobs {
		for len(ids.byID) <= j.ID {
			ids.byID = append(ids.byID, "")
		}
		ids.byID[j.ID] = j.UID
		if t := m.tracks[j.UID]; t != nil {
			t.Job = j.Job
		} else {
			m.tracks[j.UID] = &Track{Job: j.Job}
		}
	}
	for _, c := range l.Changes {
		if c.ID < 0 || c.ID >= len(ids.byID) || m.tracks[ids.byID[c.ID]] == nil {
			continue
		}
		t, next := m.tracks[ids.byID[c.ID]], c.Change
		last := t.last()
		if len(t.Changes) > 0 && (next.Time.Before(last.Time) || next.Time.Equal(last.Time) && next.Phase == last.Phase && next.Reason == last.Reason) {
			continue // repeated at the begin of a segment
		}
		t.Changes = append(t.Changes, next)
	}
}

func (m *merger) data() *Data {
	for _, t := range m.tracks {
		if len(t.Changes) > 0 {
			m.out.Jobs = append(m.out.Jobs, t)
		}
	}
	slices.SortFunc(m.out.Jobs, func(a, b *Track) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
	for _, s := range m.queues {
		m.out.Queues = append(m.out.Queues, *s)
	}
	slices.SortFunc(m.out.Queues, func(a, b Series[QueueKey, QueueFigures]) int { return a.Key.compare(b.Key) })
	for _, s := range m.nodes {
		m.out.Nodes = append(m.out.Nodes, *s)
	}
	slices.SortFunc(m.out.Nodes, func(a, b Series[NodeKey, NodeFigures]) int { return a.Key.compare(b.Key) })
	return m.out
}
