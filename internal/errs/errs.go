// Package errs holds the one error value that reaches people: what failed, why,
// what to do about it, and which exit code a script sees.
package errs

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Exit is a process exit code. The codes are a contract with scripts
// (docs/exit-codes.md).
type Exit int

const (
	// OK: done, or a dry run says the job would be admitted now.
	OK Exit = 0
	// Failure: the command failed.
	Failure Exit = 1
	// Usage: the command line cannot be understood.
	Usage Exit = 2
	// No: the answer to the question asked is no (never admissible, differs, job failed).
	No Exit = 3
	// Denied: not signed in, or not allowed.
	Denied Exit = 4
	// NotFound: the named thing does not exist.
	NotFound Exit = 5
	// Pending: still waiting, or a dry run says the job would wait.
	Pending Exit = 8
	// Timeout: a wait ran out of time.
	Timeout Exit = 124
	// Interrupted: stopped by the user (Ctrl-C).
	Interrupted Exit = 130
)

// Fact is one labelled line below the first line of an error.
type Fact struct{ Label, Text string }

// Error is an error made for a person. What and Why become the first line;
// Facts and Try follow, one line each. Cause keeps the chain for errors.Is,
// errors.As and --debug; it is not printed otherwise.
type Error struct {
	What  string
	Why   string
	Facts []Fact
	Try   []string
	Code  Exit
	Cause error
}

// Error returns the first line: what failed and why.
func (e *Error) Error() string {
	switch {
	case e.Why == "":
		return e.What
	case e.What == "":
		return e.Why
	}
	return e.What + ": " + e.Why
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns an Error with exit code Failure.
func New(what, why string) *Error { return &Error{What: what, Why: why, Code: Failure} }

// Usagef returns an Error about the command line (exit code 2).
func Usagef(format string, args ...any) *Error {
	return &Error{What: fmt.Sprintf(format, args...), Code: Usage}
}

// NotFoundf returns an Error about something that does not exist (exit code 5).
func NotFoundf(format string, args ...any) *Error {
	return &Error{What: fmt.Sprintf(format, args...), Code: NotFound}
}

// Wrap returns an Error that says what failed, with the cause's own text as the
// reason. When the cause is an Error already, its reason, facts, advice and
// exit code are kept.
func Wrap(cause error, what string) *Error {
	var e *Error
	if errors.As(cause, &e) {
		out := *e
		out.What, out.Why, out.Cause = what, e.Error(), cause
		return &out
	}
	return &Error{What: what, Why: cause.Error(), Code: ExitOf(cause), Cause: cause}
}

// WithFact adds a labelled line and returns e.
func (e *Error) WithFact(label, text string) *Error {
	e.Facts = append(e.Facts, Fact{Label: label, Text: text})
	return e
}

// WithTry adds lines of advice and returns e.
func (e *Error) WithTry(lines ...string) *Error {
	e.Try = append(e.Try, lines...)
	return e
}

// WithCode sets the exit code and returns e.
func (e *Error) WithCode(c Exit) *Error { e.Code = c; return e }

// WithCause sets the cause and returns e.
func (e *Error) WithCause(err error) *Error { e.Cause = err; return e }

// ExitOf maps any error to its exit code: nil is OK, an Error has its own, a
// cancelled context is Interrupted, a passed deadline is Timeout, Silent its own.
func ExitOf(err error) Exit {
	var e *Error
	var silent Silent
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &silent):
		return silent.Code
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Failure
}

// Text renders an error as people see it on stderr, ending in a newline. With
// debug the chain of causes follows.
func Text(err error, debug bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Error: %s\n", err.Error())
	var e *Error
	if errors.As(err, &e) {
		writeDetails(&b, e)
	}
	if debug {
		for c := errors.Unwrap(err); c != nil; c = errors.Unwrap(c) {
			fmt.Fprintf(&b, "  caused by: %s\n", c.Error())
		}
	}
	return b.String()
}

func writeDetails(b *strings.Builder, e *Error) {
	width := 0
	for _, f := range e.Facts {
		width = max(width, len(f.Label)+1)
	}
	if len(e.Try) > 0 {
		width = max(width, len("try:"))
	}
	line := func(label, text string) {
		for i, part := range strings.Split(text, "\n") {
			if i > 0 {
				label = ""
			}
			fmt.Fprintf(b, "  %-*s  %s\n", width, label, part)
		}
	}
	for _, f := range e.Facts {
		line(f.Label+":", f.Text)
	}
	for i, t := range e.Try {
		label := "try:"
		if i > 0 {
			label = ""
		}
		line(label, t)
	}
}

// Silent ends a command with an exit code and no further text: what there was to
// say is on the screen already.
type Silent struct{ Code Exit }

func (s Silent) Error() string { return fmt.Sprintf("exit code %d", s.Code) }
