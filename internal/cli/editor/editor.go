// Package editor lets the user change a text in an editor.
package editor

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// Command returns the words of the command in $VISUAL, else in $EDITOR. The default is vi, on Windows notepad. The command
// does not pass through a shell.
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
			return nil, errs.Usagef("invalid $%s %q: must be a command", name, text).Suggest(errs.Other("export", name+"=vim"))
		}
		return words, nil
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}, nil
	}
	return []string{"vi"}, nil
}

// Check returns an error if no editor can run. As with git and kubectl, an editor that the user named may need no terminal;
// the default editor does.
func Check(f *factory.Factory) error {
	if _, err := Command(f.Env); err != nil {
		return err
	}
	if f.Env("VISUAL") == "" && f.Env("EDITOR") == "" && runtime.GOOS != "windows" && !(f.IO.InTTY && f.IO.OutTTY) {
		return errs.Usagef("cannot start an editor: no terminal, and $EDITOR is not set").
			Suggest(errs.Option("--dry-run=client", "-o", "yaml").WithNote("prints the manifest"), errs.Run("start-job", "-f", "FILE"))
	}
	return nil
}

// File is a file with a text to edit. Only its owner can read it.
type File struct {
	Path  string
	ctrlC *ctrlC
}

// ctrlC handles Ctrl-C between and after the rounds of an edit. All rounds share one handler.
type ctrlC struct {
	parent context.Context // of the first round
	stop   context.CancelFunc
}

// renew installs a new handler after an editor's round removed the old one. The context of the first round and the first
// Ctrl-C stop it; a second Ctrl-C ends the process.
func (c *ctrlC) renew() context.Context {
	if c.stop != nil {
		c.stop()
	}
	var ctx context.Context
	ctx, c.stop = signal.NotifyContext(c.parent, os.Interrupt)
	context.AfterFunc(ctx, c.stop)
	return ctx
}

// Create creates the file.
func Create(pattern string) (File, error) {
	f, err := os.CreateTemp("", pattern) // mode 0600
	if err != nil {
		return File{}, errs.Wrap(err, "cannot create a file to edit")
	}
	return File{f.Name(), &ctrlC{}}, f.Close()
}

// Remove deletes the file.
func (f File) Remove() { _ = os.Remove(f.Path) }

// Edit shows the text in the editor and returns the saved text. The editor receives Ctrl-C in the meantime. The caller
// continues with the returned context, which ends with the context of the first call or with the next call.
func (f File) Edit(ctx context.Context, fac *factory.Factory, text []byte) ([]byte, context.Context, error) {
	words, err := Command(fac.Env)
	if err != nil {
		return nil, ctx, err
	}
	// The old text stays if the disk is full.
	if _, err := atomicfile.Write(f.Path, func(file *os.File) error { _, err := file.Write(text); return err }); err != nil {
		if info, statErr := os.Stat(f.Path); statErr == nil && info.Size() == 0 {
			f.Remove()
		}
		return nil, ctx, errs.New("cannot write the file to edit", errs.FileReason(err)).WithFact("file", f.Path).WithCause(err)
	}
	cmd := exec.Command(words[0], append(words[1:], f.Path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = fac.IO.In, fac.IO.Out, fac.IO.Err
	if f.ctrlC.parent == nil {
		f.ctrlC.parent = ctx
	}
	// Remove every other handler of Ctrl-C before the editor starts. The editor inherits ignored signals, but not caught
	// ones.
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
	saved, err := bounded.File(f.Path, bounded.Object)
	if err != nil {
		return nil, ctx, errs.Wrap(err, "cannot read the saved text")
	}
	return saved, ctx, nil
}

func noEditor(name string, err error) error {
	return errs.New("cannot start editor "+name, err.Error()).WithCause(err).Suggest(errs.Other("export", "EDITOR=nano").WithNote("or another editor that is installed"))
}

// WithoutComments returns the text without comments and blank lines.
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
