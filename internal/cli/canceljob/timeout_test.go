package canceljob

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// TestTimeoutOfAll: the timeout is one for all jobs, not one for each in turn. The
// first job goes late, the second later than the timeout, but sooner than a new
// one that would begin when the first is gone.
func TestTimeoutOfAll(t *testing.T) {
	timeout := 1500 * time.Millisecond
	dir := t.TempDir()
	box, err := sandbox.Create(context.Background(), filepath.Join(dir, "box.json"), "lend-three", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/batch/v1/namespaces/hyperpod-ns-team-b/jobs"
	later := map[string]time.Duration{"first": timeout * 6 / 10, "second": timeout * 13 / 10}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, held := later[strings.TrimPrefix(r.URL.Path, path+"/")]
		if r.Method != http.MethodDelete || !held {
			box.ServeHTTP(w, r)
			return
		}
		url := *r.URL
		time.AfterFunc(after, func() {
			box.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodDelete, url.String(), nil))
		})
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	for name := range later {
		body := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"` + name + `","labels":{"kueue.x-k8s.io/queue-name":"hyperpod-ns-team-b-localqueue"}},
			"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"example.com/i"}]}}}}`
		r, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
		if err != nil || r.StatusCode >= 300 {
			t.Fatalf("%v, %+v", err, r)
		}
		r.Body.Close()
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"x","clusters":[{"name":"x","cluster":{"server":%q}}],
		"contexts":[{"name":"x","context":{"cluster":"x","user":"x"}}],"users":[{"name":"x","user":{}}]}`, server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	streams, _ := output.Test()
	f := &factory.Factory{IO: streams, Now: time.Now, Global: factory.Global{Kubeconfig: kubeconfig, Namespace: "hyperpod-ns-team-b"}, Env: func(name string) string {
		if name == "HOME" {
			return dir
		}
		return ""
	}}
	err = Run(t.Context(), &Options{Factory: f, Names: []string{"first", "second"}, Yes: true, Wait: true, Timeout: &timeout, DryRun: "none"})
	if errs.ExitOf(err) != errs.Timeout || !strings.Contains(err.Error(), "second still exists after 1.5s") {
		t.Errorf("got %v", err)
	}
}
