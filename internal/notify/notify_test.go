package notify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPost(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	var got Document
	var auth string
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"taken": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, ""},
		"redirected": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "which is not followed"},
		"refused": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "403 Forbidden"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got = Document{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				auth = r.Header.Get("Authorization") + r.Header.Get("Cookie")
				_ = json.NewDecoder(r.Body).Decode(&got)
				c.answer(w, r)
			}))
			defer s.Close()
			err := Post(t.Context(), s.URL+"/hook", Document{Schema: Schema, Job: "j", Text: "j is Running"}, "test")
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "/hook")) {
				t.Errorf("%v", err)
			}
			if got.Job != "j" || got.Text != "j is Running" || auth != "" {
				t.Errorf("%+v %q", got, auth)
			}
		})
	}
	if asked != 0 {
		t.Error("the redirect was followed")
	}
}

func TestPostToAServerThatHangs(t *testing.T) {
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer s.Close()
	defer close(over)
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := Post(ctx, s.URL, Document{}, "test"); err == nil || !strings.Contains(err.Error(), "no answer within") {
		t.Errorf("%v", err)
	}
}

func TestCheckURL(t *testing.T) {
	for address, want := range map[string]error{
		"https://hooks.example.com/x": nil, "http://127.0.0.1:1/": nil,
		"https://user:pass@example.com/": ErrPassword, "ftp://x/": ErrAddress, "example.com": ErrAddress, "file:///etc": ErrAddress, "http://": ErrAddress, "": ErrAddress,
	} {
		if err := CheckURL(address); !errors.Is(err, want) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestTerminal(t *testing.T) {
	if got := Terminal("j is\x1b]0;evil\a Running"); got != "\x1b]9;j is ]0;evil  Running\x1b\\\a" {
		t.Errorf("%q", got)
	}
}

func TestRun(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell")
	}
	out := filepath.Join(t.TempDir(), "out")
	d := Document{Job: "j; rm -rf /", State: "Failed"}
	if err := Run(t.Context(), []string{"/bin/sh", "-c", `cat > "$0"; echo "$HYPERPOD_JOB $HYPERPOD_JOB_STATE" >> "$0"`, out}, d); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(data), `"Job":"j; rm -rf /"`) || !strings.HasSuffix(string(data), "}j; rm -rf / Failed\n") {
		t.Errorf("%s %v", data, err)
	}
	if err := Run(t.Context(), []string{"/bin/sh", "-c", "echo oops >&2; exit 3"}, d); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("%v", err)
	}
}
