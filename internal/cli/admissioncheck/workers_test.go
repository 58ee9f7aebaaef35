package admissioncheck

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
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
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// worker serves a cluster with a team t of some GPUs, on nodes of 8, for one bearer token.
func worker(t *testing.T, gpus int, add ...any) *httptest.Server {
	t.Helper()
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""))
	for i := range gpus / 8 {
		s.Add(fixture.Node(fmt.Sprintf("n%d", i), "a100", 8, ""))
	}
	s.Add(fixture.Team("t", "", gpus, "", "")...)
	s.Add(add...)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret-of-kueue" {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// kubeconfig leads to a worker, in context c.
func kubeconfig(s *httptest.Server, user string) []byte {
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	return fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: %q, certificate-authority-data: %s}}]\nusers: [{name: u, user: {%s}}]\n", s.URL, ca, user)
}

// secret is the Secret with the kubeconfig of a worker.
func secret(name string, s *httptest.Server, user string) any {
	return json.RawMessage(fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":%q,"namespace":"kueue-system"},"data":{"kubeconfig":%q}}`, name, base64.StdEncoding.EncodeToString(kubeconfig(s, user))))
}

func multiKueueCluster(name, active string) any {
	return json.RawMessage(fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueCluster","metadata":{"name":%q},"spec":{"clusterSource":{"kubeConfig":{"location":%q,"locationType":"Secret"}}},
"status":{"conditions":[{"type":"Active","status":%q,"reason":"R","message":"no route to host","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, name, name, active))
}

// manager serves a cluster that sends the jobs of team t to workers.
func manager(workers []string, add ...any) *fixture.Server {
	names, _ := json.Marshal(workers)
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"remote"},"spec":{"controllerName":"kueue.x-k8s.io/multikueue","parameters":{"apiGroup":"kueue.x-k8s.io","kind":"MultiKueueConfig","name":"both"}},"status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`),
		json.RawMessage(fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueConfig","metadata":{"name":"both"},"spec":{"clusters":%s}}`, names)))
	s.Add(fixture.Team("t", "", 64, "", `"admissionChecksStrategy":{"admissionChecks":[{"name":"remote"}]}`)...)
	s.Add(add...)
	return s
}

const token = "token: secret-of-kueue"

// TestWorkers: the first worker cluster that admits a job decides. The page names what is not known of a worker.
func TestWorkers(t *testing.T) {
	small, large := worker(t, 8), worker(t, 32)
	busy := worker(t, 32, fixture.Work("t", "other", 32, 0, time.Hour, true))
	for name, c := range map[string]struct {
		workers []string
		objects []any
		gpus    int
		outcome check.Outcome
		detail  string
		says    []string
	}{
		"one admits it": {workers: []string{"small", "large"}, objects: []any{secret("small", small, token), secret("large", large, token)}, gpus: 4,
			outcome: check.Admitted, says: []string{"would start now on worker cluster large", "large: ADMITTED", "small: NEVER  cannot run in t: 16 nvidia.com/gpu is more than the most"}},
		"both admit it": {workers: []string{"small", "large"}, objects: []any{secret("small", small, token), secret("large", large, token)}, gpus: 1,
			outcome: check.Admitted, says: []string{"on the first of 2 worker clusters that admits it (small, large)"}},
		"one is busy": {workers: []string{"small", "busy"}, objects: []any{secret("small", small, token), secret("busy", busy, token)}, gpus: 4,
			outcome: check.Waits, detail: check.WorkersWait, says: []string{"none of 2 worker clusters would admit it now", "busy: WAITS  would not start now: 16 more nvidia.com/gpu needed"}},
		"too small": {workers: []string{"small"}, objects: []any{secret("small", small, token)}, gpus: 4,
			outcome: check.Never, detail: check.WorkersNever, says: []string{"worker cluster small: 16 nvidia.com/gpu is more than the most"}},
		"no permission for a kubeconfig": {workers: []string{"small", "secret"}, objects: []any{secret("small", small, token)}, gpus: 4,
			outcome: check.Unknown, detail: check.WorkerUnread, says: []string{"the answer of worker cluster secret is unknown", "secret: UNKNOWN  no permission to get Secret kueue-system/secret with its kubeconfig"}},
		"wrong token": {workers: []string{"large"}, objects: []any{secret("large", large, "token: old-secret")}, gpus: 4,
			outcome: check.Unknown, detail: check.WorkerUnread, says: []string{"large: UNKNOWN  it could not be read: "}},
		"a program": {workers: []string{"large"}, objects: []any{secret("large", large, "exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [pwned]}")}, gpus: 4,
			outcome: check.Unknown, detail: check.WorkerUnread, says: []string{"large: UNKNOWN  the kubeconfig in Secret kueue-system/large is not used: it runs a program"}},
		"inactive": {workers: []string{"small", "down"}, objects: []any{secret("small", small, token), multiKueueCluster("down", "False")}, gpus: 4,
			outcome: check.Waits, detail: check.WorkersWait, says: []string{"down: WAITS  Kueue is not connected to it: no route to host"}},
		"no MultiKueueCluster": {workers: []string{"gone"}, gpus: 4,
			outcome: check.Waits, detail: check.WorkersWait, says: []string{"its MultiKueueCluster does not exist"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := manager(c.workers, c.objects...)
			for _, w := range c.workers {
				if w != "down" && w != "gone" {
					s.Add(multiKueueCluster(w, "True"))
				}
			}
			s.Forbid = func(verb, plural, _, name string) bool { return plural == "secrets" && name == "secret" }
			v, page := ask(t, s, c.gpus, Workers{Given: []string{kueuesOwn}})
			if v.Verdict != c.outcome || v.Detail != c.detail {
				t.Errorf("%s %s %q, want %s %q", v.Verdict, v.Reason, v.Detail, c.outcome, c.detail)
			}
			for _, says := range c.says {
				if !strings.Contains(page, says) {
					t.Errorf("the page does not say %q", says)
				}
			}
			if data, _ := json.Marshal(v); strings.Contains(string(data)+page, "secret-of-kueue") || strings.Contains(string(data)+page, "old-secret") {
				t.Error("a token is in the answer")
			}
			if t.Failed() {
				t.Log(page)
			}
		})
	}
}

// ask returns the verdict on a job of 4 pods, and its page.
func ask(t *testing.T, s *fixture.Server, gpus int, w Workers) (*check.Verdict, string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	io, _ := output.Test()
	f := &factory.Factory{IO: io, Env: os.Getenv, Now: func() time.Time { return fixture.Noon }, Version: "test"}
	c := &factory.Cluster{Client: s.Client(), Now: f.Now}
	in, err := Load(context.Background(), c, "t")
	if err != nil {
		t.Fatal(err)
	}
	checker, err := check.New(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(fixture.Job("j", 4, gpus, ""))
	object := map[string]any{}
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	v, err := checker.Check(context.Background(), check.Request{Object: object, Namespace: "t", Remedies: true,
		Workers: w.Reader(f, c, in, "t", []map[string]any{object}, 0)})
	if err != nil {
		t.Fatal(err)
	}
	verdict.Fill(v, errs.Suggestion.String)
	return v, verdict.Text(v, 0, time.Duration.String)
}

// TestWorkersUnread: where the worker clusters are not known, the verdict is Unknown and says why; without the flag it names
// the flag.
func TestWorkersUnread(t *testing.T) {
	s := manager([]string{"w"})
	s.Forbid = func(_, plural, _, _ string) bool { return plural == "multikueueconfigs" }
	v, page := ask(t, s, 4, Workers{Given: []string{kueuesOwn}})
	if v.Verdict != check.Unknown || !strings.Contains(page, `cannot get multikueueconfig "both": permission denied`) {
		t.Errorf("%s\n%s", v.Verdict, page)
	}
	v, page = ask(t, s, 4, Workers{})
	t.Log(page)
	if v.Verdict != check.Unknown || !strings.Contains(page, "--workers") || v.Nodes.Status != check.StatusNotApplicable {
		t.Errorf("%s %v\n%s", v.Verdict, v.Nodes, page)
	}
}

// TestWorkersAfterOtherChecks: Kueue sends a job to workers after it has passed all other admission checks, so it waits for
// those, unless no worker can ever admit it.
func TestWorkersAfterOtherChecks(t *testing.T) {
	small, large := worker(t, 8), worker(t, 32)
	budget := json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"budget"},"spec":{"controllerName":"example.com/budget"},"status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	for name, c := range map[string]struct {
		rules   string
		asks    Workers
		workers []string
		outcome check.Outcome
		detail  string
		says    string
	}{
		"not asked":            {`{"name":"remote"},{"name":"budget"}`, Workers{}, []string{"large"}, check.Waits, "", "it waits for admission checks: budget, remote"},
		"a worker admits it":   {`{"name":"remote"},{"name":"budget"}`, Workers{Given: []string{kueuesOwn}}, []string{"large"}, check.Waits, "", "large: ADMITTED"},
		"no worker can":        {`{"name":"remote"},{"name":"budget"}`, Workers{Given: []string{kueuesOwn}}, []string{"small"}, check.Never, check.WorkersNever, "small: NEVER"},
		"the other, elsewhere": {`{"name":"remote"},{"name":"budget","onFlavors":["h100"]}`, Workers{Given: []string{kueuesOwn}}, []string{"large"}, check.Admitted, "", "on worker cluster large"},
	} {
		t.Run(name, func(t *testing.T) {
			s := manager(c.workers, secret("small", small, token), secret("large", large, token), multiKueueCluster("small", "True"), multiKueueCluster("large", "True"), budget, fixture.Flavor("h100"))
			s.Add(fixture.Team("t", "", 64, "", `"admissionChecksStrategy":{"admissionChecks":[`+c.rules+`]}`)...)
			v, page := ask(t, s, 4, c.asks)
			if v.Verdict != c.outcome || v.Detail != c.detail || !strings.Contains(page, c.says) || len(v.Quota.NotModelled) > 0 {
				t.Errorf("%s %s %q, want %s %q and %q\n%s", v.Verdict, v.Reason, v.Detail, c.outcome, c.detail, c.says, page)
			}
		})
	}
}

// TestWorkersOwnContext: a context of the user's kubeconfig takes the place of Kueue's kubeconfig, and the others are not asked.
func TestWorkersOwnContext(t *testing.T) {
	large := worker(t, 32)
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, kubeconfig(large, token), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	s := manager([]string{"large", "small"}, multiKueueCluster("large", "True"), multiKueueCluster("small", "True"))
	s.Forbid = func(_, plural, _, _ string) bool {
		if plural == "secrets" {
			t.Error("a Secret is read")
		}
		return false
	}
	v, page := ask(t, s, 4, Workers{Given: []string{"large=c"}})
	if v.Verdict != check.Admitted || !strings.Contains(page, "small: UNKNOWN  --workers names no context for it") {
		t.Errorf("%s\n%s", v.Verdict, page)
	}
}

// TestWorkersFlag: what the flag takes.
func TestWorkersFlag(t *testing.T) {
	for text, ok := range map[string]bool{"": false, "kueue": true, "a=b": true, "a=b,c=d": true, "a": false, "=b": false, "a=": false, "kueue,a=b": true} {
		w := Workers{Given: strings.Split(text, ",")}
		if err := w.Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
