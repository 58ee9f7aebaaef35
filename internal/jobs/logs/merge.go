package logs

import (
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// feed is one stream of several that are put in the order of time. The lines of a
// batch are in the stream's own buffer, so it reads on only when they are used.
type feed struct {
	*stream
	batches chan []Line
	used    chan struct{}
	lines   []Line // what is left of the batch
	err     error  // valid once batches is closed
}

// merge reads streams at the same time and gives their lines in the order of
// their stamps. It returns how many could not be read to the end.
func merge(ctx context.Context, m *mux, streams []*stream) (skipped int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var running crash.Group
	defer running.Wait()
	defer cancel()
	feeds := make([]*feed, len(streams))
	for i, s := range streams {
		f := &feed{stream: s, batches: make(chan []Line), used: make(chan struct{})}
		s.give = func(lines []Line) error { return f.hand(ctx, lines) }
		feeds[i] = f
		running.Go(func() {
			f.err = s.run(ctx)
			close(f.batches)
		})
		if err := m.event(Event{Kind: Started, Source: &s.Source}); err != nil {
			return 0, err
		}
	}
	live := feeds[:0:0]
	for _, f := range feeds {
		more, err := f.fill(ctx, m)
		switch {
		case err != nil:
			return skipped, err
		case more:
			live = append(live, f)
		case f.err != nil:
			skipped++
		}
	}
	earlier := func(a, b *feed) int { return a.lines[0].Time.Compare(b.lines[0].Time) }
	slices.SortStableFunc(live, earlier)
	for len(live) > 0 {
		f, others := live[0], live[1:]
		more, err := f.emit(ctx, m, others)
		if err != nil {
			return skipped, err
		}
		if !more {
			live = others
			if f.err != nil {
				skipped++
			}
			continue
		}
		at, _ := slices.BinarySearchFunc(others, f, earlier)
		copy(live, others[:at])
		live[at] = f
	}
	return skipped, ctx.Err()
}

// hand gives a batch to the merge and waits until it is used up.
func (f *feed) hand(ctx context.Context, lines []Line) error {
	select {
	case f.batches <- lines:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-f.used:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fill waits for the next batch; false when there is none.
func (f *feed) fill(ctx context.Context, m *mux) (bool, error) {
	var ok bool
	f.lines, ok = <-f.batches
	if ok {
		return true, nil
	}
	m.end(&f.Source)
	if f.err != nil && ctx.Err() == nil {
		return false, m.event(Event{Kind: Skipped, Source: &f.Source, Err: explain(f.Source, f.err)})
	}
	return false, ctx.Err()
}

// emit gives the lines of the feed that are due before those of all others, and
// the whole of a line that was begun; false when the feed has no more.
func (f *feed) emit(ctx context.Context, m *mux, others []*feed) (bool, error) {
	n := len(f.lines)
	if len(others) > 0 {
		next := others[0].lines[0].Time
		n = 1
		for n < len(f.lines) && (f.lines[n-1].More || !f.lines[n].Time.After(next)) {
			n++
		}
	}
	open := f.lines[n-1].More
	if err := m.write(&f.Source, f.lines[:n]); err != nil {
		return false, err
	}
	if f.lines = f.lines[n:]; len(f.lines) > 0 {
		return true, nil
	}
	select {
	case f.used <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	more, err := f.fill(ctx, m)
	if open && more && err == nil && f.lines[0].Rest {
		return f.emit(ctx, m, others)
	}
	return more, err
}
