package overlay

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// policyFields returns where the kind keeps its run policy, by flag. A flag that a kind has
// no field for is refused.
func policyFields(j *jobobject.View) (map[string]any, map[setting.Setting]string) {
	p, at := j.Kind.Policy, j.Object
	for _, key := range p.At {
		at = jobobject.Child(at, key)
	}
	return at, map[setting.Setting]string{setting.TTL: p.TTL, setting.Deadline: p.Deadline, setting.Backoff: p.Backoff, setting.CleanPodPolicy: p.Clean}
}

// applyRunPolicy sets the job's run policy.
func (s *job) applyRunPolicy(j *jobobject.View) error {
	p := s.Values.RunPolicy
	if p == (values.RunPolicy{}) {
		return nil
	}
	at, fields := policyFields(j)
	put := func(which setting.Setting, set bool, v any) error {
		if !set {
			return nil
		}
		key := fields[which]
		if key == "" {
			e := setting.NotFor(j.Kind.Kind, which)
			if which == setting.Backoff && len(j.Kind.Launch().Restart.Retries) > 0 {
				e.Suggest(setting.MaxRetry.Option("N"))
			}
			return e
		}
		at[key] = v
		return nil
	}
	number := func(which setting.Setting, n *int) error {
		if n == nil {
			return nil
		}
		return put(which, true, int64(*n))
	}
	if err := put(setting.CleanPodPolicy, p.CleanPodPolicy != "", p.CleanPodPolicy); err != nil {
		return err
	}
	if err := number(setting.TTL, p.TTL); err != nil {
		return err
	}
	if err := number(setting.Deadline, p.Deadline); err != nil {
		return err
	}
	return number(setting.Backoff, p.Backoff)
}
