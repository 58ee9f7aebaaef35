package script

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestKubectlColumns: custom-columns prints the bytes that kubectl prints.
func TestKubectlColumns(t *testing.T) {
	t.Parallel()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	config := []string{"KUBECONFIG=" + serveSandbox(t, "enterprise")}
	const worker = ".spec.pytorchReplicaSpecs.Worker"
	for _, spec := range []string{
		"NAME:.metadata.name",
		"A:.metadata.name,N:" + worker + ".replicas,KIND:.kind",
		"LABELS:.metadata.labels,NOTHING:.no.such,TEMPLATE:" + worker + ".template.metadata",
		"IMAGES:" + worker + ".template.spec.containers[*].image,COMMAND:" + worker + ".template.spec.containers[0].command",
		"CONTAINERS:" + worker + ".template.spec.containers,X:.status.conditions[*].type",
		"QUEUE:.metadata.labels.kueue\\.x-k8s\\.io/queue-name,SUSPEND:.spec.runPolicy.suspend,LONG TITLE:.apiVersion",
		`PICKED:.status.conditions[?(@.type=="Running")].status,E:.metadata.annotations.none`,
	} {
		ours, err := command(t, []string{"hyperpod", "get-job", "vit-huge", "-n", "hyperpod-ns-researchers", "-o", "custom-columns=" + spec}, config).Output()
		if err != nil {
			t.Errorf("%s: %v", spec, err)
		}
		theirs, err := command(t, []string{kubectl, "get", "pytorchjob", "vit-huge", "-n", "hyperpod-ns-researchers", "-o", "custom-columns=" + spec}, config).Output()
		if err != nil {
			t.Errorf("kubectl %s: %v", spec, err)
		}
		if string(ours) != string(theirs) {
			t.Errorf("%s:\n%s\nkubectl:\n%s", spec, ours, theirs)
		}
	}
}

// TestExampleKeys: the keys in the examples of every command's help exist.
func TestExampleKeys(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	text, err := run(t, home, "help", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var tree struct{ Commands []struct{ Examples []string } }
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	const ns = "hyperpod-ns-researchers"
	if _, err := run(t, home, "start-job", "smpv2-llama2", "-n", ns, "--node-count", "1", "--sandbox"); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range tree.Commands {
		for _, example := range c.Examples {
			if !strings.Contains(example, "jsonpath=") && !strings.Contains(example, "custom-columns=") {
				continue
			}
			tried++
			args := strings.Fields(strings.ReplaceAll(example, "'", ""))[1:]
			if !strings.Contains(example, " -A") {
				args = append(args, "-n", ns)
			}
			out, err := run(t, home, append(args, "--sandbox")...)
			if err != nil || strings.TrimSpace(out) == "" || strings.Contains(out, "<none>") {
				t.Errorf("%s: %q %v", example, out, err)
			}
		}
	}
	if tried < 3 {
		t.Errorf("only %d examples", tried)
	}
}
