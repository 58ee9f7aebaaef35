package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// A refusal names the feature gates without which Kueue would not refuse the job, and leaves the gates as they are.
func TestOtherGates(t *testing.T) {
	const cluster = `{"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "r", "labels": {"kueue.x-k8s.io/queue-name": "q"},
		"annotations": {"kueue.x-k8s.io/elastic-job": "%s"}}, "spec": {"enableInTreeAutoscaling": true,
		"headGroupSpec": {"rayStartParams": {}, "template": {"metadata": {"annotations": {"kueue.x-k8s.io/podset-required-topology": "a b"}}, "spec": {"containers": [{"name": "c"}]}}}}}`
	defer embedded.UseDefaults()
	for _, c := range []struct {
		elastic string
		gates   map[string]bool
		want    string
	}{
		{"true", nil, "[[{TopologyAwareScheduling false}]]"}, // the webhook has added the scheduling gates
		{"true", map[string]bool{"ElasticJobsViaWorkloadSlices": false}, "[[{ElasticJobsViaWorkloadSlices true}] [{TopologyAwareScheduling false}]]"},
		{"false", nil, "[[] [{TopologyAwareScheduling false}]]"},
	} {
		embedded.SetGates(c.gates)
		job := fmt.Appendf(nil, cluster, c.elastic)
		for range 2 {
			var all utilerrors.Aggregate
			if err := Validate(context.Background(), job); !errors.As(err, &all) {
				t.Fatal(err)
			}
			got := OtherGates(context.Background(), job, all.Errors())
			if text := fmt.Sprint(got); text != c.want {
				t.Errorf("%s: %s of %v, want %s", c.elastic, text, all, c.want)
			}
		}
	}
}
