package admission

import (
	"maps"
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

// ask makes Kueue look its gates up in a table of the registry's answers. It asks
// for them many times in every decision; the registry finds each answer anew, and
// goes through all gates for a change.
func ask(registry featuregate.MutableVersionedFeatureGate) {
	on := map[featuregate.Feature]bool{}
	for name := range registry.GetAll() {
		on[name] = registry.Enabled(name)
	}
	on[features.LocalQueueMetrics] = false // nobody reads them, and each change of a queue counts all its workloads
	t, ok := utilfeature.DefaultFeatureGate.(*gateTable)
	if !ok {
		t = &gateTable{FeatureGate: registry}
		utilfeature.DefaultFeatureGate = t
	}
	t.on.Store(&on)
}

// gateTable is the registry of gates with quick answers.
type gateTable struct {
	featuregate.FeatureGate
	on atomic.Pointer[map[featuregate.Feature]bool]
}

// Enabled says whether a gate is on.
func (t *gateTable) Enabled(f featuregate.Feature) bool {
	if on, known := (*t.on.Load())[f]; known {
		return on
	}
	return t.FeatureGate.Enabled(f)
}

// switched turns a gate on or off for a while. The result puts it back.
func switched(f featuregate.Feature, on bool) (restore func()) {
	t := utilfeature.DefaultFeatureGate.(*gateTable) // since New
	was := t.on.Load()
	if (*was)[f] == on {
		return func() {}
	}
	now := maps.Clone(*was)
	now[f] = on
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

// withoutHashes is for counting what holds quota. Kueue makes a hash of it by which
// waiting workloads are told to be alike, which nobody asks for where it runs.
func withoutHashes() (restore func()) {
	return switched(features.SchedulingEquivalenceHashing, false)
}

// notModelled are gates whose behaviour needs controllers this package has not.
var notModelled = []featuregate.Feature{
	features.ConcurrentAdmission,
	features.MultiKueueOrchestratedPreemption,
	features.SchedulerLibraryIntegration,
	features.KueueDRAIntegrationConsumableCapacity,
}
