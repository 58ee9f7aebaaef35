package embedded

import (
	"cmp"
	"slices"
	"sync/atomic"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/kueue/pkg/features"
)

// GateFault is a gate that could not be set as wanted.
type GateFault struct {
	Code   GateFaultCode
	Name   string // "" for GatesRefused
	On     bool   // as wanted
	Reason string // the registry's message, for GatesRefused
}

// GateFaultCode is why a gate could not be set.
type GateFaultCode int

// The codes of faults.
const (
	GateUnknown  GateFaultCode = iota // this Kueue version does not have the gate
	GateLocked                        // this Kueue version fixes the gate to the opposite
	GatesRefused                      // the registry refuses the gates together: all keep their defaults
)

// SetGates makes the process-wide gates equal to the defaults changed by want.
// It returns a fault for each gate that is unknown, removed or locked. Such a
// gate must not even be tried: the registry remembers it, and refuses every later
// change because of it.
func SetGates(want map[string]bool) []GateFault {
	t := table()
	is := t.state.Load().registry
	set := map[string]bool{}
	for i, g := range t.gates {
		if !g.locked && is[i] != g.byDefault {
			set[string(g.name)] = g.byDefault
		}
	}
	var faults []GateFault
	for name, on := range want {
		i := t.index(featuregate.Feature(name))
		switch {
		case i < 0 && name == DynamicQuotaGate: // what was read is what it has
		case i < 0:
			faults = append(faults, GateFault{Code: GateUnknown, Name: name, On: on})
		case t.gates[i].locked && on != t.gates[i].byDefault:
			faults = append(faults, GateFault{Code: GateLocked, Name: name, On: on})
		case !t.gates[i].locked:
			set[name] = on
		}
	}
	if t.changes(set) {
		if err := t.set(set); err != nil {
			// A gate without the one it depends on. Back to the defaults as a whole.
			for name := range set {
				set[name] = t.gates[t.index(featuregate.Feature(name))].byDefault
			}
			_ = t.set(set)
			faults = append(faults, GateFault{Code: GatesRefused, Reason: err.Error()})
		}
	}
	slices.SortFunc(faults, func(a, b GateFault) int { return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Name, b.Name)) })
	return faults
}

// UseDefaults sets all gates to Kueue's defaults, for answers that are not about a cluster. An earlier engine of the process may
// have set others.
func UseDefaults() { SetGates(nil) }

// Gate is a feature gate of Kueue and whether it is on.
type Gate struct {
	Name string
	On   bool
}

// Switched returns the gates that can be switched, sorted by name, with the value that each one does not have now.
func Switched() []Gate {
	t := table()
	var out []Gate
	for _, g := range t.gates {
		if !g.locked {
			out = append(out, Gate{string(g.name), !t.Enabled(g.name)})
		}
	}
	slices.SortFunc(out, func(a, b Gate) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// gateTable is the registry of gates with quick answers. Kueue reads gates many times in every decision. The registry
// looks each one up again, goes through all gates for a change, and copies the names of all gates that were read before
// when one is read for the first time.
type gateTable struct {
	featuregate.FeatureGate
	names [256][]int // places in gates, by slot
	gates []gate     // they never change
	state atomic.Pointer[gateState]
}

// gate is a gate of the registry.
type gate struct {
	name              featuregate.Feature
	byDefault, locked bool
}

// gateState has which gates are on, by their place in gateTable.gates: in the registry, and for Kueue.
type gateState struct{ registry, on []bool }

// table returns the table, which Kueue asks from the first call on. Nobody has set a gate before.
func table() *gateTable {
	if t, ok := utilfeature.DefaultFeatureGate.(*gateTable); ok {
		return t
	}
	t := &gateTable{FeatureGate: utilfeature.DefaultFeatureGate}
	var on []bool
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		i := len(t.gates)
		t.names[slot(name)] = append(t.names[slot(name)], i)
		t.gates = append(t.gates, gate{name, spec.Default, spec.LockToDefault})
		on = append(on, spec.Default)
	}
	t.store(on)
	utilfeature.DefaultFeatureGate = t
	return t
}

// store takes over the state of the registry.
func (t *gateTable) store(registry []bool) {
	on := slices.Clone(registry)
	if i := t.index(features.LocalQueueMetrics); i >= 0 {
		on[i] = false // nobody reads them, and each change of a queue counts all its workloads
	}
	t.state.Store(&gateState{registry, on})
}

// changes reports whether a gate is not as it should be.
func (t *gateTable) changes(gates map[string]bool) bool {
	is := t.state.Load().registry
	for name, on := range gates {
		if is[t.index(featuregate.Feature(name))] != on {
			return true
		}
	}
	return false
}

// set sets gates in the registry. AllAlpha and AllBeta set others, too.
func (t *gateTable) set(gates map[string]bool) error {
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return err
	}
	_, alpha := gates["AllAlpha"]
	_, beta := gates["AllBeta"]
	now := slices.Clone(t.state.Load().registry)
	for i, g := range t.gates {
		if _, given := gates[string(g.name)]; given || alpha || beta {
			now[i] = utilfeature.DefaultMutableFeatureGate.Enabled(g.name)
		}
	}
	t.store(now)
	return nil
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
	for _, i := range t.names[slot(f)] {
		if t.gates[i].name == f {
			return i
		}
	}
	return -1
}

// Enabled reports whether a gate is on.
func (t *gateTable) Enabled(f featuregate.Feature) bool {
	if i := t.index(f); i >= 0 {
		return t.state.Load().on[i]
	}
	return t.FeatureGate.Enabled(f)
}

// Switch turns a gate on or off for a while. The result puts this gate back, and leaves those that others changed meanwhile:
// a sandbox in the process makes decisions while a command does.
func Switch(f featuregate.Feature, on bool) (restore func()) {
	t := table()
	i := t.index(f)
	if i < 0 || !t.turn(i, on) {
		return func() {}
	}
	return func() { t.turn(i, !on) }
}

// turn sets one gate for Kueue, not in the registry. It reports whether the gate was another way.
func (t *gateTable) turn(i int, on bool) bool {
	for {
		was := t.state.Load()
		if was.on[i] == on {
			return false
		}
		now := slices.Clone(was.on)
		now[i] = on
		if t.state.CompareAndSwap(was, &gateState{was.registry, now}) {
			return true
		}
	}
}

// WithReasons turns on, for the time of one decision, the gate under which Kueue's
// flavor assigner says which kind of obstacle it met. The gate changes nothing
// else there; it stays off outside, because it also changes which conditions are
// written.
func WithReasons() (restore func()) {
	return Switch(features.UnadmittedWorkloadsObservability, true)
}

// WithoutHashes is for counting what holds quota. Kueue computes a hash to find equivalent waiting workloads,
// which this does not need.
func WithoutHashes() (restore func()) {
	return Switch(features.SchedulingEquivalenceHashing, false)
}

// DynamicQuotaGate is a gate of Kueue 0.20: see package inputs.
const DynamicQuotaGate = "DynamicQuotaOrchestration"
