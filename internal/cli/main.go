// Package cli is the command line: the root command, global flags, and the one
// place where an error becomes text and an exit code.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/gettoken"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Main runs the command line of this process and returns its exit code. The options change
// what commands work with.
func Main(args []string, version string, options ...func(*factory.Factory)) int {
	var held atomic.Bool
	ctx, stop := interruptible(context.Background(), &held)
	defer stop()
	f := &factory.Factory{IO: output.System(os.Getenv), Env: os.Getenv, Now: time.Now, Version: version, OwnPlugin: gettoken.InProcess}
	f.Program, args = calledAs(os.Args[0], args)
	f.HoldInterrupts = func() func() { held.Store(true); return func() { held.Store(false) } }
	for _, o := range options {
		o(f)
	}
	crash.Handle(func(what any, stack string) {
		printError(f, internalError(f.Version, what, stack))
		os.Exit(int(errs.Failure))
	})
	return int(Run(ctx, f, args))
}

// calledAs returns how the program was called, and its arguments, by the name of its file: kubectl runs
// kubectl-hyperpod as its plugin, and kubectl_complete-hyperpod for the words behind it.
func calledAs(file string, args []string) (program string, of []string) {
	const plugin = "kubectl hyperpod"
	switch strings.TrimSuffix(filepath.Base(file), ".exe") {
	case "kubectl-hyperpod":
		return plugin, args
	case "kubectl_complete-hyperpod":
		return plugin, append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return "", args
}

// interruptible returns a context that the first Ctrl-C, SIGTERM or SIGHUP ends; a second
// one ends the process at once. While held is set, Ctrl-C does nothing: another program on
// the terminal gets it too.
func interruptible(parent context.Context, held *atomic.Bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for ended := false; ; {
			switch got := <-signals; {
			case got == os.Interrupt && held.Load():
				continue
			case !ended:
				ended = true
				cancel()
				continue
			}
			break
		}
		os.Exit(int(errs.Interrupted))
	}()
	return ctx, func() { signal.Stop(signals); cancel() }
}

// Run runs one command line with the given surroundings.
func Run(ctx context.Context, f *factory.Factory, args []string) errs.Exit {
	root := NewRoot(f)
	help := &firstError{to: f.IO.Out} // cobra prints it and does not look back
	root.SetOut(help)                 // in place of what NewRoot set
	root.SetArgs(joinBoolValues(args))
	if words, ok := completing(args); ok {
		if err := f.RegisterCompletions(root); err != nil {
			panic(err) // a flag does not exist, or is completed twice: a programming error, seen by every completion
		}
		if err := typo(root, words); err != nil {
			printTypo(help, root, f.Program, err)
			return errs.OK
		}
	}
	if wantsJSONErrors(args) {
		f.Global.ErrorFormat = factory.ErrorJSON
	}
	var cmd *cobra.Command
	err := guarded(f.Version, func() (err error) {
		cmd, err = root.ExecuteContextC(ctx)
		return err
	})
	if cmd == nil {
		cmd = root
	}
	err = asUsage(root, args, err)
	if flush := f.IO.Flush(); err == nil {
		err = flush
	}
	if err == nil {
		err = help.err
	}
	err = unwritten(err)
	switch {
	case err == nil:
		f.RememberNamespace()
		return errs.OK
	case !errors.As(err, new(*errs.Error)) && output.IsBrokenPipe(err):
		// The reader has seen enough (| head): that is not a failure. A connection
		// to a server that broke is an Error, and stays one.
		return errs.OK
	}
	return report(ctx, f, cmd, err)
}

// report prints what failed and returns the exit code. Of several failures the
// end by Ctrl-C comes last.
func report(ctx context.Context, f *factory.Factory, cmd *cobra.Command, err error) errs.Exit {
	var interrupted error
	for _, e := range errs.Each(err) {
		switch {
		case ctx.Err() != nil && errors.Is(e, context.Canceled):
			interrupted = e
		case !errors.As(e, new(errs.Silent)):
			e = advised(f, cmd, e)
			note(f, e)
			printError(f, e)
		}
	}
	if interrupted == nil {
		return errs.ExitOf(err)
	}
	end := factory.Interrupted("")
	if e := new(errs.Error); errors.As(interrupted, &e) && e.What == end.What {
		end = e // it says what goes on
	}
	if f.Global.ErrorFormat == factory.ErrorJSON {
		printError(f, advised(f, cmd, end))
	} else {
		text, _ := strings.CutPrefix(f.IO.ErrorText(advised(f, cmd, end), false), "Error: ")
		fmt.Fprint(f.IO.Err, text)
	}
	return errs.Interrupted
}

// printError prints an error as text, or as a line of JSON.
func printError(f *factory.Factory, err error) {
	if f.Global.ErrorFormat == factory.ErrorJSON {
		if line, jsonErr := output.JSONLine(errs.DocumentOf(err, f.Global.Debug)); jsonErr == nil {
			_, _ = f.IO.Err.Write(line)
			return
		}
	}
	fmt.Fprint(f.IO.Err, f.IO.ErrorText(err, f.Global.Debug))
}

// wantsJSONErrors reports --error-format json on a command line that may be wrong.
func wantsJSONErrors(args []string) bool {
	json := false
	for i, a := range args {
		if a == "--" {
			break
		}
		if value, ok := strings.CutPrefix(a, "--error-format="); ok {
			json = value == factory.ErrorJSON
		} else if a == "--error-format" && i+1 < len(args) {
			json = args[i+1] == factory.ErrorJSON
		}
	}
	return json
}

// note reports the suggestions of an error that is printed.
func note(f *factory.Factory, err error) {
	var e *errs.Error
	if f.Suggested == nil || !errors.As(err, &e) {
		return
	}
	for _, s := range e.Try {
		f.Suggested(s)
	}
}

// Validate parses a command line and validates its options, and runs nothing.
func Validate(ctx context.Context, f *factory.Factory, args []string) error {
	root := NewRoot(f)
	root.SetArgs(joinBoolValues(args))
	err := root.ExecuteContext(factory.ParseOnly(ctx))
	return asUsage(root, args, err)
}

// firstError is a writer that remembers the first error.
type firstError struct {
	to  io.Writer
	err error
}

func (w *firstError) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// unwritten words the failure to write to standard output, unless its reader has
// gone.
func unwritten(err error) error {
	var failed *fs.PathError
	if errors.As(err, new(*errs.Error)) || output.IsBrokenPipe(err) || !errors.As(err, &failed) || failed.Path != os.Stdout.Name() {
		return err
	}
	return errs.New("cannot write the result", errs.FileReason(failed)).WithCause(err)
}

// joinBoolValues joins "--auto-resume true" to "--auto-resume=true": v2 wanted
// a value for its boolean options, and scripts give one. It also joins
// "--dry-run client", whose value is optional.
func joinBoolValues(args []string) []string {
	out := make([]string, 0, len(args))
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		if n := len(out); n > 0 && isBoolWord(a) && (out[n-1] == "--auto-resume" || out[n-1] == "--deep-health-check-passed-nodes-only") {
			out[n-1] += "=" + strings.ToLower(a)
			continue
		}
		if n := len(out); n > 0 && out[n-1] == "--dry-run" && slices.Contains([]string{"none", "admission", "client", "server"}, strings.ToLower(a)) {
			out[n-1] += "=" + a
			continue
		}
		out = append(out, a)
	}
	return out
}

func isBoolWord(s string) bool { s = strings.ToLower(s); return s == "true" || s == "false" }
