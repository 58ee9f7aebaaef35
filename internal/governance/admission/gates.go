package admission

import (
	"slices"
	"sync/atomic"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/kueue/pkg/features"
)

// setGates makes the process-wide gates equal to the defaults changed by want.
// It returns a warning for each gate that is unknown, removed or locked. Such a
// gate must not even be tried: the registry remembers it, and refuses every later
// change because of it.
func setGates(want map[string]bool) []Warning {
	gates := utilfeature.DefaultMutableFeatureGate
	known := gates.GetAll()
	set := map[string]bool{}
	for name, spec := range known {
		if !spec.LockToDefault && gates.Enabled(name) != spec.Default {
			set[string(name)] = spec.Default
		}
	}
	var warnings []Warning
	for name, on := range want {
		spec, ok := known[featuregate.Feature(name)]
		switch {
		case !ok && name == DynamicQuotaGate: // what was read is what it has
		case !ok:
			warnings = append(warnings, Warning{Code: GateUnknown, Name: name, On: on})
		case spec.LockToDefault && on != spec.Default:
			warnings = append(warnings, Warning{Code: GateLocked, Name: name, On: on})
		case !spec.LockToDefault:
			set[name] = on
		}
	}
	if err := gates.SetFromMap(set); err != nil {
		// A gate without the one it depends on. Back to the defaults as a whole.
		for name := range set {
			set[name] = known[featuregate.Feature(name)].Default
		}
		_ = gates.SetFromMap(set)
		warnings = append(warnings, Warning{Code: GatesRefused, Reason: err.Error()})
	}
	for _, g := range notModelled {
		if want[string(g)] {
			warnings = append(warnings, Warning{Code: GateNotModelled, Name: string(g)})
		}
	}
	ask(gates)
	slices.SortFunc(warnings, compareWarnings)
	return warnings
}

// ask makes Kueue look its gates up in a table of the registry's answers. Kueue reads them many times in every
// decision; the registry looks each one up again, and goes through all gates for a change.
func ask(registry featuregate.MutableVersionedFeatureGate) {
	t, ok := utilfeature.DefaultFeatureGate.(*gateTable)
	if !ok {
		t = &gateTable{FeatureGate: registry}
		for name := range registry.GetAll() {
			t.names[slot(name)] = append(t.names[slot(name)], gate{name, t.count})
			t.count++
		}
		utilfeature.DefaultFeatureGate = t
	}
	on := make([]bool, t.count)
	for _, list := range t.names {
		for _, g := range list {
			on[g.index] = registry.Enabled(g.name)
		}
	}
	if i := t.index(features.LocalQueueMetrics); i >= 0 {
		on[i] = false // nobody reads them, and each change of a queue counts all its workloads
	}
	t.on.Store(&on)
}

// gateTable is the registry of gates with quick answers.
type gateTable struct {
	featuregate.FeatureGate
	names [256][]gate // by slot; they never change
	count int
	on    atomic.Pointer[[]bool] // by index
}

// gate is a name and its place in gateTable.on.
type gate struct {
	name  featuregate.Feature
	index int
}

// slot spreads names over the table. Kueue has about a hundred.
func slot(f featuregate.Feature) byte {
	n := len(f)
	if n == 0 {
		return 0
	}
	return byte(n)*37 + f[n/2]*11 + f[n-1]*5 + f[n/3]
}

// index returns the place of a gate, -1 if there is none.
func (t *gateTable) index(f featuregate.Feature) int {
	list := t.names[slot(f)]
	for i := range list {
		if list[i].name == f {
			return list[i].index
		}
	}
	return -1
}

// Enabled reports whether a gate is on.
func (t *gateTable) Enabled(f featuregate.Feature) bool {
	if i := t.index(f); i >= 0 {
		return (*t.on.Load())[i]
	}
	return t.FeatureGate.Enabled(f)
}

// switched turns a gate on or off for a while. The result puts it back.
func switched(f featuregate.Feature, on bool) (restore func()) {
	t := utilfeature.DefaultFeatureGate.(*gateTable) // since New
	was, i := t.on.Load(), t.index(f)
	if i < 0 || (*was)[i] == on {
		return func() {}
	}
	now := slices.Clone(*was)
	now[i] = on
	t.on.Store(&now)
	return func() { t.on.Store(was) }
}

// withReasons turns on, for the time of one decision, the gate under which Kueue's
// flavor assigner says which kind of obstacle it met. The gate changes nothing
// else there; it stays off outside, because it also changes which conditions are
// written.
func withReasons() (restore func()) {
	return switched(features.UnadmittedWorkloadsObservability, true)
}

// withoutHashes is for counting what holds quota. Kueue computes a hash to find equivalent waiting workloads,
// which this does not need.
func withoutHashes() (restore func()) {
	return switched(features.SchedulingEquivalenceHashing, false)
}

// DynamicQuotaGate is a gate of Kueue 0.20: see package inputs.
const DynamicQuotaGate = "DynamicQuotaOrchestration"

// notModelled are gates whose behaviour needs controllers this package has not.
var notModelled = []featuregate.Feature{
	features.SchedulerLibraryIntegration,
}
