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

// DamagedError is the error of a store whose samples cannot be read. Segments are the names of the files without their
// extension.
type DamagedError struct{ Segments []string }

// Error implements error.
func (e *DamagedError) Error() string {
	return "no sample can be read: damaged: " + strings.Join(e.Segments, ", ")
}

// Read returns what a store knows from one time to another; jobs also have the phase that began before. It does
// not disturb a recorder that writes meanwhile.
func Read(dir string, from, to time.Time) (*Data, error) {
	list, err := segments(dir)
	if err != nil {
		return nil, err
	}
	begin := 0
	for begin+1 < len(list) && !list[begin+1].start.After(from) {
		begin++
	}
	end := begin
	for end < len(list) && (end == begin || !list[end-1].start.After(to)) { // the first sample of the last one ends what was open
		end++
	}
	m := newMerger(from, to)
	var unread []string
	last := "" // the segment that was read last, if not whole: it may be in use
	one := func(s stored) (segment, error) {
		path, data, err := s.read(dir)
		if errors.Is(err, fs.ErrNotExist) { // its time to be kept has passed
			return segment{}, nil
		}
		if err != nil {
			return segment{}, err
		}
		p, err := parse(path, data)
		p.damaged = len(p.lines) == 0 && !torn(data)
		return p, err
	}
	add := func(i int, s segment) {
		if s.damaged {
			unread = append(unread, list[i].name)
		}
		if last != "" {
			m.out.Damaged = append(m.out.Damaged, last)
		}
		if last = ""; s.Format == 0 || !s.whole {
			last = list[i].name
		}
		m.out.Cluster = cmp.Or(m.out.Cluster, s.Cluster)
		for n, l := range s.lines {
			m.add(l, n == 0)
		}
	}
	err = parallel.InOrder(list[begin:end], one, func(i int, s segment) { add(begin+i, s) })
	for ; err == nil && !m.later && end < len(list); end++ { // no sample of the last one could be read
		var s segment
		if s, err = one(list[end]); err == nil {
			add(end, s)
		}
	}
	if err != nil {
		return nil, err
	}
	if m.out.First.IsZero() && len(unread) > 0 {
		return nil, &DamagedError{unread}
	}
	if m.out.First.IsZero() {
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
	var unread []string
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
		if !torn(data) {
			unread = append(unread, list[i].name)
		}
	}
	if len(unread) > 0 {
		return time.Time{}, &DamagedError{unread}
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

// Jobs get room for their first changes together: most have no more.
const (
	firstChanges = 3
	roomFor      = 1000 * firstChanges
)

// merger joins lines to Data.
type merger struct {
	from, to time.Time
	out      *Data
	at       time.Time
	later    bool // a sample after to was seen
	kept     keeper
	tracks   map[string]*Track // by UID
	all      []*Track          // in the order of the store
	byID     []*Track          // of the segment
	room     []Change          // for the first changes of jobs
	queues   map[QueueKey]*Series[QueueKey, QueueFigures]
	nodes    map[NodeKey]*Series[NodeKey, NodeFigures]
}

func newMerger(from, to time.Time) *merger {
	return &merger{from: from, to: to, out: &Data{}, kept: keeper{}, tracks: map[string]*Track{},
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
		if m.out.Until = m.to; m.out.First.IsZero() {
			m.out.First = t
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
			put(s, QueueFigures{}, t)
		}
		for _, s := range m.nodes {
			put(s, NodeFigures{}, t)
		}
	}
	for _, q := range l.Queues {
		put(seriesOf(m.queues, q.Key, m.kept.queue), q.QueueFigures, t)
	}
	for _, n := range l.Nodes {
		put(seriesOf(m.nodes, n.Key, m.kept.node), n.NodeFigures, t)
	}
}

// seriesOf returns the series of a key; keep copies the key of a new one.
func seriesOf[K, V comparable](all map[K]*Series[K, V], k K, keep func(K) K) *Series[K, V] {
	s := all[k]
	if s == nil {
		s = &Series[K, V]{Key: keep(k)}
		all[s.Key] = s
	}
	return s
}

// put adds a value from a time on.
func put[K, V comparable](s *Series[K, V], v V, t time.Time) {
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
	if first {
		m.byID = m.byID[:0]
	}
	for _, j := range l.Jobs {
		for len(m.byID) <= j.ID {
			m.byID = append(m.byID, nil)
		}
		t := m.tracks[j.UID]
		switch {
		case t == nil:
			t = &Track{Job: m.kept.job(j.Job)}
			m.tracks[t.UID], m.all = t, append(m.all, t)
		case !t.same(j.Job):
			t.Job = m.kept.job(j.Job)
		}
		m.byID[j.ID] = t
	}
	for _, c := range l.Changes {
		if c.ID >= len(m.byID) || m.byID[c.ID] == nil {
			continue
		}
		t, n := m.byID[c.ID], len(m.byID[c.ID].Changes)
		if n > 0 {
			last := &t.Changes[n-1]
			if c.Time.Before(last.Time) || c.Time.Equal(last.Time) && c.Phase == last.Phase && c.Reason == last.Reason {
				continue // repeated at the begin of a segment
			}
		} else {
			if len(m.room) == 0 {
				m.room = make([]Change, roomFor)
			}
			t.Changes, m.room = m.room[:0:firstChanges], m.room[firstChanges:]
		}
		t.Changes = append(t.Changes, m.kept.change(c.Change))
	}
}

func (m *merger) data() *Data {
	m.out.Jobs = slices.DeleteFunc(m.all, func(t *Track) bool { return len(t.Changes) == 0 })
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
