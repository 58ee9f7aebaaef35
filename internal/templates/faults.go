package templates

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// lineError is a fault of a template at a line and a column (0: none).
type lineError struct {
	line, column int
	text         string
}

func (e *lineError) Error() string {
	if e.line == 0 {
		return e.text
	}
	return fmt.Sprintf("line %d: %s", e.line, e.text)
}

func faultf(line int, format string, args ...any) *lineError {
	return &lineError{line: line, text: fmt.Sprintf(format, args...)}
}

// col adds the column.
func (e *lineError) col(column int) *lineError { e.column = column; return e }

// broken is the error for a template file with faults.
func broken(source string, faults ...error) error {
	e := errs.Usagef("%s", source)
	switch len(faults) {
	case 1:
		e.Why = faults[0].Error()
	default:
		e.Why = fmt.Sprintf("%d faults", len(faults))
		for _, f := range faults {
			label, text := "fault", f.Error()
			var l *lineError
			if errors.As(f, &l) && l.line > 0 {
				label, text = fmt.Sprintf("line %d", l.line), l.text
			}
			e.WithFact(label, text)
		}
	}
	return e.WithCause(errors.Join(faults...))
}

// meant renders near names: `, did you mean a or b?`.
func meant(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return ", did you mean " + orList(near) + "?"
}

func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Faults collects what is wrong with a file, each with its line.
type Faults struct{ found []error }

// Addf notes a fault; line 0 is the file as a whole.
func (f *Faults) Addf(line int, format string, args ...any) {
	if len(f.found) < 20 {
		f.found = append(f.found, faultf(line, format, args...))
	}
}

// Err is the error for the file that lists every fault, nil when there is none.
// Its exit code is Usage.
func (f *Faults) Err(source string) error {
	if len(f.found) == 0 {
		return nil
	}
	return broken(source, f.found...)
}

// Suggest renders the accepted words nearest to one that is not accepted, as
// the end of a message.
func Suggest(have string, accepted []string) string {
	if near := errs.Near(have, accepted); len(near) > 0 {
		return meant(near)
	}
	return fmt.Sprintf(" (accepted: %s)", strings.Join(accepted, ", "))
}
