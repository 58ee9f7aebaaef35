package canceljob

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// TestTimeoutOfAll: the timeout is one for all jobs, not one for each in turn. The first job is deleted when only a
// millisecond of the timeout is left, and the second never is. The clock is the test's.
func TestTimeoutOfAll(t *testing.T) {
	timeout := time.Hour
	dir := t.TempDir()
	box, err := sandbox.Create(context.Background(), filepath.Join(dir, "box.json"), "lend-three", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/batch/v1/namespaces/hyperpod-ns-team-b/jobs"
	begin := time.Now()
	var passed atomic.Int64
	var mu sync.Mutex
	held := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodDelete {
			held[strings.TrimPrefix(r.URL.Path, path+"/")] = true
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
			return
		}
		if len(held) == 2 && strings.HasPrefix(r.URL.Path, path) && passed.CompareAndSwap(0, int64(timeout-time.Millisecond)) {
			box.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodDelete, path+"/first", nil))
		}
		mu.Unlock() // a watch lasts
		defer mu.Lock()
		box.ServeHTTP(w, r)
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	for _, name := range []string{"first", "second"} {
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
	f := &factory.Factory{IO: streams, Now: func() time.Time { return begin.Add(time.Duration(passed.Load())) }, Global: factory.Global{Kubeconfig: kubeconfig, Namespace: "hyperpod-ns-team-b"}, Env: func(name string) string {
		if name == "HOME" {
			return dir
		}
		return ""
	}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a timeout for each job is longer
	defer cancel()
	err = Run(ctx, &Options{Factory: f, Names: []string{"first", "second"}, Yes: true, Wait: true, Timeout: &timeout, DryRun: "none"})
	if errs.ExitOf(err) != errs.Timeout || !strings.Contains(err.Error(), "second still exists after 1h0m0s: 1 of 2 jobs are deleted") {
		t.Errorf("got %v", err)
	}
}
