package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// walk is a page whose screens are one session: they share files, sandboxes and the environment. Beside hyperpod, the
// lines "export NAME=VALUE" and "echo $?" run. The clock stands still; a sandbox has a clock of its own.
type walk struct {
	home string
	from string // the folder to go back to
	env  map[string]string
	exit errs.Exit
}

// walkFolders hold the pages that are walk-throughs, and the files that they name.
var walkFolders = []string{filepath.Join("docs", "scenarios"), filepath.Join("docs", "tutorials")}

// newWalk starts a session in a folder that has only the files of the walk-throughs and the examples, so that commands
// can write beside them.
func newWalk() (*walk, error) {
	from, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "walk")
	if err != nil {
		return nil, err
	}
	w := &walk{home: home, from: from, env: map[string]string{"HOME": home, "NO_COLOR": "1", "USER": "ada"}}
	for _, files := range append(slices.Clone(walkFolders), "examples") {
		if err := os.CopyFS(filepath.Join(home, files), os.DirFS(files)); err != nil {
			return nil, errors.Join(err, w.end())
		}
	}
	if err := os.Chdir(home); err != nil {
		return nil, errors.Join(err, w.end())
	}
	return w, nil
}

func (w *walk) end() error { return errors.Join(os.Chdir(w.from), os.RemoveAll(w.home)) }

// walked returns a walk-through with the output of its screens made again.
func walked(page string) (string, error) {
	w, err := newWalk()
	if err != nil {
		return "", err
	}
	page, err = withScreens(page, w.screen)
	return page, errors.Join(err, w.end())
}

// answers are exit codes of commands that work: a plan with changes, a job that waits.
var answers = []errs.Exit{errs.OK, errs.No, errs.Pending}

// screen runs the commands of one block and returns what a terminal shows, stdout and stderr. A command that fails is an
// error, unless the page shows its exit code.
func (w *walk) screen(commands []string) (string, error) {
	var out strings.Builder
	for i, command := range commands {
		if i > 0 && strings.HasPrefix(command, self) && strings.HasSuffix(out.String(), "\n") && !strings.HasPrefix(lastLine(out.String()), prompt) {
			out.WriteString("\n")
		}
		out.WriteString(command + "\n")
		line := strings.ReplaceAll(strings.TrimPrefix(command, prompt), "\\\n", " ")
		shown, err := w.run(line)
		if err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
		for l := range strings.Lines(shown) {
			out.WriteString(strings.TrimRight(l, " \n") + "\n")
		}
		seen := i+1 < len(commands) && commands[i+1] == prompt+"echo $?"
		if !seen && !slices.Contains(answers, w.exit) {
			return "", fmt.Errorf("%s: exit code %d\n%s", line, w.exit, shown)
		}
	}
	return out.String(), nil
}

func lastLine(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndex(text, "\n")+1:]
}

// run runs one line and returns what it prints.
func (w *walk) run(line string) (string, error) {
	words, err := shellwords.Split(line)
	if err != nil {
		return "", err
	}
	switch {
	case line == "echo $?":
		defer func() { w.exit = errs.OK }()
		return strconv.Itoa(int(w.exit)) + "\n", nil
	case words[0] == "export" && len(words) == 2 && strings.Contains(words[1], "="):
		name, value, _ := strings.Cut(words[1], "=")
		w.env[name] = value
		return "", nil
	case words[0] != "hyperpod":
		return "", fmt.Errorf("a walk-through runs hyperpod, export NAME=VALUE and echo $?")
	}
	now := func() time.Time { return time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC) }
	io, buffers := output.Test()
	io.OutTTY, io.Width, io.Now, io.Err = true, columns, now, io.Out
	f := &factory.Factory{IO: io, Env: func(name string) string { return w.env[name] }, Now: now, Version: "dev", Unhurried: true}
	w.exit = errs.Exit(cli.Run(context.Background(), f, words[1:]))
	return buffers.Out.String(), nil
}
