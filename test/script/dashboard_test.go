package script

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBrowserInTheForeground: the page is served while the program that opens it runs: a browser that was not running yet
// ends when its user closes it.
func TestBrowserInTheForeground(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	browser := filepath.Join(home, "browser")
	if err := os.WriteFile(browser, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, []string{"hyperpod", "dashboard", "--web", "--sandbox"}, []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "BROWSER=" + browser})
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(link), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		t.Error(answer.Status)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() { ended <- fmt.Sprint(cmd.Wait()) }()
	select {
	case got := <-ended:
		if got != "<nil>" {
			t.Error(got)
		}
	case <-time.After(30 * time.Second):
		t.Error("Ctrl-C does not end the dashboard")
	}
}
