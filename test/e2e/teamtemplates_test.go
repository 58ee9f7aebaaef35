package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// teamTemplates is a team's templates with the rights that the HyperPod chart
// gives its members: they make, use and replace them, and may not list them.
func teamTemplates(t *testing.T, bed *cluster.Bed) {
	admin := newUser(t, bed.Kubeconfig)
	kubeconfig, err := bed.MemberKubeconfig(t.Context(), "ml-engineers")
	if err != nil {
		t.Fatal(err)
	}
	m := newUser(t, kubeconfig)

	m.ok("create-template", "ours", "--from", "smpv2-llama2", "--team", "--fix", "NODE_COUNT=1", "--description", "the team's")
	theirs, err := bed.Kubectl(t.Context(), "get", "configmap", "ours", "-n", engineers, "-o", `jsonpath={.data.template\.yaml}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.ok("get-template", "ours", "-o", "yaml"); got != theirs {
		t.Errorf("get-template and kubectl differ:\n%s\n---\n%s", got, theirs)
	}
	if r := m.run("list-templates", "-o", "name"); r.code != 0 || !strings.Contains(r.stderr, "you need permission to list configmaps in "+engineers) ||
		!strings.Contains(r.stdout, "pytorch\n") || strings.Contains(r.stdout, "ours") {
		t.Errorf("a member's list: %+v", r)
	}
	if out := admin.ok("list-templates", "-o", "name", "-n", engineers); !strings.Contains(out, "ours\n") {
		t.Errorf("an administrator's list: %s", out)
	}
	m.ok("start-job", "--name", "mine", "--template", "ours", "--priority", "training", "--wait=admitted", "--timeout", "60s")
	if r := m.run("start-job", "--name", "more", "--template", "ours", "--node-count", "2"); r.code != 2 || !strings.Contains(r.stderr, "fixes NODE_COUNT") {
		t.Errorf("another number of nodes: %+v", r)
	}
	if r := m.run("create-template", "ours", "--from", "mpi", "--team"); r.code != 1 || !strings.Contains(r.stderr, "--replace") {
		t.Errorf("a second time: %+v", r)
	}
	m.ok("create-template", "ours", "--from", "smpv2-llama2", "--team", "--replace", "--default", "NODE_COUNT=1")
	if r := m.run("start-job", "--name", "theirs", "--template", "ours", "-n", "hyperpod-ns-researchers"); r.code != 4 && r.code != 5 {
		t.Errorf("another team's template: %+v", r)
	}

	// One that kubectl has made is used like any other.
	path := filepath.Join(t.TempDir(), "llama.yaml")
	if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"create", "configmap", "byhand", "-n", engineers, "--from-file=" + path},
		{"label", "configmap", "byhand", "-n", engineers, "cli.hyperpod/template=true"},
	} {
		if _, err := bed.Kubectl(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	m.ok("start-job", "--name", "byhand", "--template", "byhand", "--dry-run=server")

	t.Run("repeat", func(t *testing.T) { repeat(t, bed, m.in(t)) })
	t.Run("new instance type", func(t *testing.T) { newType(t, bed, admin.in(t)) })
}

// repeat: a job that runs, with what the real Kueue has put into its pods, comes
// back as its owner wrote it.
func repeat(t *testing.T, bed *cluster.Bed, m user) {
	spec := func(args ...string) any {
		var job struct{ Spec any }
		out := m.ok(append([]string{"start-job", "--name", "twin", "--dry-run=client", "-o", "json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &job); err != nil {
			t.Fatal(err)
		}
		return job.Spec
	}
	selector, err := bed.Kubectl(t.Context(), "get", "pytorchjob", "mine", "-n", engineers, "-o",
		"jsonpath={.spec.pytorchReplicaSpecs.Worker.template.spec.nodeSelector}")
	if err != nil || !strings.Contains(selector, "compute-type") {
		t.Errorf("the running job has no node selector of its flavor, so this shows nothing: %s, %v", selector, err)
	}
	original := spec("--template", "smpv2-llama2", "--node-count", "1", "--priority", "training")
	again := spec("--from", "mine")
	if diff := cmp.Diff(plain(original), plain(again)); diff != "" {
		t.Errorf("the repeated job differs:\n%s", diff)
	}
	m.ok("start-job", "--from", "mine", "--name", "mine-2", "--wait=admitted", "--timeout", "60s")
}

// plain is a value with its numbers as text: the API server writes quantities so.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = plain(v[k])
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	}
	return fmt.Sprint(v)
}

// newType: a type that is in no table is what its nodes are.
func newType(t *testing.T, bed *cluster.Bed, admin user) {
	args := []string{"start-job", "--name", "new", "--image", "example.com/i:1", "--entry-script", "t.py", "-n", engineers, "--dry-run=server", "-o",
		"jsonpath={.spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits}", "--instance-type"}
	if r := admin.run(append(args, "p9.48xlarge")...); r.code != 2 || !strings.Contains(r.stderr, "not found") || !strings.Contains(r.stderr, `did you mean "ml.p5.48xlarge"`) {
		t.Errorf("a type without nodes: %+v", r)
	}
	if err := bed.ApplyNodes(t.Context(), cluster.Nodes("ml.p9.48xlarge", 2)); err != nil {
		t.Fatal(err)
	}
	if out := admin.ok(append(args, "p9.48xlarge")...); out != `{"nvidia.com/gpu":"4","vpc.amazonaws.com/efa":"2"}` && out != `{"nvidia.com/gpu":4,"vpc.amazonaws.com/efa":2}` {
		t.Errorf("its devices are %s", out)
	}
	out := admin.ok("list-instance-types", "p9", "-o", "jsonpath={.instanceTypes[0].InstanceType} {.instanceTypes[0].Nodes} {.instanceTypes[0].AcceleratorDevicesAvailable} {.instanceTypes[0].VCPU}")
	if out != "ml.p9.48xlarge 2 8 100" {
		t.Errorf("list-instance-types says %q", out)
	}
}
