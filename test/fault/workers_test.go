package fault_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/test/fault"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// withWorkers are commands that also ask the worker clusters of MultiKueue.
var withWorkers = []string{
	"start-job -f testdata/remote.yaml -n t --dry-run --workers -o json",
	"start-job -f testdata/remote.yaml -n t --dry-run --workers",
	"explain-job waiting -n t --workers -o json",
}

// TestWorkers runs commands behind the faults of a worker cluster; the cluster of MultiKueue has none. The answer is a verdict,
// Unknown where the worker could not be read.
func TestWorkers(t *testing.T) {
	worker := fixture.New(fixture.Flavor("a100"), fixture.Rules(""), fixture.Node("n0", "a100", 8, ""))
	worker.Add(fixture.Team("t", "", 8, "", "")...)
	matrix{title: "faults of worker clusters", prefix: "workers: ", lines: withWorkers, oneOf: 2,
		each: func(t *testing.T, line string, kind string, seed uint64) (int, *fault.ChaosProxy) {
			chaos := fault.NewChaos(worker, kind, seed)
			return try(t, line, chaos, func(string) []string { return behindManager(t, chaos) }), chaos
		}}.run(t)
}

// behindManager serves a cluster and its only worker. It returns the variables that lead to the former.
func behindManager(t *testing.T, worker http.Handler) []string {
	t.Helper()
	far := httptest.NewUnstartedServer(worker)
	far.Config.ErrorLog = log.New(io.Discard, "", 0)
	far.StartTLS() // Kueue's kubeconfigs are used only with TLS
	t.Cleanup(func() { far.CloseClientConnections(); far.Close() })
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: far.Certificate().Raw}))
	object := func(format string, args ...any) any { return json.RawMessage(fmt.Sprintf(format, args...)) }
	config := func(server, more string) []byte {
		return fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: %q%s}}]\nusers: [{name: u, user: {}}]\n", server, more)
	}
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(""),
		object(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"remote"},"spec":{"controllerName":"kueue.x-k8s.io/multikueue","parameters":{"apiGroup":"kueue.x-k8s.io","kind":"MultiKueueConfig","name":"all"}},"status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`),
		object(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueConfig","metadata":{"name":"all"},"spec":{"clusters":["far"]}}`),
		object(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueCluster","metadata":{"name":"far"},"spec":{"clusterSource":{"kubeConfig":{"location":"far","locationType":"Secret"}}},"status":{"conditions":[{"type":"Active","status":"True","reason":"Active","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`),
		object(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"far","namespace":"kueue-system"},"data":{"kubeconfig":%q}}`, base64.StdEncoding.EncodeToString(config(far.URL, ", certificate-authority-data: "+authority))))
	s.Add(fixture.Team("t", "", 64, "", `"admissionChecksStrategy":{"admissionChecks":[{"name":"remote"}]}`)...)
	s.Add(object(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"waiting","namespace":"t","uid":"uid-t-waiting","labels":{"kueue.x-k8s.io/queue-name":"queue"}},"spec":{"runPolicy":{"suspend":true},"pytorchReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"pytorch","image":"i","resources":{"limits":{"nvidia.com/gpu":4}}}]}}}}}}`),
		fixture.Work("t", "waiting", 8, 0, time.Hour, false))
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, config(server.URL, ""), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"KUBECONFIG=" + path}
}
