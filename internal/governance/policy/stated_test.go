package policy

import (
	"slices"
	"testing"

	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// A field that a document leaves out gets Kueue's default where the cluster has another value: the plan lists that change, and
// the file of a time before goes back to it.
func TestAFieldThatIsLeftOutGoesBackToItsDefault(t *testing.T) {
	doc := &Document{Version: Version, Teams: []Team{{Team: "a", Quota: []Quota{{InstanceType: "ml.g5.12xlarge", Count: ptr.To(1)}}}}}
	for field, change := range map[string]func(*kueue.ClusterQueueSpec){
		"stopPolicy":       func(s *kueue.ClusterQueueSpec) { s.StopPolicy = ptr.To(kueue.Hold) },
		"queueingStrategy": func(s *kueue.ClusterQueueSpec) { s.QueueingStrategy = kueue.StrictFIFO },
		"flavorFungibility": func(s *kueue.ClusterQueueSpec) {
			s.FlavorFungibility = &kueue.FlavorFungibility{WhenCanBorrow: kueue.TryNextFlavor}
		},
	} {
		t.Run(field, func(t *testing.T) {
			want, err := ToKueue(doc, DefaultMapping())
			if err != nil {
				t.Fatal(err)
			}
			live := &Live{Objects: Objects{Namespaces: want.Namespaces, Flavors: want.Flavors, LocalQueues: want.LocalQueues, ClusterQueues: []*kueue.ClusterQueue{want.ClusterQueues[0].DeepCopy()}}}
			if ops := Differences(live, want, Prune{}); len(ops) != 0 {
				t.Fatalf("without a change: %+v", ops)
			}
			change(&live.ClusterQueues[0].Spec)
			ops := Differences(live, want, Prune{})
			if len(ops) != 1 || !slices.Equal(ops[0].Fields, []string{field}) {
				t.Fatalf("operations %+v, want one of %s", ops, field)
			}
			after := ops[0].After.(*kueue.ClusterQueue)
			if left := differing(&after.Spec, &want.ClusterQueues[0].Spec); len(left) > 0 {
				t.Errorf("after it, %v differ", left)
			}
			if spec := ops[0].Body()["spec"].(map[string]any); spec[field] == nil {
				t.Errorf("apply sends no %s", field)
			}
		})
	}
}
