package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// LineError is a fault of a template at a line and a column (0: none).
type LineError struct {
	Line, Column int
	Text         string
}

func (e *LineError) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return Position{e.Line, e.Column}.String() + ": " + e.Text
}

// Faultf returns a fault at a line, 0 if it has none.
func Faultf(line int, format string, args ...any) *LineError {
	return &LineError{Line: line, Text: fmt.Sprintf(format, args...)}
}

// Col sets the column.
func (e *LineError) Col(column int) *LineError { e.Column = column; return e }

// Broken returns the error for a template file with faults.
func Broken(source string, faults ...error) *errs.Error {
	e := errs.Usagef("%s", source)
	switch len(faults) {
	case 1:
		e.Why = faults[0].Error()
	default:
		e.Why = fmt.Sprintf("%d faults", len(faults))
		for _, f := range faults {
			label, text := "fault", f.Error()
			var l *LineError
			if errors.As(f, &l) && l.Line > 0 {
				label, text = Position{l.Line, l.Column}.String(), l.Text
			}
			e.WithFact(label, text)
		}
	}
	return e.WithCause(errors.Join(faults...))
}

// DidYouMean returns near names as the end of a message: `; did you mean "a" or "b"?`.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	quoted := make([]string, len(near))
	for i, n := range near {
		quoted[i] = strconv.Quote(n)
	}
	return "; did you mean " + OrList(quoted) + "?"
}

// OrList joins names: `a, b or c`.
func OrList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Faults collects the faults of a file, each with its position.
type Faults struct{ found []error }

// Addf adds a fault; the zero Position means the whole file.
func (f *Faults) Addf(at Position, format string, args ...any) {
	if len(f.found) < 20 {
		f.found = append(f.found, Faultf(at.Line, format, args...).Col(at.Column))
	}
}

// Err returns the error for the file that lists every fault by its position, nil if there are none. Its exit code
// is Usage.
func (f *Faults) Err(source string) error {
	if len(f.found) == 0 {
		return nil
	}
	slices.SortStableFunc(f.found, func(a, b error) int {
		x, y := positionOf(a), positionOf(b)
		return cmp.Or(x.Line-y.Line, x.Column-y.Column)
	})
	return Broken(source, f.found...)
}

func positionOf(err error) Position {
	var l *LineError
	if errors.As(err, &l) {
		return Position{l.Line, l.Column}
	}
	return Position{}
}

// Suggest returns the valid words nearest to an invalid one, as the end of a message.
func Suggest(have string, accepted []string) string {
	if near := errs.Near(have, accepted); len(near) > 0 {
		return DidYouMean(near)
	}
	return fmt.Sprintf(" (accepted: %s)", strings.Join(accepted, ", "))
}
