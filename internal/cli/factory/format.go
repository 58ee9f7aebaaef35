package factory

import (
	"cmp"
	"context"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Format returns the output format that -o, the configuration or the terminal decides.
func (f *Factory) Format() (output.Format, error) {
	name := cmp.Or(f.Global.Output, f.Config.Output)
	if f.taken.of == name && name != "" {
		return f.taken.format, f.taken.err
	}
	return output.ParseFormat(name, f.IO.OutTTY)
}

// TakeFormat reads the file that -o names, once: it may be a pipe. Format reports its faults; the error is that of the context.
func (f *Factory) TakeFormat(ctx context.Context) error {
	name := cmp.Or(f.Global.Output, f.Config.Output)
	if !strings.Contains(name, "-file=") {
		return nil
	}
	format, err := Interruptible(ctx, f.Format)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.taken.of, f.taken.format, f.taken.err = name, format, err
	return nil
}

// NoWatch is the error about a format in which changes cannot be shown.
func NoWatch(format output.Format) error {
	return errs.Usagef("--watch cannot print %s", format.Name).WithFact("available", "table, wide, json").Suggest(errs.Option("--watch", "-o", "json"))
}

// PrintDone prints what a command that changes something did: a sentence, whatever the configuration prefers, or with
// -o name the object. With another -o it prints nothing: the document follows.
func (f *Factory) PrintDone(sentence, object string) error {
	switch f.Global.Output {
	case "":
		return f.IO.PrintLine(sentence)
	case string(output.NameFormat):
		return f.IO.PrintLine(object)
	}
	return nil
}
