package overlay

import (
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// policyFields are where the kinds keep their run policy, by flag. A flag that a
// kind has no field for is refused.
func policyFields(j *jobobject.View) (map[string]any, map[string]string) {
	kubernetes := map[string]string{"--ttl-after-finished": "ttlSecondsAfterFinished", "--active-deadline": "activeDeadlineSeconds", "--backoff-limit": "backoffLimit"}
	switch {
	case j.IsKind(kinds.BatchJob, kinds.RayJob):
		return j.Spec(), kubernetes
	case j.IsKind(kinds.JobSet):
		return j.Spec(), map[string]string{"--ttl-after-finished": "ttlSecondsAfterFinished"}
	case j.IsKind(kinds.HyperPodPyTorchJob):
		return jobobject.Child(j.Spec(), "runPolicy"), map[string]string{"--ttl-after-finished": "ttlSecondsAfterFinished", "--active-deadline": "activeDeadlineSeconds", "--clean-pod-policy": "cleanPodPolicy"}
	case j.Kind.Group == kinds.PyTorchJob.Group:
		kubernetes["--clean-pod-policy"] = "cleanPodPolicy"
		return jobobject.Child(j.Spec(), "runPolicy"), kubernetes
	}
	return j.Spec(), nil
}

// applyRunPolicy lays the policy over the job.
func (s *job) applyRunPolicy(j *jobobject.View) error {
	p := s.Values.RunPolicy
	if p == (values.RunPolicy{}) {
		return nil
	}
	at, fields := policyFields(j)
	put := func(flag string, set bool, v any) error {
		if !set {
			return nil
		}
		key, has := fields[flag]
		if !has {
			e := errs.Usagef("%s cannot be laid over a %s, which has no such field", flag, j.Kind.Kind)
			if flag == "--backoff-limit" && j.IsKind(kinds.HyperPodPyTorchJob) {
				e.WithTry("--max-retry N")
			}
			return e
		}
		at[key] = v
		return nil
	}
	number := func(flag string, n *int) error {
		if n == nil {
			return nil
		}
		return put(flag, true, int64(*n))
	}
	if err := put("--clean-pod-policy", p.CleanPodPolicy != "", p.CleanPodPolicy); err != nil {
		return err
	}
	if err := number("--ttl-after-finished", p.TTL); err != nil {
		return err
	}
	if err := number("--active-deadline", p.Deadline); err != nil {
		return err
	}
	return number("--backoff-limit", p.Backoff)
}
