package sandbox

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzFile: a file is a sandbox or an error, and what can be opened answers requests and is
// saved again.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"kind":"hyperpod-sandbox","format":1,"scenario":"enterprise","resourceVersion":3,"objects":{"nodes":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"2"}}]}}`))
	f.Add([]byte(`{"kind":"hyperpod-sandbox","format":1,"objects":{"nodes":[null]}}`))
	f.Add([]byte(`{"kind":"hyperpod-sandbox","format":99}`))
	f.Add([]byte(`[]`))
	path := filepath.Join(f.TempDir(), "lab"+Extension)
	if _, err := Create(f.Context(), path, "john-smith", Options{}); err != nil {
		f.Fatal(err)
	}
	if data, err := os.ReadFile(path); err == nil && len(data) < 256<<10 {
		f.Add(data)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "lab"+Extension)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{Now: func() time.Time { return now }})
		if err != nil {
			return
		}
		for _, r := range [][2]string{{"GET", "/api/v1/nodes"}, {"DELETE", "/api/v1/namespaces/a/pods/b"}, {"GET", "/apis/kueue.x-k8s.io/v1beta2/workloads"}} {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(r[0], r[1], nil))
			if w.Code == 0 {
				t.Errorf("%s has no answer", r)
			}
		}
	})
}
