package snapshot

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzOpen: a file is a snapshot or an error, and what can be opened answers requests.
func FuzzOpen(f *testing.F) {
	files, _ := filepath.Glob("testdata/*")
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil && len(data) < 64<<10 {
			f.Add(data)
		}
	}
	f.Add([]byte(`{"kind":"hyperpod-snapshot","format":1,"objects":{"nodes":[null,{}]}}`))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [{kind: Node, apiVersion: v1, metadata: {name: a}}, null]\n"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "s")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := open(path, limits{1 << 20, 1 << 16})
		if err != nil {
			return
		}
		for _, at := range []string{"/api/v1/nodes", "/apis/kubeflow.org/v1/pytorchjobs", "/apis", "/api/v1/namespaces/a/pods/b"} {
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest("GET", at, nil))
			// A damaged snapshot is a failure with a reason for people.
			if w.Code >= 500 && !strings.Contains(w.Body.String(), "the snapshot is damaged") {
				t.Errorf("%s: %d %s", at, w.Code, w.Body)
			}
		}
	})
}
