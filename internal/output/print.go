package output

import (
	"bytes"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/metrics"
)

// Measured is a document that can also be written as metrics (-o prometheus).
type Measured interface{ Metrics() []metrics.Family }

// Print writes a result to Out in a format, in one write; large JSON takes several. JSON, YAML, jsonpath and custom-columns
// show document. table and names make the other forms when needed; if one is nil, its format is a usage error.
func Print(s *IO, f Format, document any, table func() Table, names func() []string) error {
	if f.Name == JSON && !f.Compact {
		return writeJSON(s.Out, document)
	}
	data, err := render(s, f, document, table, names)
	if err != nil {
		return err
	}
	_, err = s.Out.Write(data)
	return err
}

// Answered is the error of a command whose exit code is its answer, after it printed with an error or none. A reader that is
// gone changes no answer.
func Answered(printed error, code errs.Exit) error {
	if code == errs.OK {
		return printed
	}
	return Outcome(printed, errs.Silent{Code: code})
}

// Outcome is the error of a command that printed, with an error or none, what it has, and failed in a part or not at all. A
// reader that is gone hides no failure.
func Outcome(printed, failed error) error {
	if printed == nil || failed != nil && IsBrokenPipe(printed) {
		return failed
	}
	return printed
}

func render(s *IO, f Format, document any, table func() Table, names func() []string) ([]byte, error) {
	switch {
	case f.IsTable() && table != nil:
		return renderTable(s, table(), f.Name == Wide)
	case f.Name == NameFormat && names != nil:
		return renderNames(s, names()), nil
	case f.Name == Prometheus:
		if m, ok := document.(Measured); ok {
			return s.visible(metrics.Text(m.Metrics())), nil
		}
	}
	switch f.Name {
	case JSON:
		return JSONLine(document)
	case YAML:
		data, err := encodeYAML(document)
		return s.visible(data), err
	case JSONPath:
		value, err := generic(document)
		if err != nil {
			return nil, err
		}
		data, err := f.path.execute(value)
		return s.visible(data), err
	case CustomColumns:
		data, err := customText(f.columns, document)
		return s.visible(data), err
	}
	return nil, errs.Usagef("this command has no output format %q", f.Name)
}

// renderTable renders a table, or says on Err that there is nothing.
func renderTable(s *IO, t Table, wide bool) ([]byte, error) {
	if len(t.Rows) == 0 && t.Empty != "" {
		if !s.Quiet {
			fmt.Fprint(s.Err, s.Lines([]errs.Line{{Text: Safe(t.Empty)}}))
		}
		return nil, nil
	}
	return t.render(s, wide)
}

func renderNames(s *IO, names []string) []byte {
	var b bytes.Buffer
	for _, n := range names {
		if s.OutTTY {
			n = Safe(n)
		}
		b.WriteString(n + "\n")
	}
	return b.Bytes()
}

// visible makes text safe where a terminal shows it; a pipe gets it as it is.
func (s *IO) visible(data []byte) []byte {
	if !s.OutTTY {
		return data
	}
	return []byte(SafeLines(string(data)))
}

// PrintTable writes a table to Out in every format, for text that contains tables.
func (s *IO) PrintTable(t Table) error {
	data, err := renderTable(s, t, false)
	if err != nil {
		return err
	}
	_, err = s.Out.Write(data)
	return err
}

// ShowTable writes a table to Err, above a prompt. --quiet does not suppress it.
func (s *IO) ShowTable(t Table) {
	e := *s
	e.OutTTY, e.Color = s.ErrTTY, s.ErrColor
	if data, err := t.render(&e, false); err == nil {
		_, _ = s.Err.Write(data)
	}
}

// Flush writes out what Out has buffered, if it is such a writer.
func (s *IO) Flush() error {
	if f, ok := s.Out.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
