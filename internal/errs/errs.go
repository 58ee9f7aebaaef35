// Package errs holds the one error value that reaches people: what failed, why,
// what to do about it, and which exit code a script sees.
package errs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
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
	Try   []Suggestion
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
		out.What, out.Why, out.Cause = what, cause.Error(), cause
		// A wrapper that adds lines must not write into the cause's.
		out.Facts, out.Try = slices.Clip(e.Facts), slices.Clip(e.Try)
		return &out
	}
	return &Error{What: what, Why: cause.Error(), Code: ExitOf(cause), Cause: cause}
}

// WithFact adds a labelled line and returns e.
func (e *Error) WithFact(label, text string) *Error {
	e.Facts = append(e.Facts, Fact{Label: label, Text: text})
	return e
}

// WithAdvice adds what to do where no command does it, and returns e.
func (e *Error) WithAdvice(text string) *Error { return e.WithFact("advice", text) }

// Suggest adds things to try that e does not have yet, and returns e.
func (e *Error) Suggest(list ...Suggestion) *Error {
	for _, s := range list {
		if !slices.ContainsFunc(e.Try, func(t Suggestion) bool { return t.String() == s.String() }) {
			e.Try = append(e.Try, s)
		}
	}
	return e
}

// WithCode sets the exit code and returns e.
func (e *Error) WithCode(c Exit) *Error { e.Code = c; return e }

// WithCause sets the cause and returns e.
func (e *Error) WithCause(err error) *Error { e.Cause = err; return e }

// ExitOf maps any error to its exit code: nil is OK, an Error has its own, a
// cancelled context is Interrupted, a passed deadline is Timeout, Silent its own.
// An Error without a code has its cause's, else Failure: it is never OK.
func ExitOf(err error) Exit {
	var e *Error
	var silent Silent
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e) && e.Code != OK:
		return e.Code
	case errors.As(err, &e) && e.Cause != nil:
		return ExitOf(e.Cause)
	case errors.As(err, &silent):
		return silent.Code
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Failure
}

// FreeSpace is the advice where NoSpace.
const FreeSpace = "free space on the disk of the file"

// NoSpace reports that a file of this machine could not be written because its disk is full, or the user's part of it.
func NoSpace(err error) bool { return noSpace(runtime.GOOS, err) }

// noSpace is NoSpace on an operating system.
func noSpace(system string, err error) bool {
	const (
		handleDiskFull syscall.Errno = 39 // ERROR_HANDLE_DISK_FULL
		diskFull       syscall.Errno = 112
		quotaExceeded  syscall.Errno = 1295 // ERROR_DISK_QUOTA_EXCEEDED
	)
	if system == "windows" {
		return errors.Is(err, diskFull) || errors.Is(err, handleDiskFull) || errors.Is(err, quotaExceeded)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// FileReason returns the cause of a file's error without its path, for messages that name the file themselves.
func FileReason(err error) string {
	var path *fs.PathError
	var link *os.LinkError // a rename's
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}

// Text renders an error as people see it on stderr, ending in a newline. With
// debug the chain of causes follows.
func Text(err error, debug bool) string {
	var b strings.Builder
	for _, l := range Lines(err, debug) {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// Line is a line of an error as people see it.
type Line struct {
	// Head is what stands before Text: a label and blanks.
	Head, Text string
	// Pasted means that Text is a command line to paste. Note says what it does.
	Pasted bool
	Note   string
}

// mostText is how many characters of a line are shown. The values on a command line, and answers, can have any length.
const mostText = 2000

// shorten returns a text with its middle left out if it is too long for a screen.
func shorten(text string) string {
	if len(text) <= mostText {
		return text
	}
	runes := []rune(text)
	left := len(runes) - mostText
	if left <= 0 {
		return text
	}
	const end = mostText / 4
	return fmt.Sprintf("%s … (%d characters left out) … %s", string(runes[:mostText-end]), left, string(runes[len(runes)-end:]))
}

// String returns the whole line.
func (l Line) String() string {
	text := l.Head + l.Text
	if l.Note != "" {
		text += noteMark + l.Note
	}
	return strings.TrimRight(text, " ")
}

// Lines returns the lines of an error: what failed and why, then facts and suggestions with their labels, and with
// debug the chain of causes. Lines that are not for pasting are shortened.
func Lines(err error, debug bool) (out []Line) {
	head := "Error: "
	for text := range strings.SplitSeq(err.Error(), "\n") {
		out, head = append(out, Line{Head: head, Text: text}), ""
	}
	if e := new(Error); errors.As(err, &e) {
		out = append(out, e.details()...)
	}
	if debug {
		eachCause(err, func(text string) { out = append(out, labelled(len(causedBy)+1, causedBy, text)...) })
	}
	for i := range out {
		if !out[i].Pasted {
			out[i].Text = shorten(out[i].Text)
		}
	}
	return out
}

// eachCause calls f for the causes of err, depth first where there are several.
func eachCause(err error, f func(text string)) {
	var causes []error
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		causes = []error{u.Unwrap()}
	case interface{ Unwrap() []error }:
		causes = u.Unwrap()
	}
	for _, c := range causes {
		if c != nil {
			f(c.Error())
			eachCause(c, f)
		}
	}
}

const causedBy = "caused by:"

// labelled returns a text behind a label, padded to a number of columns. Further lines of the text are indented alike.
func labelled(columns int, label, text string) (out []Line) {
	for part := range strings.SplitSeq(text, "\n") {
		out = append(out, Line{Head: fmt.Sprintf("  %-*s", columns, label), Text: part})
		label = ""
	}
	return out
}

// widestLabel is how many columns a label may have, such as the path of a field, before the other facts no longer line up
// with its text.
const widestLabel = 32

// details returns the lines of the facts and suggestions.
func (e *Error) details() (out []Line) {
	columns := 0
	for _, f := range e.Facts {
		if n := len(f.Label + ":  "); n <= widestLabel {
			columns = max(columns, n)
		}
	}
	if len(e.Try) > 0 {
		columns = max(columns, len("try:  "))
	}
	for _, f := range e.Facts {
		if n := len(f.Label + ":  "); n > widestLabel {
			out = append(out, labelled(n, f.Label+":", f.Text)...)
			continue
		}
		out = append(out, labelled(columns, f.Label+":", f.Text)...)
	}
	label := "try:"
	for _, t := range e.Try {
		out = append(out, Line{Head: fmt.Sprintf("  %-*s", columns, label), Text: t.WithNote("").String(), Pasted: true, Note: t.Note})
		label = ""
	}
	return out
}

// Several holds errors about several things. Each is printed on its own, in this order. The exit code is that
// of the first.
type Several []error

// Also adds an error to those before it; nil is none.
func Also(before, next error) error {
	switch {
	case before == nil:
		return next
	case next == nil:
		return before
	}
	return append(Each(before), next)
}

// Each returns the errors that an error consists of.
func Each(err error) Several {
	if all, ok := err.(Several); ok {
		return slices.Clip(all)
	}
	return Several{err}
}

func (s Several) Error() string { return errors.Join(s...).Error() }

// Unwrap returns the errors.
func (s Several) Unwrap() []error { return s }

// Silent ends a command with an exit code and no further text: what there was to
// say is on the screen already.
type Silent struct{ Code Exit }

func (s Silent) Error() string { return fmt.Sprintf("exit code %d", s.Code) }
