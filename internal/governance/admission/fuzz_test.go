package admission

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
)

// FuzzEngine changes fields of a cluster's objects at random: whatever comes out, the
// engine loads it or says what is wrong with it, and answers. Three bytes are one
// change: the object, the field, and what becomes of it. Bytes after [mostChanges] are ignored.
func FuzzEngine(f *testing.F) {
	f.Add([]byte{})
	docs := fuzzed(f)
	for i := range docs {
		for _, op := range []byte{0, 3, 5} {
			f.Add([]byte{byte(i), 7, op, byte(i), 20, op + 1})
		}
	}
	f.Fuzz(func(t *testing.T, changes []byte) { survives(t, docs, changes) })
}

// TestMutatedObjects takes some changes at random.
func TestMutatedObjects(t *testing.T) {
	docs, n := fuzzed(t), 2000
	if testing.Short() {
		n = 200
	}
	for i := range n {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		changes := make([]byte, 3*(1+r.IntN(4))+r.IntN(2))
		for k := range changes {
			changes[k] = byte(r.Uint32())
		}
		if !t.Run(fmt.Sprintf("%x", changes), func(t *testing.T) { survives(t, docs, changes) }) {
			return
		}
	}
}

// mostChanges is about one for each object of [fuzzed]. With more, most of the objects are invalid.
const mostChanges = 30

func survives(t *testing.T, docs []document, changes []byte) {
	changed := map[int]any{} // trees
	changes = changes[:min(len(changes), 3*mostChanges+len(changes)%3)]
	for ; len(changes) >= 3; changes = changes[3:] {
		i := int(changes[0]) % len(docs)
		if changed[i] == nil {
			var tree any
			if err := json.Unmarshal(docs[i].data, &tree); err != nil {
				t.Fatal(err)
			}
			changed[i] = tree
		}
		mutate(changed[i], int(changes[1]), changes[2])
	}
	var objs []client.Object
	for i := range docs {
		if changed[i] == nil {
			objs = append(objs, docs[i].objects...) // the engine does not write to them
			continue
		}
		data, err := json.Marshal(changed[i])
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode.Objects(data)
		if err != nil {
			continue
		}
		objs = append(objs, got...)
	}
	gates := map[string]bool{"ConcurrentAdmission": len(objs)%2 == 0, "TASFailedNodeReplacementFailFast": len(changes) == 1}
	e, err := New(Config{FairSharing: len(changes) == 1, Gates: gates, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	worded(t, e.Load(t.Context(), objs...))
	for _, o := range objs {
		if w, ok := o.(*kueue.Workload); ok {
			if _, err := e.Probe(t.Context(), w); err != nil {
				worded(t, err)
			}
			if a := w.Status.Admission; a != nil {
				for i := range a.PodSetAssignments {
					Placed(&a.PodSetAssignments[i])
				}
			}
		}
	}
	_, err = e.Run(t.Context(), 10)
	worded(t, err)
	e.Pending("")
	e.Pending("a")
	e.Warnings()
}

// worded fails for an error that is a panic of Kueue's.
func worded(t *testing.T, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), "runtime error") || strings.Contains(err.Error(), "incomplete or inconsistent")) {
		t.Error(err)
	}
}

// document is an object as JSON, and what is decoded of it.
type document struct {
	data    []byte
	objects []client.Object
}

// fuzzed is a cluster with one of everything.
func fuzzed(t testing.TB) []document {
	f := newFixture()
	topology(f, 2)
	f.add(&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "spare"}})
	two := func(cq *kueue.ClusterQueue) {
		fq := *cq.Spec.ResourceGroups[0].Flavors[0].DeepCopy()
		fq.Name = "spare"
		cq.Spec.ResourceGroups[0].Flavors = append(cq.Spec.ResourceGroups[0].Flavors, fq)
		cq.Spec.FlavorFungibility = &kueue.FlavorFungibility{WhenCanBorrow: kueue.MayStopSearch, WhenCanPreempt: kueue.TryNextFlavor}
		cq.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "check", OnFlavors: []kueue.ResourceFlavorReference{"spare"}}}}
	}
	f.team("a", "all", "8", preempts(kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny), borrowingLimit("4"), two)
	f.team("b", "all", "8", strict, weight("2"))
	f.add(&kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: kueue.CohortSpec{ParentName: "root"}},
		&kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "check"}, Spec: kueue.AdmissionCheckSpec{ControllerName: kueue.ProvisioningRequestControllerName}},
		f.job("a", "moves", 1, onNode("n1"), failed("n1")),
		f.job("a", "comes", 1, delayed),
		f.job("b", "better", 1, variant("a100")),
		f.job("b", "worse", 1, running, variant("spare")),
		&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "limits", Namespace: "a"}, Spec: corev1.LimitRangeSpec{
			Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{gpu: resource.MustParse("8")}}}}},
		f.job("a", "runs", 2, running, func(w *kueue.Workload) {
			w.Status.Admission.PodSetAssignments[0].TopologyAssignment = &kueue.TopologyAssignment{
				Levels: []string{corev1.LabelHostname},
				Slices: []kueue.TopologyAssignmentSlice{{
					DomainCount:    1,
					PodCounts:      kueue.TopologyAssignmentSlicePodCounts{Universal: ptr.To[int32](1)},
					ValuesPerLevel: []kueue.TopologyAssignmentSliceLevelValues{{Individual: &kueue.TopologyAssignmentSliceLevelIndividualValues{Roots: []string{"n0"}}}},
				}},
			}
		}),
		f.job("b", "runs", 6, running),
		f.job("a", "racked", 4, prio(5), inRack),
		f.job("a", "partial", 1, pods(12, 2)),
		f.job("b", "waits", 4, prio(3)),
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stray", Namespace: "a"}, Spec: corev1.PodSpec{NodeName: "n1", Containers: podSet("x", 1, 1).Template.Spec.Containers}},
	)
	var out []document
	for _, o := range f.objs {
		gvks, _, err := decode.Scheme().ObjectKinds(o)
		if err != nil {
			t.Fatal(err)
		}
		o.GetObjectKind().SetGroupVersionKind(gvks[0])
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := decode.Objects(data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, document{data, objects})
	}
	return out
}

// mutate changes the n-th value of a tree.
func mutate(tree any, n int, op byte) {
	type slot struct {
		old any
		set func(any)
		del func()
	}
	var slots []slot
	var visit func(v any, name string)
	visit = func(v any, name string) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if k != "apiVersion" && k != "kind" {
					slots = append(slots, slot{v[k], func(x any) { v[k] = x }, func() { delete(v, k) }})
				}
				visit(v[k], k)
			}
		case []any:
			for i := range v {
				slots = append(slots, slot{v[i], func(x any) { v[i] = x }, func() { v[i] = map[string]any{} }})
				visit(v[i], name)
			}
		}
	}
	visit(tree, "")
	if len(slots) == 0 {
		return // all of it is gone
	}
	s := slots[n%len(slots)]
	switch op % 10 {
	case 0:
		s.del()
	case 1:
		s.set(nil)
	case 2:
		s.set("")
	case 3:
		s.set(0)
	case 4:
		s.set(-1)
	case 5:
		s.set(math.MaxInt32)
	case 6:
		s.set("9999999999999999999")
	case 7:
		s.set([]any{})
	case 8:
		if l, ok := s.old.([]any); ok && len(l) > 0 {
			s.set(append(slices.Clone(l), l[0]))
		}
	case 9:
		s.set("-1")
	}
}
