package admission

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/resources"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

var (
	treeFlavors   = []string{"a100", "h100"}
	treeResources = []corev1.ResourceName{corev1.ResourceCPU, gpu}
)

// randomQuotas are two flavors of two resources, cpu in odd thousandths. Limits
// are the kinds that a webhook lets through: only below a parent, and a queue
// lends no more than it has.
func randomQuotas(r *rand.Rand, most int, parent, isCohort bool) []kueue.ResourceGroup {
	g := kueue.ResourceGroup{CoveredResources: treeResources}
	for _, flavor := range treeFlavors {
		f := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(flavor)}
		for _, name := range treeResources {
			amount := func(n int) resource.Quantity {
				if name == corev1.ResourceCPU {
					return *resource.NewMilliQuantity(int64(n)*350, resource.DecimalSI)
				}
				return *resource.NewQuantity(int64(n), resource.DecimalSI)
			}
			nominal := r.IntN(most)
			q := kueue.ResourceQuota{Name: name, NominalQuota: amount(nominal)}
			if parent && r.IntN(2) == 0 {
				q.BorrowingLimit = ptr.To(amount(r.IntN(8)))
			}
			if parent && r.IntN(3) == 0 {
				limit := r.IntN(nominal + 1)
				if isCohort {
					limit = r.IntN(12)
				}
				q.LendingLimit = ptr.To(amount(limit))
			}
			f.Resources = append(f.Resources, q)
		}
		g.Flavors = append(g.Flavors, f)
	}
	return []kueue.ResourceGroup{g}
}

func randomWeight(r *rand.Rand) *kueue.FairSharing {
	if r.IntN(3) == 0 {
		return nil
	}
	return &kueue.FairSharing{Weight: resource.NewMilliQuantity(int64(r.IntN(4))*500, resource.DecimalSI)}
}

