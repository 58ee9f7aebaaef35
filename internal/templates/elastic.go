package templates

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
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

// bounds are the smallest and largest number of nodes, ok false when the values
// do not make the job elastic.
func (s *settings) bounds() (least, most int, ok bool) {
	e := s.Elastic
	if e.Min == nil && e.Max == nil {
		return s.nodes.n, s.nodes.n, false
	}
	least, most = s.nodes.n, s.nodes.n
	if e.Min != nil {
		least = *e.Min
	}
	if e.Max != nil {
		most = *e.Max
	}
	return least, most, true
}

// nodeRange is what torchrun is told of the number of nodes: bounds of the values, or
// of the manifest's policy where the values only choose the number.
func (s *settings) nodeRange(j *jobobject.View) (least, most int, ok bool) {
	if least, most, ok = s.bounds(); ok || j == nil || !j.IsKind(kinds.PyTorchJob) {
		return least, most, ok
	}
	policy := jobobject.Inner(j.Object, "spec", "elasticPolicy")
	lo, ok1 := manifest.Count(policy["minReplicas"])
	hi, ok2 := manifest.Count(policy["maxReplicas"])
	if !ok1 || !ok2 || lo == hi {
		return s.nodes.n, s.nodes.n, false
	}
	return min(lo, s.nodes.n), max(hi, s.nodes.n), true
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
func (e Elastic) hyperPodOnly() string {
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

// layBounds writes the policy that the values ask for.
func (s *settings) layBounds(j *jobobject.View) error {
	least, most, ok := s.bounds()
	special := s.Elastic.hyperPodOnly()
	switch {
	case !ok && special == "":
		return nil
	case !ok:
		return errs.Usagef("%s is for an elastic job", special).WithTry("--min-node-count N --max-node-count M")
	case s.nodes.n < least || s.nodes.n > most:
		return errs.Usagef("--node-count %d is not between the smallest (%d) and the largest (%d) number of nodes", s.nodes.n, least, most)
	}
	switch {
	case j.IsKind(kinds.PyTorchJob):
		if special != "" {
			return errs.Usagef("%s is understood by the HyperPod training operator only", special).WithTry("--job-kind HyperPodPyTorchJob")
		}
		if jobobject.Inner(j.Object, "spec", "pytorchReplicaSpecs", "Master") != nil {
			return errs.Usagef("a PyTorchJob with a Master cannot be elastic: the Master has to stay").WithAdvice("take a manifest with a Worker only")
		}
		policy := jobobject.Child(j.Spec(), "elasticPolicy")
		policy["minReplicas"], policy["maxReplicas"] = int64(least), int64(most)
		if policy["rdzvBackend"] == nil {
			policy["rdzvBackend"] = "c10d"
		}
		return nil
	case j.IsKind(kinds.HyperPodPyTorchJob):
		s.layHyperPodBounds(j, least, most)
		return nil
	}
	return errs.Usagef("a %s cannot be elastic: --min-node-count and --max-node-count are for PyTorchJobs", j.Kind.Kind)
}

func (s *settings) layHyperPodBounds(j *jobobject.View, least, most int) {
	e := s.Elastic
	policy := jobobject.Child(j.Spec(), "elasticPolicy")
	policy["minReplicas"], policy["maxReplicas"] = int64(least), int64(most)
	set := func(m map[string]any, key string, n *int) {
		if n != nil {
			m[key] = int64(*n)
		}
	}
	set(policy, "replicaIncrementStep", e.Step)
	set(policy, "scalingTimeoutInSeconds", e.ScalingTimeout)
	set(policy, "gracefulShutdownTimeoutInSeconds", e.ShutdownTimeout)
	if len(e.Sizes) > 0 {
		var sizes []any
		for _, n := range slices.Sorted(slices.Values(e.Sizes)) {
			sizes = append(sizes, int64(n))
		}
		policy["replicaDiscreteValues"] = sizes
	}
	if e.ScaleUpSnooze != nil {
		restart := jobobject.Child(jobobject.Child(j.Spec(), "runPolicy"), "restartPolicy")
		restart["scaleUpSnoozeTimeInSeconds"] = int64(*e.ScaleUpSnooze)
		if restart["evalPeriodSeconds"] == nil {
			restart["evalPeriodSeconds"] = int64(3600) // a restart policy has to say one; v3's default
		}
	}
	for _, r := range j.Roles() {
		if r.Trains && r.Replicas != "" {
			r.Part["maxReplicas"] = int64(most)
		}
	}
}
