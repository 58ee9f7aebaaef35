package updatecluster

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/clusters/spec"
)

// Every member of the request of update-cluster-software is in SageMaker's model.
func TestSoftwareRequestFitsTheModel(t *testing.T) {
	o := SoftwareOptions{Groups: []string{"a", "b"}, Image: "ami-0123456789abcdef0", Batch: "10%", RollbackBatch: "2", Interval: time.Hour, Alarms: []string{"gpu-errors"}}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(o.request("ml"))
	if err != nil {
		t.Fatal(err)
	}
	rules := spec.Rules{Shape: spec.UpdateClusterSoftware(), Exists: func(string) bool { return true }}
	if _, faults := spec.Parse(data, rules); len(faults) > 0 {
		t.Errorf("%s: %+v", data, faults)
	}
}