// slim is a Kueue object's quota as package state has it.
func slim(t *testing.T, groups []kueue.ResourceGroup) []state.ResourceGroup {
	t.Helper()
	data, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	var out []state.ResourceGroup
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func weightIn(fs *kueue.FairSharing) *resource.Quantity {
	if fs == nil {
		return nil
	}
	return fs.Weight
}

// TestQuotaTree judges package quota by Kueue's own snapshot: what every queue of
// a random tree of cohorts could get now, could ever hold, and its fair share.
func TestQuotaTree(t *testing.T) {
	trees := 3000
	if testing.Short() {
		trees = 300
	}
	compared, debts, shares := 0, 0, 0
	for seed := range uint64(trees) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := newFixture().add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "h100"}})
		var queues []state.ClusterQueue
		var cohorts []state.Cohort
		n := r.IntN(6)
		for i := range n {
			c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}}
			if i > 0 && r.IntN(4) > 0 {
				c.Spec.ParentName = kueue.CohortReference(fmt.Sprint("c", r.IntN(i)))
			}
			if r.IntN(2) == 0 {
				c.Spec.ResourceGroups = randomQuotas(r, 6, c.Spec.ParentName != "", true)
			}
			c.Spec.FairSharing = randomWeight(r)
			f.add(c)
			cohorts = append(cohorts, state.Cohort{Meta: state.Meta{Name: c.Name}, Parent: string(c.Spec.ParentName),
				ResourceGroups: slim(t, c.Spec.ResourceGroups), FairWeight: weightIn(c.Spec.FairSharing)})
		}
		usage := map[string]quota.Usage{}
		for i := range 1 + r.IntN(6) {
			name, in := fmt.Sprint("q", i), ""
			if r.IntN(8) > 0 {
				in = fmt.Sprint("c", r.IntN(n+1))
			}
			f.team(name, in, "0", func(cq *kueue.ClusterQueue) {
				cq.Spec.ResourceGroups = randomQuotas(r, 10, in != "", false)
				cq.Spec.FairSharing = randomWeight(r)
				queues = append(queues, state.ClusterQueue{Meta: state.Meta{Name: name}, Cohort: in,
					ResourceGroups: slim(t, cq.Spec.ResourceGroups), FairWeight: weightIn(cq.Spec.FairSharing)})
			})
			usage[name] = quota.Usage{}
			for _, flavor := range treeFlavors {
				w, used := runningIn(r, name, flavor)
				f.add(w)
				for k, n := range used {
					usage[name][k] += n
				}
			}
		}
		snapshot, err := f.engine(t, Config{FairSharing: true}).cache.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tree := quota.NewTree(queues, cohorts, usage)
		for _, q := range queues {
			theirs := snapshot.ClusterQueue(kueue.ClusterQueueReference(q.Name))
			if theirs == nil {
				t.Fatalf("seed %d: Kueue holds %s inactive", seed, q.Name)
			}
			for _, flavor := range treeFlavors {
				for _, name := range treeResources {
					fr := resources.FlavorResource{Flavor: kueue.ResourceFlavorReference(flavor), Resource: name}
					if ours, want := tree.Available(q.Name, flavor, string(name)), theirs.Available(fr).Int64(); ours != want {
						t.Fatalf("seed %d: %s can get %d of %s/%s, Kueue says %d", seed, q.Name, ours, flavor, name, want)
					}
					if ours, want := tree.Potential(q.Name, flavor, string(name)), theirs.PotentialAvailable(fr).Int64(); ours != want {
						t.Fatalf("seed %d: %s could hold %d of %s/%s, Kueue says %d", seed, q.Name, ours, flavor, name, want)
					}
					compared++
					if theirs.ResourceNode.Usage[fr].Cmp(theirs.PotentialAvailable(fr)) > 0 {
						debts++
					}
				}
			}
			share := tree.Share(q.Name)
			if ours, want := share.Weighted, theirs.DominantResourceShare().PreciseWeightedShare(); ours != want {
				t.Fatalf("seed %d: the share of %s is %v, Kueue says %v", seed, q.Name, ours, want)
			}
			if share.Weight != theirs.FairWeight {
				t.Fatalf("seed %d: the weight of %s is %v, Kueue says %v", seed, q.Name, share.Weight, theirs.FairWeight)
			}
			if share.Weighted > 0 {
				shares++
			}
		}
	}
	t.Logf("%d comparisons, %d of queues over all they could hold, %d queues with a share", compared, debts, shares)
	if compared < trees*4 || debts == 0 || shares == 0 {
		t.Error("the trees are too alike to prove anything")
	}
}

// runningIn is an admitted workload of random size in a queue and flavor.
func runningIn(r *rand.Rand, queue, flavor string) (client.Object, quota.Usage) {
	name := queue + "-" + flavor
	w := &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: queue, Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(noon)},
		Spec:       kueue.WorkloadSpec{QueueName: "queue", Priority: ptr.To[int32](0), PodSets: []kueue.PodSet{podSet("main", 1, 0)}},
	}
	requests := corev1.ResourceList{}
	used := quota.Usage{}
	assignment := kueue.PodSetAssignment{Name: "main", Count: ptr.To[int32](1), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: requests}
	for _, res := range treeResources {
		n := int64(r.IntN(12))
		requests[res] = *resource.NewQuantity(n, resource.DecimalSI)
		if res == corev1.ResourceCPU {
			n *= 350
			requests[res] = *resource.NewMilliQuantity(n, resource.DecimalSI)
		}
		assignment.Flavors[res] = kueue.ResourceFlavorReference(flavor)
		used[quota.Key{Flavor: flavor, Resource: string(res)}] = n
	}
	w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests = requests
	w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(queue), PodSetAssignments: []kueue.PodSetAssignment{assignment}}
	for _, c := range []string{kueue.WorkloadQuotaReserved, kueue.WorkloadAdmitted} {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.NewTime(noon)})
	}
	return w, used
}
