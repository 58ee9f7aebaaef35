//go:build unix

package kube

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A token that comes through a pipe is read once.
func TestTokenFromAPipe(t *testing.T) {
	cluster := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer from-a-pipe" {
			t.Errorf("got %v", r.Header)
		}
		fmt.Fprint(w, object("a", "1", "1", 7))
	})
	pipe := filepath.Join(t.TempDir(), "token")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("from-a-pipe\n"), 0o600) }()
	c := located(t, configFile(t, "dev", []string{"dev=" + cluster}, []string{"dev=dev/me/"}, []string{fmt.Sprintf("me={tokenFile: %q}", pipe)}))
	for range 2 {
		if i, err := getItem(c); err != nil || i.Value != 7 {
			t.Errorf("got %+v, %v", i, err)
		}
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}
