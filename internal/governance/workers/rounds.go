package workers

import (
	"slices"
	"time"

	kueueconfig "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/yaml"
)

// Dispatcher is how Kueue sends jobs to workers.
type Dispatcher struct {
	// Step is the number of workers that it adds at a time, 0 for all at once.
	Step int
	// AsListed: it adds them in the order of the MultiKueueConfig, not of their names.
	AsListed bool
	// External names a dispatcher that is not Kueue's own: it is not known which workers it chooses.
	External string
}

// The step of Kueue's incremental dispatcher (pkg/controller/workloaddispatcher/incrementaldispatcher.go).
const (
	defaultStep = 3
	round       = 5 * time.Minute
)

// DispatcherOf returns the dispatcher that Kueue's configuration chooses, with feature gates as the cluster sets them.
func DispatcherOf(configuration string, gates map[string]bool) Dispatcher {
	var c struct {
		MultiKueue struct {
			DispatcherName              string `json:"dispatcherName"`
			IncrementalDispatcherConfig struct {
				StepSize int `json:"stepSize"`
			} `json:"incrementalDispatcherConfig"`
		} `json:"multiKueue"`
	}
	if yaml.Unmarshal([]byte(configuration), &c) != nil {
		return Dispatcher{}
	}
	on := func(gate string) bool { // both are on by default
		v, set := gates[gate]
		return v || !set
	}
	switch name := c.MultiKueue.DispatcherName; name {
	case "", kueueconfig.MultiKueueDispatcherModeAllAtOnce:
		return Dispatcher{}
	case kueueconfig.MultiKueueDispatcherModeIncremental:
		d := Dispatcher{Step: defaultStep, AsListed: on("MultiKueueIncrementalDispatcherRespectConfigOrder")}
		if n := c.MultiKueue.IncrementalDispatcherConfig.StepSize; n > 0 && on("MultiKueueIncrementalDispatcherConfig") {
			d.Step = n
		}
		return d
	default:
		return Dispatcher{External: name}
	}
}

// Delays returns how long Kueue tries others before each worker. tried are those that it sent the job to already: the next
// ones follow when their round ends.
func (d Dispatcher) Delays(names, tried []string) map[string]time.Duration {
	out := map[string]time.Duration{}
	if d.Step == 0 {
		return out
	}
	left := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(tried, n) })
	if !d.AsListed {
		slices.Sort(left)
	}
	first := min(len(tried), 1)
	for i, n := range left {
		out[n] = time.Duration(first+i/d.Step) * round
	}
	return out
}
