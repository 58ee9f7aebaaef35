package logs

import (
	"sync"
	"time"
)

// stall is how long a line that has not ended keeps the others waiting.
const stall = time.Second

// mux hands what many streams read to one sink. A stream that waits for its turn reads nothing, so a slow sink
// slows the server down.
type mux struct {
	sink  Sink
	after func(time.Duration) <-chan time.Time

	mu    sync.Mutex
	err   error   // of the sink: nothing is given to it any more
	owner *Source // whose line has not ended
	moved int     // counts what the owner gave
	freed chan struct{}
	lines int64
}

func newMux(sink Sink, after func(time.Duration) <-chan time.Time) *mux {
	return &mux{sink: sink, after: after, freed: make(chan struct{})}
}

// write gives lines of a source to the sink, when no other source is in the
// middle of a line.
func (m *mux) write(s *Source, lines []Line) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.err == nil && m.owner != nil && m.owner != s {
		freed, moved := m.freed, m.moved
		m.mu.Unlock()
		select {
		case <-freed:
		case <-m.after(stall):
		}
		m.mu.Lock()
		if m.freed == freed && m.moved == moved {
			m.release()
		}
	}
	if m.err != nil {
		return m.err
	}
	m.lines += int64(len(lines))
	m.err = m.sink.Lines(s, lines)
	m.moved++
	if lines[len(lines)-1].More {
		m.owner = s
	} else if m.owner == s {
		m.release()
	}
	return m.err
}

// end says that nothing more comes of a source.
func (m *mux) end(s *Source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owner == s {
		m.release()
	}
}

func (m *mux) release() {
	m.owner = nil
	close(m.freed)
	m.freed = make(chan struct{})
}

func (m *mux) event(e Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = m.sink.Event(e)
	}
	return m.err
}

// failure returns the sink's error.
func (m *mux) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}
