//go:build !windows

package e2e

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// TestExecTerminal: `exec -it` on a real terminal. Keys go to the command, Ctrl-C
// included; it learns of the terminal's size and of each change; its exit code is
// ours; and the terminal is as before afterwards.
func TestExecTerminal(t *testing.T) {
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, "exec", "vit-huge", "-n", "hyperpod-ns-researchers", "--rank", "1", "-it", "-q", "--", "bash")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "HYPERPOD_SANDBOX=enterprise", "TERM=xterm"}
	terminal := onTerminal(t, cmd, 80)
	before, says, keys, screen := terminal.before, terminal.says, terminal.keys, terminal.screen
	says("sandbox$ ")
	raw, err := term.GetState(int(terminal.file.Fd()))
	if err != nil || *raw == *before {
		t.Errorf("the terminal is not raw: %v", err)
	}
	keys("stty size\r")
	says("\r\n24 80\r\n")
	if err := pty.Setsize(terminal.file, &pty.Winsize{Rows: 50, Cols: 132}); err != nil {
		t.Fatal(err)
	}
	for n := 0; !bytes.Contains([]byte(screen.String()), []byte("50 132")) && n < 200; n++ {
		keys("stty size\r") // until the change has got there
		<-time.After(50 * time.Millisecond)
	}
	says("\r\n50 132\r\n")
	keys("half a line\x03")
	says("^C\r\n")
	keys("exit 9\r")
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 9 {
		t.Errorf("it ended with %v\n%s", err, screen.String())
	}
	after, err := term.GetState(int(terminal.file.Fd()))
	if err != nil || *after != *before {
		t.Errorf("the terminal is not as before: %v", err)
	}
}

// terminal is a terminal on which a command runs.
type terminal struct {
	t      *testing.T
	file   *os.File
	before *term.State
	screen *buffer
}

// onTerminal starts a command on a terminal.
func onTerminal(t *testing.T, cmd *exec.Cmd, columns uint16) *terminal {
	t.Helper()
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: columns})
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { file.Close() })
	before, err := term.GetState(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	out := &terminal{t, file, before, &buffer{}}
	go func() { _, _ = io.Copy(out.screen, file) }()
	return out
}

// says waits until the command prints a text.
func (s *terminal) says(want string) {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(s.screen.String(), want); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("it never says %q:\n%s", want, s.screen.String())
		}
	}
}

// keys types a text.
func (s *terminal) keys(text string) {
	s.t.Helper()
	if _, err := s.file.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}
