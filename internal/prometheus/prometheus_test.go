package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func TestAnswers(t *testing.T) {
	var seen *http.Request
	answer := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen = r; fmt.Fprint(w, answer) }))
	defer s.Close()
	c, err := New(strings.Replace(s.URL, "http://", "http://ada:s3cret@", 1)+"/prometheus/?x=1", Options{UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Address() != s.URL+"/prometheus/" {
		t.Error(c.Address())
	}
	answer = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"a"},"value":[1.5,"2.25"]},{"metric":{},"value":[1,"NaN"]}]}}`
	got, err := c.Query(t.Context(), "up > 1")
	if err != nil || len(got) != 2 || got[0].Labels["pod"] != "a" || got[0].Points[0].Value != 2.25 || got[0].Points[0].Time.UnixMilli() != 1500 || len(got[1].Points) != 0 {
		t.Error(got, err)
	}
	user, password, _ := seen.BasicAuth()
	if seen.URL.Path != "/prometheus/api/v1/query" || seen.URL.Query().Get("query") != "up > 1" || user != "ada" || password != "s3cret" || seen.Method != http.MethodGet {
		t.Error(seen.URL, user, password)
	}
	answer = `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[0,"1"],[60,"2"]]}]}}`
	if got, err := c.Range(t.Context(), "up", time.Unix(0, 0), time.Unix(60, 0), time.Minute); err != nil || len(got[0].Points) != 2 || got[0].Points[1].Time.Unix() != 60 {
		t.Error(got, err)
	}
	if q := seen.URL.Query(); q.Get("start") != "0" || q.Get("end") != "60" || q.Get("step") != "60" {
		t.Error(q)
	}
	for _, answer = range []string{"", "<html>", "{}", `{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{"value":["a","b"]}]}}`} {
		if _, err := c.Query(t.Context(), "up"); err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "ada") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for _, tt := range []struct {
		status int
		body   string
		want   string
		code   errs.Exit
	}{
		{302, "", "redirects to another address", errs.Failure}, {401, "", "refuses the credentials", errs.Denied}, {403, "", "refuses the credentials", errs.Denied},
		{422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples"}`, "too many samples", errs.Failure},
		{400, `{"status":"error","error":"` + strings.Repeat("x", 1000) + `"}`, "xxx...", errs.Failure}, {503, "<html>", "503", errs.Failure},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", other.URL)
			w.WriteHeader(tt.status)
			fmt.Fprint(w, tt.body)
		}))
		c, err := New(strings.Replace(s.URL, "http://", "http://ada:s3cret@", 1), Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Query(t.Context(), "up")
		text := errs.Text(err, true)
		if err == nil || !strings.Contains(text, tt.want) || errs.ExitOf(err) != tt.code || strings.Contains(text, "s3cret") || len(text) > 600 {
			t.Errorf("%d: %s", tt.status, text)
		}
		s.Close()
	}
	if elsewhere != 0 {
		t.Error("a redirect was followed")
	}
}

func TestNoAnswer(t *testing.T) {
	hold := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(hold)
	c, err := New(s.URL, Options{Timeout: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Query(t.Context(), "up"); err == nil || !strings.Contains(err.Error(), "no answer within 20ms") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Query(ctx, "up"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.CloseClientConnections()
	gone, err := New("http://ada:s3cret@127.0.0.1:1", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Query(t.Context(), "up"); err == nil || strings.Contains(errs.Text(err, true), "s3cret") || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

func TestTokens(t *testing.T) {
	var sent string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "token")
	c, err := New(s.URL, Options{TokenFile: file})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Query(t.Context(), "up"); err == nil || !strings.Contains(errs.Text(err, false), file) {
		t.Error(err)
	}
	for _, token := range []string{"one", "two"} { // tokens are renewed
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Query(t.Context(), "up"); err != nil || sent != "Bearer "+token {
			t.Error(sent, err)
		}
	}
	for address, want := range map[string]error{"ftp://x": ErrAddress, "x": ErrAddress, "": ErrAddress, "http://": ErrAddress, "http://%zz": ErrAddress, "http://prom.example.com": ErrPlain} {
		if _, err := New(address, Options{TokenFile: file}); !errors.Is(err, want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"https://prom.example.com", "http://localhost:9090", "http://[::1]:9090"} {
		if _, err := New(address, Options{TokenFile: file}); err != nil {
			t.Error(address, err)
		}
	}
}
