package overlay

import (
	"slices"
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// applyBounds writes the elastic policy that the values request.
func (s *job) applyBounds(j *jobobject.View) error {
	least, most, ok := s.NodeBounds()
	special := s.Elastic.HyperPodOnly()
	switch {
	case !ok && special == "":
		return nil
	case !ok:
		return special.Requires(setting.MaxNodeCount).Suggest(errs.Option(setting.MinNodeCount.Flag(), "N", setting.MaxNodeCount.Flag(), "M"))
	case s.Nodes.N < least:
		return setting.NodeCount.Invalid(strconv.Itoa(s.Nodes.N), "must be at least %d, the value of %s", least, setting.MinNodeCount)
	case s.Nodes.N > most:
		return setting.NodeCount.Invalid(strconv.Itoa(s.Nodes.N), "must be at most %d, the value of %s", most, setting.MaxNodeCount)
	}
	switch j.Kind.Launch().Elastic {
	case kinds.ElasticTorch:
		if special != "" {
			return errs.Usagef("%s requires the HyperPod training operator", special).Suggest(setting.JobKind.Option(kinds.HyperPodPyTorchJob.Kind))
		}
		if slices.ContainsFunc(j.Roles(), func(r jobobject.Role) bool { return r.Name == j.Kind.Numbers.First }) {
			return errs.Usagef("%s with a Master cannot be elastic", words.WithArticle(j.Kind.Kind)).WithAdvice("use a manifest that has only a Worker")
		}
		policy := jobobject.Child(j.Spec(), "elasticPolicy")
		policy["minReplicas"], policy["maxReplicas"] = int64(least), int64(most)
		if policy["rdzvBackend"] == nil {
			policy["rdzvBackend"] = "c10d"
		}
		return nil
	case kinds.ElasticSteps:
		s.applySteps(j, least, most)
		return nil
	}
	return setting.NotFor(j.Kind.Kind, setting.MinNodeCount, setting.MaxNodeCount)
}

func (s *job) applySteps(j *jobobject.View, least, most int) {
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
		if r.Trains && len(r.Row.Replicas) > 0 {
			r.Part["maxReplicas"] = int64(most)
		}
	}
}
