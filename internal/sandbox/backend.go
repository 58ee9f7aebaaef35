package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/control"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
	"github.com/hyperpod-cli/hyperpod/internal/turn"
)

// backend gives the API server access to the sandbox.
type backend struct{ s *Sandbox }

// Now returns the sandbox's time.
func (b backend) Now() time.Time { return b.s.Now() }

// View calls f with the current state. Everything due happens first.
func (b backend) View(ctx context.Context, f func(*store.Store) error) error {
	st, err := b.s.present(ctx)
	if err != nil {
		return err
	}
	return f(st)
}

// Update applies f and runs the controllers.
func (b backend) Update(ctx context.Context, dryRun bool, f func(*store.Store) error) ([]string, error) {
	return b.s.change(ctx, func(ctx context.Context, w *work) error {
		if w.due() {
			if err := w.settle(ctx); err != nil {
				return err
			}
		}
		if dryRun {
			return f(w.store.Clone())
		}
		if err := f(w.store); err != nil {
			return err
		}
		if changes, err := w.store.Since(w.head.Settled); err == nil && !control.Concerns(changes) {
			w.head.Settled = w.store.RV()
			return nil
		}
		return w.settle(ctx)
	})
}

// idle is how long Wait waits if nothing changes.
const idle = 10 * time.Second

// Wait returns when the state is newer than rv, or after 10 seconds.
func (b backend) Wait(ctx context.Context, rv int64) error {
	for waited := time.Duration(0); waited < idle; waited += b.s.opts.Poll {
		st, err := b.s.present(ctx)
		if err != nil {
			return err
		}
		if st.RV() > rv {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.s.news():
		case <-b.s.opts.After(b.s.opts.Poll):
		}
	}
	return nil
}

func (s *Sandbox) news() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// due reports whether an event is due by now, or an earlier change is unsettled.
func (w *work) due() bool {
	return !w.head.Next.IsZero() && !w.head.Next.After(w.now) || w.store.RV() != w.head.Settled
}

// present returns the current state. Nothing changes the returned store: each change
// makes a new one.
func (s *Sandbox) present(ctx context.Context) (*store.Store, error) {
	s.mu.Lock()
	if err := s.reload(); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	w := &work{store: s.store, head: s.head, now: s.Now()}
	s.mu.Unlock()
	if !w.due() {
		return w.store, nil
	}
	_, err := s.change(ctx, func(ctx context.Context, w *work) error {
		if !w.due() {
			return nil
		}
		return w.settle(ctx)
	})
	if unwritable(err) {
		err = s.settleUnsaved(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store, nil
}

// settleUnsaved runs the controllers of a sandbox whose file is read-only: time passes there, too. Only this process keeps the
// result. Another request may have done so meanwhile.
func (s *Sandbox) settleUnsaved(ctx context.Context) error {
	ctx, next, err := turn.Take(ctx)
	if err != nil {
		return err
	}
	defer next()
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &work{store: s.store.Clone(), head: s.head, now: s.Now()}
	if !w.due() {
		return nil
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	s.keep(w, s.seen)
	return nil
}

func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
