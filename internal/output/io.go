// Package output turns results into what people and scripts read: tables, JSON, YAML, names, jsonpath and custom
// columns, progress lines and live tables. IO holds what the terminal can do; everything else is a function of values.
package output

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output/noprobe"
)

func init() { noprobe.Restore() }

// IO is the standard input and output of a command and what they can do. The fields may be set freely; IO has
// no hidden state.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY, OutTTY and ErrTTY say which of them are terminals.
	InTTY, OutTTY, ErrTTY bool
	// Width and Height are the terminal's columns and lines; 0 is unlimited.
	Width, Height int
	// Color and ErrColor allow escape sequences for color on Out and Err.
	Color, ErrColor bool
	// Cursor allows escape sequences that move the cursor of Out: a terminal that
	// is not dumb, and no NO_COLOR.
	Cursor bool
	// UTF8 reports that the locale can show more than ASCII.
	UTF8 bool
	// Quiet silences progress lines and the notice of an empty table.
	Quiet bool
	// Now is the clock.
	Now func() time.Time

	// measure asks the terminal for its size again; nil where there is none.
	measure func() (width, height int)
}

// System returns the standard input and output of this process, with color as for --color auto. From then on, a write to
// a closed pipe returns an error (see IsBrokenPipe) and no longer ends the process.
func System(env func(string) string) *IO {
	// Notify and not Ignore: programs started from here must not inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s := &IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		UTF8:   utf8Locale(env),
		Now:    time.Now,
	}
	if s.OutTTY {
		s.measure = func() (int, int) { return size(os.Stdout, env) }
	} else if s.ErrTTY {
		s.measure = func() (int, int) { return size(os.Stderr, env) }
	}
	s.remeasure()
	enableEscapes()
	s.SetColor(ColorAuto, env)
	return s
}

// remeasure follows a terminal whose size changes.
func (s *IO) remeasure() {
	if s.measure != nil {
		s.Width, s.Height = s.measure()
	}
}

// size returns the columns and lines of a terminal. COLUMNS and LINES win, as
// they are a person's wish.
func size(f *os.File, env func(string) string) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width, height = 0, 0
	}
	if n := positive(env("COLUMNS")); n > 0 {
		width = n
	}
	if n := positive(env("LINES")); n > 0 {
		height = n
	}
	return width, height
}

// positive returns the number that s is, or 0.
func positive(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 9999 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// Buffers are the three streams of a Test IO.
type Buffers struct{ In, Out, Err *bytes.Buffer }

// Test returns an IO over buffers: no terminal, no color, UTF-8, and a clock
// that stands at 2026-01-02 03:04:05 UTC. Set the fields for anything else.
func Test() (*IO, Buffers) {
	b := Buffers{new(bytes.Buffer), new(bytes.Buffer), new(bytes.Buffer)}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &IO{In: b.In, Out: b.Out, Err: b.Err, UTF8: true, Now: func() time.Time { return now }}, b
}

// ColorMode is the value of --color.
type ColorMode string

// The color modes.
const (
	ColorAuto   ColorMode = "auto"
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// ParseColor parses the value of --color; empty is auto.
func ParseColor(s string) (ColorMode, error) {
	switch m := ColorMode(strings.ToLower(s)); m {
	case "":
		return ColorAuto, nil
	case ColorAuto, ColorAlways, ColorNever:
		return m, nil
	}
	modes := []string{string(ColorAuto), string(ColorAlways), string(ColorNever)}
	return ColorAuto, withNear(errs.Usagef("color mode %q not found", s), s, modes)
}

// SetColor decides on escape sequences. always and never are final. With auto, in this order: a NO_COLOR that is not
// empty means no escape sequence at all, CLICOLOR_FORCE (not empty, not 0) means color everywhere, TERM=dumb and
// CLICOLOR=0 mean none, and else terminals get color. See https://no-color.org and https://bixense.com/clicolors.
func (s *IO) SetColor(mode ColorMode, env func(string) string) {
	s.Color = colored(mode, s.OutTTY, env)
	s.ErrColor = colored(mode, s.ErrTTY, env)
	s.Cursor = s.OutTTY && env("TERM") != "dumb" && (env("NO_COLOR") == "" || mode == ColorAlways)
}

func colored(mode ColorMode, tty bool, env func(string) string) bool {
	force := env("CLICOLOR_FORCE")
	switch {
	case mode == ColorAlways:
		return true
	case mode == ColorNever || env("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case env("TERM") == "dumb" || env("CLICOLOR") == "0":
		return false
	}
	return tty
}

// utf8Locale reports whether the locale's character set is UTF-8, by the first
// of LC_ALL, LC_CTYPE and LANG that is set. Where none ever is (Windows), it is.
func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return unsetLocaleIsUTF8
}

// IsBrokenPipe reports whether err means that the reader of the output is gone, as with `| head -1`. The command then
// stops without an error message.
func IsBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || brokenPipe(err)
}

// withNear adds the names that exist, and those that may have been meant.
func withNear(e *errs.Error, got string, names []string) *errs.Error {
	e.WithFact("available", strings.Join(names, ", "))
	if near := errs.Near(got, names); len(near) > 0 {
		e.WithFact("did you mean", strings.Join(near, ", "))
	}
	return e
}
