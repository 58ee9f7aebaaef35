// Package editor lets a person change a text in the editor of their choice.
package editor

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// Command returns the words of the command that $VISUAL, else $EDITOR, names;
// without them it is vi, on Windows notepad. No shell reads it.
func Command(env func(string) string) ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		text := strings.TrimSpace(env(name))
		if text == "" {
			continue
		}
		if _, err := os.Stat(text); err == nil {
			return []string{text}, nil // a path with blanks in it
		}
		words, err := shellwords.Split(text)
		if err != nil || len(words) == 0 {
			return nil, errs.Usagef("$%s is not understood: %q", name, text).WithTry("export " + name + "=vim")
		}
		return words, nil
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}, nil
	}
	return []string{"vi"}, nil
}

// Check says before anything else is done that there is no editor to come. As with
// git and kubectl, an editor that is named is run wherever the command runs, for it
// may need no terminal; the one that nobody named does.
func Check(f *factory.Factory) error {
	if _, err := Command(f.Env); err != nil {
		return err
	}
	if f.Env("VISUAL") == "" && f.Env("EDITOR") == "" && runtime.GOOS != "windows" && !(f.IO.InTTY && f.IO.OutTTY) {
		return errs.Usagef("there is no terminal to edit on, and $EDITOR names no editor that does without").
			WithTry("--dry-run=client -o yaml   # prints the manifest", "hyperpod start-job -f FILE")
	}
	return nil
}

// File is a text that is being edited, in a file that only its owner can read.
type File struct {
	Path  string
	ctrlC *ctrlC
}

// ctrlC is the handler of Ctrl-C between and after the rounds of an edit: one,
// however many rounds there are.
type ctrlC struct {
	parent context.Context // of the first round
	stop   context.CancelFunc
}

// renew puts a handler in the place of the one that an editor's round put out of
// work. It is stopped with the first round's context, and by the first Ctrl-C: a
// second one ends the process.
func (c *ctrlC) renew() context.Context {
	if c.stop != nil {
		c.stop()
	}
	var ctx context.Context
	ctx, c.stop = signal.NotifyContext(c.parent, os.Interrupt)
	context.AfterFunc(ctx, c.stop)
	return ctx
}

// Create makes the file.
func Create(pattern string) (File, error) {
	f, err := os.CreateTemp("", pattern) // mode 0600
	if err != nil {
		return File{}, errs.Wrap(err, "cannot make a file to edit")
	}
	return File{f.Name(), &ctrlC{}}, f.Close()
}

// Remove deletes the file.
func (f File) Remove() { _ = os.Remove(f.Path) }

// Edit shows the text in the editor and returns what was saved. Ctrl-C belongs to
// the editor meanwhile. The context that is returned is the one to go on with; it
// ends with that of the first call, and the next call ends it.
func (f File) Edit(ctx context.Context, fac *factory.Factory, text []byte) ([]byte, context.Context, error) {
	words, err := Command(fac.Env)
	if err != nil {
		return nil, ctx, err
	}
	if err := os.WriteFile(f.Path, text, 0o600); err != nil {
		return nil, ctx, errs.Wrap(err, "cannot write the file to edit")
	}
	cmd := exec.Command(words[0], append(words[1:], f.Path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = fac.IO.In, fac.IO.Out, fac.IO.Err
	if f.ctrlC.parent == nil {
		f.ctrlC.parent = ctx
	}
	// Every other handler of Ctrl-C goes, before the editor can send one. A signal
	// that is caught, unlike one that is ignored, is not inherited by the editor.
	swallowed := make(chan os.Signal, 1)
	signal.Reset(os.Interrupt)
	signal.Notify(swallowed, os.Interrupt)
	err = cmd.Run()
	signal.Stop(swallowed)
	ctx = f.ctrlC.renew()
	switch {
	case err != nil && cmd.ProcessState == nil:
		return nil, ctx, noEditor(words[0], err)
	case err != nil:
		return nil, ctx, errs.New("the editor failed", words[0]+": "+err.Error()).WithCause(err).WithFact("file", f.Path)
	}
	saved, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, ctx, errs.Wrap(err, "cannot read what was saved")
	}
	return saved, ctx, nil
}

func noEditor(name string, err error) error {
	return errs.New("cannot start the editor "+name, err.Error()).WithCause(err).WithTry("export EDITOR=nano   # or another one that is installed")
}

// WithoutComments returns the lines that are no comments and not blank.
func WithoutComments(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))) {
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' {
			out = append(out, bytes.TrimRight(line, " \t\n")...)
			out = append(out, '\n')
		}
	}
	return out
}

// Comment returns text as comment lines.
func Comment(text string) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		b.WriteString(strings.TrimRight("# "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.Bytes()
}
