package embedded

import (
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"sigs.k8s.io/kueue/pkg/features"
)

// TestSetGatesAgain: an engine with the gates of the one before costs nothing. The registry copies itself for each change.
func TestSetGatesAgain(t *testing.T) {
	want := map[string]bool{string(features.ConcurrentAdmission): true}
	SetGates(want)
	t.Cleanup(func() { SetGates(nil) })
	if n := testing.AllocsPerRun(5, func() { SetGates(want) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
}

// TestSetGatesRegistry: the table has what the registry has.
func TestSetGatesRegistry(t *testing.T) {
	t.Cleanup(func() { SetGates(nil) })
	compare := func(what string) {
		t.Helper()
		for _, g := range table().gates {
			if g.name == features.LocalQueueMetrics {
				continue
			}
			if is, want := features.Enabled(g.name), utilfeature.DefaultMutableFeatureGate.Enabled(g.name); is != want {
				t.Errorf("%s: %s is %t, want %t", what, g.name, is, want)
			}
		}
	}
	SetGates(nil)
	compare("by default")
	SetGates(map[string]bool{string(features.ConcurrentAdmission): true})
	compare("one gate")
	if !features.Enabled(features.ConcurrentAdmission) {
		t.Error("the gate is off")
	}
	SetGates(map[string]bool{"AllAlpha": true})
	compare("all alpha gates")
	SetGates(nil)
	compare("back to the defaults")
}

// A gate that is put back leaves those alone that were switched meanwhile.
func TestSwitchedAtTheSameTime(t *testing.T) {
	SetGates(nil)
	first := WithReasons()
	second := WithoutHashes()
	first()
	if features.Enabled(features.UnadmittedWorkloadsObservability) || features.Enabled(features.SchedulingEquivalenceHashing) {
		t.Error("the first gate is put back, the second is not")
	}
	second()
	if features.Enabled(features.UnadmittedWorkloadsObservability) || !features.Enabled(features.SchedulingEquivalenceHashing) {
		t.Error("both gates have their defaults")
	}
}
