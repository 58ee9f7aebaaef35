package logs

import (
	"context"
	"errors"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

const (
	// linger is how long a stream may go on after its container ended: the rest is
	// on its way, and a server that does not end the stream is not waited for.
	linger = 2 * time.Second
	// maxPause is the longest wait between two tries to resume.
	maxPause = 5 * time.Second
	// maxTries is how often a log that is not followed is resumed without progress.
	maxTries = 5
)

// stream reads one source to its end.
type stream struct {
	Source
	engine    Engine
	namespace string
	first     url.Values // the options of the first request
	follow    bool
	match     *regexp.Regexp
	parts     bool
	// give takes what is read.
	give func([]Line) error
	// notice receives lost connections.
	notice func(error) error

	pos    *position
	passed bool // the current line matches

	// before is the stream of the run before; this one begins when it is done.
	before *stream
	done   chan struct{}

	mu       sync.Mutex
	over     chan struct{} // closed when the run ended
	ended    bool
	previous bool // by now another run of the container has begun
	gone     bool // the log is no longer available by this name
}

func newStream(e Engine, q Query, s Source, first bool) *stream {
	st := &stream{Source: s, engine: e, namespace: q.Job.Namespace, follow: q.Follow, match: q.Match, first: url.Values{},
		pos: newPosition(), over: make(chan struct{}), done: make(chan struct{}), previous: q.Previous}
	if first {
		switch {
		case !q.SinceTime.IsZero():
			st.first.Set("sinceTime", q.SinceTime.UTC().Format(time.RFC3339))
		case q.Since > 0:
			st.first.Set("sinceSeconds", strconv.FormatInt(int64((q.Since+time.Second-1)/time.Second), 10))
		}
		if q.Tail != nil {
			st.first.Set("tailLines", strconv.FormatInt(*q.Tail, 10))
		}
	}
	return st
}

// What became of a container's run.
type fate int

const (
	runEnded    fate = iota
	runReplaced      // and the next run has begun
	runGone          // and its log can no longer be had: the pod is gone, or the container ran twice since
)

// finish tells the stream that its container's run ended.
func (s *stream) finish(f fate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.previous = s.previous || f == runReplaced
	s.gone = s.gone || f == runGone
	if !s.ended {
		s.ended = true
		close(s.over)
	}
}

func (s *stream) state() (ended, replaced, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended, s.previous, s.gone
}

// run reads until the log's end. Connections that break are made again from
// where they broke.
func (s *stream) run(ctx context.Context) error {
	pause, tries := time.Duration(0), 0
	for first := true; ; first = false {
		if !first && s.follow {
			s.check(ctx)
		}
		over, _, gone := s.state()
		if gone && !first {
			return nil
		}
		last := !s.follow || over // what is read now is all there will be
		before := s.pos.last
		opened, err := s.read(ctx, !last)
		if s.pos.last != before {
			pause, tries = 0, 0
		}
		var sunk sinkError
		switch {
		case err == nil && last:
			return nil
		case errors.As(err, &sunk):
			return sunk.err
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !opened && !s.again(err), err != nil && last && tries >= maxTries:
			return err
		case err != nil && tries == 0:
			if err := s.notice(err); err != nil {
				return err
			}
		}
		if tries++; tries > 1 || err == nil {
			// A log that ended by itself has a reason: the end of the container, which the watch reports. If it does
			// not, the log is requested again.
			pause = min(max(2*pause, 250*time.Millisecond), maxPause)
		}
		if err := s.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// wait lets time pass, or the news of the container's end come.
func (s *stream) wait(ctx context.Context, d time.Duration) error {
	over := s.over
	if ended, _, _ := s.state(); ended {
		over = nil // old news
	}
	if d == 0 {
		return nil
	}
	select {
	case <-s.engine.After(d):
	case <-over:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// check finds out whether the name still means this run: another pod may have it
// by now, or the container may have been started again.
func (s *stream) check(ctx context.Context) {
	var pod struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
		Status struct {
			ContainerStatuses     []containerRun `json:"containerStatuses"`
			InitContainerStatuses []containerRun `json:"initContainerStatuses"`
		} `json:"status"`
	}
	err := s.engine.Client.Get(ctx, kinds.Pod, s.namespace, s.Pod, &pod)
	if kube.IsNotFound(err) || err == nil && s.UID != "" && pod.Metadata.UID != s.UID {
		s.finish(runGone)
		return
	}
	for _, c := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
		switch {
		case c.Name != s.Container || c.RestartCount == s.Run:
		case c.RestartCount == s.Run+1:
			s.finish(runReplaced)
		default:
			s.finish(runGone)
		}
	}
}

type containerRun struct {
	Name         string `json:"name"`
	RestartCount int    `json:"restartCount"`
}

// again reports whether a request that was refused may work later.
func (s *stream) again(err error) bool {
	if !s.follow {
		return false
	}
	if notStarted(err) {
		return true
	}
	return !kube.IsForbidden(err) && !kube.IsUnauthorized(err) && !kube.IsNotFound(err) && !kube.IsInvalid(err)
}

// sinkError is an error of the sink.
type sinkError struct{ err error }

func (e sinkError) Error() string { return e.err.Error() }
func (e sinkError) Unwrap() error { return e.err }

// read makes one request and passes on what it returns. nil is the end of the log; opened means that the server
// began to answer.
func (s *stream) read(ctx context.Context, follow bool) (opened bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := s.engine.Client.Stream(ctx, kinds.Pod, s.namespace, s.Pod, "log", s.query(follow))
	if kube.IsNotFound(err) && s.pos.begun() {
		return true, nil // it was there and is gone
	}
	if err != nil {
		return false, err
	}
	defer body.Close()
	var reader io.Reader = body
	if follow {
		guard := s.guard(cancel)
		defer guard.stop()
		reader = guard.reader(body)
	}
	size := bufferSize
	if s.match != nil {
		size = matchLimit
	}
	lines := newSplitter(reader, size, s.parts && s.match == nil)
	for {
		batch, err := lines.next()
		if kept := s.keep(batch); len(kept) > 0 {
			if err := s.give(kept); err != nil {
				return true, sinkError{err}
			}
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			if over, _, _ := s.state(); follow && over && ctx.Err() != nil {
				err = nil // cut short by the guard; the rest is read without following
			}
			return true, err
		}
	}
}

// query returns the options of the next request: the first one's, or from where
// it broke off.
func (s *stream) query(follow bool) url.Values {
	q := url.Values{"timestamps": {"true"}, "container": {s.Container}}
	s.mu.Lock()
	if s.previous {
		q.Set("previous", "true")
	}
	s.mu.Unlock()
	if follow {
		q.Set("follow", "true")
	}
	if s.pos.begun() {
		q.Set("sinceTime", s.pos.resume().Format(time.RFC3339))
		return q
	}
	for k, v := range s.first {
		q[k] = v
	}
	return q
}

// keep returns the lines that are new and match, in place.
func (s *stream) keep(batch []Line) []Line {
	kept := batch[:0]
	for _, l := range batch {
		if !s.pos.admit(&l) {
			continue
		}
		if s.match != nil {
			if !l.Rest {
				s.passed = s.match.Match(l.Text)
			}
			if !s.passed {
				continue
			}
		}
		kept = append(kept, l)
	}
	return kept
}
