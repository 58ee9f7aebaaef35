package factory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// CanAsk reports whether a question can be put to a person: stdin and stderr are terminals.
func (f *Factory) CanAsk() bool { return f.IO.InTTY && f.IO.ErrTTY }

// longestAnswer is far above any answer; stdin may have no end.
const longestAnswer = 1 << 10

// Confirm asks a question on stderr and reports whether the answer is yes. The end of the context ends it.
func (f *Factory) Confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(f.IO.Err, strings.Join(output.WrapText(output.Safe(question)+" [y/N]", f.IO.Width-1), "\n")+" ")
	answer, err := Interruptible(ctx, func() (string, error) {
		return readLine(f.IO.In, longestAnswer), nil
	})
	if err != nil {
		fmt.Fprintln(f.IO.Err)
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// Agree prompts before a change, unless yes is set, and returns nil if the answer is yes.
// Where nobody can answer, it fails and suggests --yes and the alternatives.
func (f *Factory) Agree(ctx context.Context, yes bool, question string, alternatives ...errs.Suggestion) error {
	if yes {
		return nil
	}
	if !f.CanAsk() {
		return errs.Usagef("cannot prompt for confirmation: stdin or stderr is not a terminal").Suggest(append([]errs.Suggestion{errs.Option("--yes")}, alternatives...)...)
	}
	agreed, err := f.Confirm(ctx, question)
	if err == nil && !agreed {
		f.Notef("nothing is changed")
		return errs.Silent{Code: errs.Failure}
	}
	return err
}

// readLine reads a line of at most most bytes, and nothing after it: the next question reads
// the next line.
func readLine(in io.Reader, most int) string {
	var line []byte
	for one := make([]byte, 1); len(line) < most; {
		n, err := in.Read(one)
		if n > 0 && one[0] == '\n' || err != nil {
			break
		}
		line = append(line, one[:n]...)
	}
	return string(line)
}
