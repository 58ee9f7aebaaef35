package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestLargeClustersRunOnce: with fair sharing, a large cluster is not run again to look for
// other outcomes. A note reports that.
func TestLargeClustersRunOnce(t *testing.T) {
	for _, c := range []struct {
		name      string
		queues    int
		workloads int
		fair      bool
		want      bool
	}{
		{"small", 10, 10, true, false},
		{"large", 320, 320, true, true},
		{"large without fair sharing", 320, 320, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := simulate.World{Config: admission.Config{FairSharing: c.fair}, Now: fixture.Noon}
			for i := range c.queues {
				w.Objects = append(w.Objects, client.Object(&kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("q%d", i)}}))
			}
			for i := range c.workloads {
				w.Objects = append(w.Objects, &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprintf("w%d", i)}})
			}
			r, err := simulate.Run(t.Context(), w, nil, simulate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.ContainsFunc(r.Notes, func(n simulate.Note) bool { return n.Code == simulate.TiesUnknown }); got != c.want {
				t.Errorf("note %v, want %v", got, c.want)
			}
		})
	}
}
