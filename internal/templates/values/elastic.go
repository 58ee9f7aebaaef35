package values

import (
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// Elastic lets a job run with fewer or more nodes than it requests. The zero value sets nothing. Min and Max
// are numbers of nodes (default NodeCount). The other fields are those of the HyperPod training operator: Step
// or Sizes restrict the numbers in between, the rest are seconds.
type Elastic struct {
	Min, Max *int
	Step     *int
	Sizes    []int

	ScalingTimeout, ShutdownTimeout, ScaleUpSnooze *int
}

// check validates the policy without looking at a template.
func (e Elastic) check() error {
	for _, n := range []struct {
		of    setting.Setting
		have  *int
		least int
	}{
		{setting.MinNodeCount, e.Min, 1}, {setting.MaxNodeCount, e.Max, 1}, {setting.ElasticStep, e.Step, 1},
		{setting.ScalingTimeout, e.ScalingTimeout, 0}, {setting.ShutdownTimeout, e.ShutdownTimeout, 0}, {setting.ScaleUpSnooze, e.ScaleUpSnooze, 0},
	} {
		if n.have != nil && (*n.have < n.least || *n.have > 1_000_000) {
			return n.of.OutOfRange(*n.have, n.least, 1_000_000)
		}
	}
	if e.Min != nil && e.Max != nil && *e.Min > *e.Max {
		return setting.MinNodeCount.Invalid(strconv.Itoa(*e.Min), "must be at most %d, the value of %s", *e.Max, setting.MaxNodeCount)
	}
	if e.Step != nil && len(e.Sizes) > 0 {
		return setting.Exclusive(setting.ElasticStep, setting.ElasticSizes)
	}
	for _, n := range e.Sizes {
		if n < 1 || e.Max != nil && n > *e.Max {
			return setting.ElasticSizes.Invalid(strconv.Itoa(n), "must be from 1 to the value of %s", setting.MaxNodeCount)
		}
	}
	return nil
}

// HyperPodOnly returns the first flag that only the HyperPod training operator understands, or the zero value.
func (e Elastic) HyperPodOnly() setting.Setting {
	for _, f := range []struct {
		of  setting.Setting
		set bool
	}{
		{setting.ElasticStep, e.Step != nil}, {setting.ElasticSizes, len(e.Sizes) > 0}, {setting.ScalingTimeout, e.ScalingTimeout != nil},
		{setting.ShutdownTimeout, e.ShutdownTimeout != nil}, {setting.ScaleUpSnooze, e.ScaleUpSnooze != nil},
	} {
		if f.set {
			return f.of
		}
	}
	return ""
}
