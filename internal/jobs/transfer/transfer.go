package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// Run runs a command in the pod and returns its exit code. Streams may be nil.
type Run func(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) (int, error)

// Pod is the side of the pod.
type Pod struct {
	Run Run
	// Lost reports an error of Run that another attempt may not meet.
	Lost func(error) bool
	// After is the clock.
	After func(time.Duration) <-chan time.Time
	// Resuming is called before each attempt after the first.
	Resuming func(err error)
}

// Progress counts what is copied. It may be read at any time.
type Progress struct{ done, total atomic.Int64 }

// Done returns the number of copied bytes.
func (p *Progress) Done() int64 { return p.done.Load() }

// Total returns the number of bytes to copy, as far as it is known.
func (p *Progress) Total() int64 { return p.total.Load() }

// attempts is how often a copy is tried again without progress.
const attempts = 5

// bigFile is the size from which a file is resumed in its middle.
const bigFile = 1 << 20

// CommandError is a command in the pod that failed.
type CommandError struct {
	Command string
	Code    int
	// Message is what it wrote to stderr.
	Message string
	// Removed is the number of files that it had written in part, and that are removed.
	Removed int
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("%s exited with code %d: %s", e.Command, e.Code, e.Message)
}

// NotFound reports whether the path does not exist in the pod.
func (e *CommandError) NotFound() bool {
	return strings.Contains(e.Message, "No such file or directory") || strings.Contains(e.Message, "can't change directory")
}

// Full reports whether the file system in the pod has no space left.
func (e *CommandError) Full() bool {
	return strings.Contains(e.Message, "No space left on device") || strings.Contains(e.Message, "Disk quota exceeded") || strings.Contains(e.Message, ": Wrote only ")
}

// ErrChanged says that the files in the pod are not those of the first attempt.
var ErrChanged = errors.New("the files changed while they were copied")

// tail keeps the end of what is written to it.
type tail struct{ b bytes.Buffer }

const maxMessage = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b.Write(p)
	if over := t.b.Len() - maxMessage; over > 0 {
		t.b.Next(over)
	}
	return len(p), nil
}

func (t *tail) text() string { return strings.TrimSpace(t.b.String()) }

// answer runs a command and returns what it prints. Its stdout must be short.
func (p Pod) answer(ctx context.Context, command ...string) (string, int, error) {
	var out, failure tail
	code, err := p.Run(ctx, command, nil, &out, &failure)
	return out.text(), code, err
}

// script returns a command line for the pod's shell with arguments that it does not read.
func script(text string, args ...string) []string {
	return append([]string{"sh", "-c", text, "sh"}, args...)
}

// backoff waits before another attempt. n counts attempts without progress.
func (p Pod) backoff(ctx context.Context, n int, cause error) error {
	p.Resuming(cause)
	select {
	case <-p.After(time.Second << n):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
