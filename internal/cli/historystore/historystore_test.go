package historystore

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
)

// TestProjectLabel: without the flag, the label is the documented one.
func TestProjectLabel(t *testing.T) {
	var label string
	cmd := &cobra.Command{}
	AddProjectLabel(&factory.Factory{}, cmd, &label, "label")
	flags := cmd.Flags()
	if err := flags.Parse(nil); err != nil || label != DefaultProjectLabel || flags.Lookup("project-label").DefValue != DefaultProjectLabel {
		t.Errorf("%q, %v", label, err)
	}
}

// TestFolders: two clusters never share a folder, and those that had one keep it.
func TestFolders(t *testing.T) {
	for cluster, want := range map[string]string{"sandbox lab": "sandbox-lab", "https://10.0.0.1:6443": "10.0.0.1-6443", "https://10.0.0.1:6443/": "10.0.0.1-6443",
		"https://example.com/k8s/clusters/c-1": "example.com-k8s-clusters-c-1", "sandbox lab-": "sandbox-lab-6d518c22"} {
		if got := folder(cluster); got != want {
			t.Errorf("%s: %s, want %s", cluster, got, want)
		}
	}
	names := []string{"lab", "lab-", "lab--", "lab.", "lab.-", "-", "--"}
	seen := map[string]string{}
	for _, name := range names {
		dir := folder(ofSandbox(name))
		if other, ok := seen[dir]; ok {
			t.Errorf("%q and %q share %s", name, other, dir)
		}
		seen[dir] = name
	}
}
