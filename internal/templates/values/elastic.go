package values

import (
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Elastic lets a job run with fewer or more nodes than it asks for. The zero value
// says nothing. Min and Max are numbers of nodes, NodeCount when unsaid. The other
// fields are the HyperPod training operator's: Step or Sizes say which numbers in
// between are possible, the rest are seconds.
type Elastic struct {
	Min, Max *int
	Step     *int
	Sizes    []int

	ScalingTimeout, ShutdownTimeout, ScaleUpSnooze *int
}

// check validates the policy by itself.
func (e Elastic) check() error {
	for _, n := range []struct {
		flag  string
		have  *int
		least int
	}{
		{"--min-node-count", e.Min, 1}, {"--max-node-count", e.Max, 1}, {"--elastic-replica-increment-step", e.Step, 1},
		{"--elastic-scaling-timeout-in-seconds", e.ScalingTimeout, 0}, {"--elastic-graceful-shutdown-timeout-in-seconds", e.ShutdownTimeout, 0},
		{"--elastic-scale-up-snooze-time-in-seconds", e.ScaleUpSnooze, 0},
	} {
		if n.have != nil && (*n.have < n.least || *n.have > 1_000_000) {
			return errs.Usagef("%s is %d, want at least %d", n.flag, *n.have, n.least)
		}
	}
	if e.Min != nil && e.Max != nil && *e.Min > *e.Max {
		return errs.Usagef("--min-node-count %d is above --max-node-count %d", *e.Min, *e.Max)
	}
	if e.Step != nil && len(e.Sizes) > 0 {
		return errs.Usagef("--elastic-replica-increment-step and --elastic-replica-discrete-values exclude each other")
	}
	for _, n := range e.Sizes {
		if n < 1 || e.Max != nil && n > *e.Max {
			return errs.Usagef("--elastic-replica-discrete-values: %d is not from 1 to the largest number of nodes", n)
		}
	}
	return nil
}

// hyperPodOnly tells whether only the HyperPod training operator understands the policy,
// and by which flag.
func (e Elastic) HyperPodOnly() string {
	for _, f := range []struct {
		flag string
		set  bool
	}{
		{"--elastic-replica-increment-step", e.Step != nil}, {"--elastic-replica-discrete-values", len(e.Sizes) > 0},
		{"--elastic-scaling-timeout-in-seconds", e.ScalingTimeout != nil}, {"--elastic-graceful-shutdown-timeout-in-seconds", e.ShutdownTimeout != nil},
		{"--elastic-scale-up-snooze-time-in-seconds", e.ScaleUpSnooze != nil},
	} {
		if f.set {
			return f.flag
		}
	}
	return ""
}
