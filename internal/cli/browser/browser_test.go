package browser

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestCommand(t *testing.T) {
	const page = "http://127.0.0.1:6006/?a=1&b=2"
	for name, c := range map[string]struct {
		browser, system string
		want            []string
	}{
		"linux":       {"", "linux", []string{"xdg-open", page}},
		"mac":         {"", "darwin", []string{"open", page}},
		"windows":     {"", "windows", []string{"rundll32", "url.dll,FileProtocolHandler", page}},
		"own browser": {"firefox --new-tab", "linux", []string{"firefox", "--new-tab", page}},
	} {
		t.Run(name, func(t *testing.T) {
			got := command(func(string) string { return c.browser }, c.system, page)
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestOpenRefusesOtherAddresses(t *testing.T) {
	for _, address := range []string{"file:///etc/passwd", "javascript:alert(1)", "--help", "", "http://"} {
		if err := Open(t.Context(), func(string) string { return "true" }, address); err == nil {
			t.Errorf("%q was opened", address)
		}
	}
}

// TestOpenDoesNotWaitForTheBrowser: the program that opens an address can leave a browser behind that has its output open.
func TestOpenDoesNotWaitForTheBrowser(t *testing.T) {
	program := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 30 &\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := Open(t.Context(), func(string) string { return program }, "http://127.0.0.1/"); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
