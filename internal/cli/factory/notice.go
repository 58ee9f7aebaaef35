package factory

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Notef prints a notice on stderr, unless --quiet.
func (f *Factory) Notef(format string, args ...any) {
	if !f.Global.Quiet {
		f.printing.Lock()
		defer f.printing.Unlock()
		for _, line := range output.WrapText(output.Safe(fmt.Sprintf(format, args...)), f.IO.ErrWidth()) {
			fmt.Fprintln(f.IO.Err, line)
		}
	}
}

// NoteCommand prints a notice that ends in a command line to paste, unless --quiet.
func (f *Factory) NoteCommand(what string, s errs.Suggestion) {
	if line := f.Line(s); !f.Global.Quiet {
		fmt.Fprint(f.IO.Err, f.IO.Lines([]errs.Line{{Head: what + " ", Text: line, Pasted: true}}))
	}
}

// Notes prints notices on stderr, unless --quiet.
func (f *Factory) Notes(notes []string) {
	for _, n := range notes {
		f.Notef("note: %s", n)
	}
}

// once prints a notice of a request, unless it was printed before.
func (f *Factory) once(text string) {
	if _, printed := f.printed.LoadOrStore(text, true); printed {
		return
	}
	f.Notef("%s", text)
}
