package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// environment returns an env function over NAME=VALUE pairs.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if v, ok := strings.CutPrefix(p, name+"="); ok {
				return v
			}
		}
		return ""
	}
}

func TestColorPolicy(t *testing.T) {
	tests := []struct {
		mode ColorMode
		tty  bool
		env  []string
		want bool
	}{
		{ColorAuto, true, nil, true},
		{ColorAuto, false, nil, false},
		{ColorAuto, true, []string{"NO_COLOR=1"}, false},
		{ColorAuto, true, []string{"NO_COLOR=yes"}, false},
		{ColorAuto, true, []string{"NO_COLOR=0"}, false},
		{ColorAuto, true, []string{"NO_COLOR="}, true},
		{ColorAuto, false, []string{"CLICOLOR_FORCE=1"}, true},
		{ColorAuto, false, []string{"CLICOLOR_FORCE=0"}, false},
		{ColorAuto, true, []string{"CLICOLOR_FORCE=1", "NO_COLOR=1"}, false},
		{ColorAuto, true, []string{"CLICOLOR=0"}, false},
		{ColorAuto, true, []string{"TERM=dumb"}, false},
		{ColorAuto, true, []string{"TERM=dumb", "CLICOLOR_FORCE=1"}, true},
		{ColorAlways, false, []string{"NO_COLOR=1", "TERM=dumb"}, true},
		{ColorNever, true, []string{"CLICOLOR_FORCE=1"}, false},
	}
	for _, tt := range tests {
		s := IO{OutTTY: tt.tty, ErrTTY: !tt.tty}
		s.SetColor(tt.mode, environment(tt.env...))
		if s.Color != tt.want {
			t.Errorf("%s tty=%v %v: %v", tt.mode, tt.tty, tt.env, s.Color)
		}
		if s.OutTTY, s.ErrTTY = s.ErrTTY, s.OutTTY; true {
			s.SetColor(tt.mode, environment(tt.env...))
		}
		if s.ErrColor != tt.want {
			t.Errorf("stderr: %s tty=%v %v: %v", tt.mode, tt.tty, tt.env, s.ErrColor)
		}
	}
}

func TestCursorPolicy(t *testing.T) {
	tests := []struct {
		mode ColorMode
		tty  bool
		env  string
		want bool
	}{
		{ColorAuto, true, "", true},
		{ColorNever, true, "", true},
		{ColorAuto, false, "", false},
		{ColorAlways, false, "", false},
		{ColorAuto, true, "TERM=dumb", false},
		{ColorAuto, true, "NO_COLOR=1", false},
		{ColorAlways, true, "NO_COLOR=1", true},
		{ColorAlways, true, "TERM=dumb", false},
	}
	for _, tt := range tests {
		s := IO{OutTTY: tt.tty}
		if s.SetColor(tt.mode, environment(tt.env)); s.Cursor != tt.want {
			t.Errorf("%+v: %v", tt, s.Cursor)
		}
	}
}

func TestParseColor(t *testing.T) {
	for in, want := range map[string]ColorMode{"": ColorAuto, "auto": ColorAuto, "Always": ColorAlways, "never": ColorNever} {
		if got, err := ParseColor(in); got != want || err != nil {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	_, err := ParseColor("allways")
	if text := errs.Text(err, false); errs.ExitOf(err) != errs.Usage || !strings.Contains(text, "auto, always, never") || !strings.Contains(text, "did you mean:  always\n") {
		t.Errorf("got %v", text)
	}
}

func TestUTF8Locale(t *testing.T) {
	tests := []struct {
		env  []string
		want bool
	}{
		{[]string{"LANG=en_US.UTF-8"}, true},
		{[]string{"LANG=ja_JP.utf8"}, true},
		{[]string{"LANG=C"}, false},
		{[]string{"LC_ALL=C", "LANG=en_US.UTF-8"}, false},
		{[]string{"LC_CTYPE=C.UTF-8", "LANG=C"}, true},
		{[]string{"LC_ALL=", "LANG=en_US.UTF-8"}, true},
		{nil, unsetLocaleIsUTF8},
	}
	for _, tt := range tests {
		if got := utf8Locale(environment(tt.env...)); got != tt.want {
			t.Errorf("%v: %v", tt.env, got)
		}
	}
}

func TestSize(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for columns, want := range map[string]int{"": 0, "120": 120, "-5": 0, "x": 0, "99999999999": 0} {
		if w, h := size(file, environment("COLUMNS="+columns, "LINES=30")); w != want || h != 30 {
			t.Errorf("COLUMNS=%s: %d %d", columns, w, h)
		}
	}
}

func TestIsBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	s, _ := Test()
	s.Out = w
	err = Print(s, Format{Name: JSON}, "x", nil, nil)
	if !IsBrokenPipe(err) || !IsBrokenPipe(errs.Wrap(err, "cannot write")) || !IsBrokenPipe(io.ErrClosedPipe) {
		t.Errorf("not seen as a closed pipe: %v", err)
	}
	if IsBrokenPipe(nil) || IsBrokenPipe(io.EOF) || IsBrokenPipe(syscall.ENOSPC) {
		t.Error("anything is a closed pipe")
	}
}

// childVariable makes the test binary act as a program that uses the package.
const childVariable = "OUTPUT_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "system":
		os.Exit(child())
	case "start":
		fmt.Printf("NO_COLOR=%q\n", os.Getenv("NO_COLOR"))
		_, set := os.LookupEnv("NO_COLOR")
		fmt.Printf("set=%v\n", set)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child prints for ever, until the reader goes.
func child() int {
	s := System(os.Getenv)
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		if err := Print(s, Format{Name: NameFormat}, nil, nil, func() []string { return []string{"line"} }); err != nil {
			if IsBrokenPipe(err) {
				return 42
			}
			return 1
		}
	}
	return 2
}

func run(t *testing.T, what string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append([]string{childVariable + "=" + what}, env...)
	return cmd
}

// A process whose standard output was closed learns it, and is not killed.
func TestClosedStdoutIsAnError(t *testing.T) {
	cmd := run(t, "system")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 42 {
		t.Errorf("want exit code 42, got %v", err)
	}
}

// Starting inside tmux may not run tmux (see package noprobe).
func TestStartDoesNotProbeTheTerminal(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "ran")
	script := "#!/bin/sh\necho tmux >" + trace + "\n"
	if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, noColor := range []string{"", "NO_COLOR=", "NO_COLOR=maybe"} {
		// TTY_FORCE makes lipgloss take the pipe for a terminal.
		cmd := run(t, "start", "PATH="+dir, "TMUX=/tmp/tmux,1,0", "TERM=screen-256color", "TTY_FORCE=1")
		if noColor != "" {
			cmd.Env = append(cmd.Env, noColor)
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("NO_COLOR=%q\nset=%v\n", strings.TrimPrefix(noColor, "NO_COLOR="), noColor != "")
		if string(out) != want {
			t.Errorf("environment of the program: got %q, want %q", out, want)
		}
		if _, err := os.Stat(trace); err == nil {
			t.Fatal("the start of the program ran tmux")
		}
	}
}

func TestSystemInThisProcess(t *testing.T) {
	s := System(environment("LANG=C.UTF-8", "COLUMNS=77"))
	if s.Out != os.Stdout || s.Err != os.Stderr || s.In != os.Stdin || !s.UTF8 || s.Now == nil {
		t.Errorf("got %+v", s)
	}
	if s.OutTTY && s.Width != 77 {
		t.Errorf("width %d", s.Width)
	}
	if err := s.Flush(); err != nil {
		t.Error(err)
	}
}
