package listclusternodes

import (
	"encoding/json"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/slurm"
)

// TestSlurmNames: what Slurm does not know of a node is null, not an empty id and the year 1.
func TestSlurmNames(t *testing.T) {
	data, err := json.Marshal(slurmRow(slurm.Node{Name: "gpu-1"}, 0))
	if err != nil {
		t.Fatal(err)
	}
	var row map[string]any
	if err := json.Unmarshal(data, &row); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"InstanceId", "LaunchTime"} {
		if value, there := row[key]; !there || value != nil {
			t.Errorf("%s is %v, want null", key, value)
		}
	}
}
