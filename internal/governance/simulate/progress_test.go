package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestLongQueueSettles: Kueue takes one head of a queue per cycle; a queue of more
// jobs than the limit of cycles settles if all fit.
func TestLongQueueSettles(t *testing.T) {
	const jobs = 1100
	w := world(t, "lend-three.yaml")
	i := slices.IndexFunc(w.Objects, func(o client.Object) bool { _, ok := o.(*kueue.Workload); return ok })
	like := w.Objects[i].(*kueue.Workload)
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok {
			q.Spec.ResourceGroups[0].Flavors[0].Resources[0].NominalQuota = resource.MustParse("1000000")
		}
	}
	for n := range jobs {
		c := like.DeepCopy()
		c.Name, c.UID, c.OwnerReferences = fmt.Sprintf("n%d", n), types.UID(fmt.Sprint(n)), nil
		c.Status = kueue.WorkloadStatus{}
		c.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = *resource.NewQuantity(int64(n+1), resource.DecimalSI)
		w.Objects = append(w.Objects, c)
	}
	if r := run(t, w, 0); !r.Settled || r.Loop != nil || r.After.Admitted < jobs || r.After.Waiting != 0 {
		t.Errorf("settled %v, loop %+v, %+v", r.Settled, r.Loop, r.After)
	}
}
