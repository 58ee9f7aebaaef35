package simulate_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// TestSumsAreExact: fractions of cores add up to the same number in any order.
func TestSumsAreExact(t *testing.T) {
	w := world(t, "lend-three.yaml")
	i := slices.IndexFunc(w.Objects, func(o client.Object) bool { return o.GetName() == "four" })
	like := w.Objects[i].(*kueue.Workload)
	for _, o := range w.Objects {
		if q, ok := o.(*kueue.ClusterQueue); ok {
			g := &q.Spec.ResourceGroups[0]
			g.CoveredResources = append(g.CoveredResources, "cpu")
			g.Flavors[0].Resources = append(g.Flavors[0].Resources, kueue.ResourceQuota{Name: "cpu", NominalQuota: resource.MustParse("100")})
		}
	}
	milli := int64(0)
	for n := range 60 {
		c := like.DeepCopy()
		c.Name, c.UID = fmt.Sprintf("n%d", n), types.UID(fmt.Sprint(n))
		m := int64(1 + 97*n)
		milli += m
		cpu := *resource.NewMilliQuantity(m, resource.DecimalSI)
		c.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests = map[corev1.ResourceName]resource.Quantity{"cpu": cpu}
		a := &c.Status.Admission.PodSetAssignments[0]
		a.Flavors = map[corev1.ResourceName]kueue.ResourceFlavorReference{"cpu": "a100"}
		a.ResourceUsage = map[corev1.ResourceName]resource.Quantity{"cpu": cpu}
		w.Objects = append(w.Objects, c)
	}
	for range 5 {
		r := run(t, w, 0)
		if !reflect.DeepEqual(r.Teams[1].Before, r.Teams[1].After) {
			t.Errorf("nothing changed: %+v %+v", r.Teams[1].Before, r.Teams[1].After)
		}
		if got, want := r.Teams[1].After.Used[0].Amount, quota.Base(milli)/1000; got != want {
			t.Errorf("used %v, want %v", got, want)
		}
		if got, want := r.After.Borrowed[0].Amount, quota.Base(milli-100_000)/1000; got != want {
			t.Errorf("borrowed %v, want %v", got, want)
		}
	}
}
