package script

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// TestDriftNamesManager: a difference between a file and a cluster comes with the field
// manager that last changed the object.
func TestDriftNamesManager(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	box, err := sandbox.Create(context.Background(), filepath.Join(home, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(box)
	defer server.Close()
	kube := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kube, fmt.Appendf(nil, kubeconfig, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	queue := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"hyperpod-ns-vision-clusterqueue"},"spec":{"cohortName":"shared-pool","namespaceSelector":{},
		"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"ml.g5.12xlarge","resources":[{"name":"nvidia.com/gpu","nominalQuota":"4"}]}]}]}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/apis/kueue.x-k8s.io/v1beta2/clusterqueues?fieldManager=terraform", strings.NewReader(queue))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is not read
	if resp.StatusCode != http.StatusCreated {
		t.Fatal(resp.Status)
	}
	file := filepath.Join(home, "teams.yaml")
	if err := os.WriteFile(file, []byte("version: hyperpod.policy/v1\nteams: [{team: vision, quota: [{instanceType: ml.g5.12xlarge, count: 2}], fairShareWeight: 1}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := runWith(t, home, []string{"KUBECONFIG=" + kube}, "governance", "audit", "-f", file, "-o", "json")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`"ChangedBy": "terraform"`, `(cluster -\u003e file); last changed by terraform at 20`} {
		if !strings.Contains(strings.ReplaceAll(out, ">", `\u003e`), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
