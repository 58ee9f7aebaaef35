// Package sandbox is a practice cluster in one file: a Kubernetes API server in
// process with controllers that admit, preempt, run and finish jobs by the clock.
// Several processes can use one file at the same time.
package sandbox

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/api"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/control"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
	"github.com/hyperpod-cli/hyperpod/internal/turn"
)

// Options are the clock and the waiting behavior of a sandbox. The zero value is for
// production.
type Options struct {
	// Now returns the wall clock's time (default time.Now).
	Now func() time.Time
	// After waits for the file's lock and for changes by other processes (default
	// time.After).
	After func(time.Duration) <-chan time.Time
	// LockTimeout limits the wait for another process to finish a change (default
	// 10 s).
	LockTimeout time.Duration
	// Waiting is called once with the name of the process that a change waits for; nil
	// ignores it.
	Waiting func(holder string)
	// Poll is the interval at which a watch checks for changes by other processes and
	// for due events (default 250 ms).
	Poll time.Duration
	// BodyTimeout limits how long a client of Serve sends a request body (default 30 s).
	BodyTimeout time.Duration
	// MostConnections is how many connections Serve has at a time (default 512). Each watch of a client has its own.
	MostConnections int
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 10 * time.Second
	}
	if o.Waiting == nil {
		o.Waiting = func(string) {}
	}
	if o.Poll == 0 {
		o.Poll = 250 * time.Millisecond
	}
	if o.BodyTimeout == 0 {
		o.BodyTimeout = 30 * time.Second
	}
	if o.MostConnections == 0 {
		o.MostConnections = 512
	}
	return o
}

// Sandbox is an open sandbox. It is safe for concurrent use and implements
// http.Handler.
type Sandbox struct {
	opts    Options
	file    file
	handler *api.Server
	clock   clock

	mu      sync.Mutex
	head    header
	seen    stamp // the file as it was read or written last
	store   *store.Store
	changed chan struct{} // closed and replaced at every change
}

// Open opens an existing sandbox. Errors are of type *errs.Error: the sandbox is not
// found (exit code 5), the file is damaged or of a newer version, or permission is
// missing.
func Open(path string, o Options) (*Sandbox, error) {
	s := newSandbox(path, o)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	return s, nil
}

func newSandbox(path string, o Options) *Sandbox {
	s := &Sandbox{opts: o.withDefaults(), file: newFile(path), changed: make(chan struct{})}
	s.handler = api.NewServer(backend{s})
	return s
}

// ServeHTTP answers one request of the Kubernetes API.
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Name returns the sandbox's name: the name of its file without the extension.
func (s *Sandbox) Name() string { return s.file.name() }

// Path returns the path of the sandbox's file.
func (s *Sandbox) Path() string { return s.file.path }

// Scenario returns the name of the scenario that the sandbox started as.
func (s *Sandbox) Scenario() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head.Scenario
}

// Now returns the sandbox's time: the wall clock plus all advances.
func (s *Sandbox) Now() time.Time { return s.clock.now(s.opts.Now()) }

// clock is the sandbox's clock. It has its own lock because handlers read it while a
// change holds the sandbox's lock.
type clock struct {
	mu        sync.Mutex
	offset    time.Duration
	simulated time.Time
}

func (c *clock) set(h header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset, c.simulated = time.Duration(h.Offset), h.Simulated
}

// now returns the sandbox's time. It never decreases, even if the wall clock does.
func (c *clock) now(wall time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := wall.Add(c.offset).UTC()
	if t.Before(c.simulated) {
		return c.simulated
	}
	return t
}

// maxOffset limits how far a sandbox's clock can be ahead of the wall clock. Times in
// nanoseconds end in the year 2262.
const maxOffset = 100 * 365 * 24 * time.Hour

// Advance moves the sandbox's clock forward by d. Everything that is due until then
// happens in order.
func (s *Sandbox) Advance(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return errs.New("cannot move the clock of sandbox "+s.Name(), "the duration is negative").WithCode(errs.Usage)
	}
	_, err := s.change(ctx, func(ctx context.Context, work *work) error {
		if d > maxOffset-time.Duration(work.head.Offset) {
			return errs.New("cannot move the clock of sandbox "+s.Name()+" by "+d.String(), "a sandbox's clock can be at most 100 years ahead").WithCode(errs.Usage)
		}
		work.head.Offset += Duration(d)
		work.now = work.now.Add(d)
		return work.settle(ctx)
	})
	return err
}

// work is a change in progress. It becomes visible when it is saved.
type work struct {
	store    *store.Store
	head     header
	now      time.Time
	warnings []string
}

// settle runs the controllers until nothing is due.
func (w *work) settle(ctx context.Context) error {
	r, err := control.Run(ctx, w.store, w.head.Simulated, w.now, control.Config{Duration: time.Duration(w.head.JobDuration), Settled: w.head.Settled})
	if err != nil {
		return err
	}
	w.head.Simulated, w.head.Next, w.head.Settled = w.now, r.Next, w.store.RV()
	w.warnings = append(w.warnings, r.Warnings...)
	return nil
}

// change locks the file, reads it again if another process changed it, applies f and
// saves the result.
func (s *Sandbox) change(ctx context.Context, f func(context.Context, *work) error) ([]string, error) {
	// Before the lock of the file: whoever has the turn may need that lock, too.
	ctx, next, err := turn.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer next()
	s.mu.Lock()
	defer s.mu.Unlock()
	release, err := s.file.lock(ctx, s.opts)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.reload(); err != nil {
		return nil, err
	}
	w := &work{store: s.store.Clone(), head: s.head, now: s.Now()}
	if err := f(ctx, w); err != nil {
		return w.warnings, err
	}
	if w.store.RV() == s.store.RV() && w.head == s.head {
		return w.warnings, nil
	}
	seen, err := s.file.save(w.head, w.store)
	if err != nil {
		return w.warnings, err
	}
	s.keep(w, seen)
	return w.warnings, nil
}

// keep makes a change visible.
func (s *Sandbox) keep(w *work, seen stamp) {
	s.store, s.head, s.seen = w.store, w.head, seen
	s.clock.set(w.head)
	close(s.changed)
	s.changed = make(chan struct{})
}

// load reads the file for the first time.
func (s *Sandbox) load() error {
	head, st, seen, err := s.file.load()
	if err != nil {
		return err
	}
	s.keep(&work{store: st, head: head}, seen)
	return nil
}

// reload reads the file again if another process changed it.
func (s *Sandbox) reload() error {
	if now, err := s.file.stamp(); err == nil && now.same(s.seen) {
		return nil
	}
	head, st, seen, err := s.file.load()
	if err != nil {
		return err
	}
	s.store.Follow(st)
	s.keep(&work{store: st, head: head}, seen)
	return nil
}
