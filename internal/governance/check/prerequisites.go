package check

import (
	"slices"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// prerequisites adds what would keep the pods from being created or started.
func (c *Checker) prerequisites(r *Request, v *Verdict) {
	pods := prerequisite.PodsOf(r.Object)
	if r.Group != nil {
		pods = nil
	}
	for _, o := range r.Group {
		pods = append(pods, prerequisite.PodsOf(o)...)
	}
	step := func(s Step) {
		s.Check = "Pods"
		v.Submission = append(v.Submission, s)
	}
	if r.Found == nil || r.Found.Runtime == nil {
		c.runtime(r, v)
	}
	if r.Found != nil {
		for _, ref := range r.Found.Absent {
			s := Step{Status: StatusFailed, Code: ReferenceMissing, Kind: ref.Resource.Kind, Name: ref.Name}
			if ref.Pull { // images may be public
				s.Status, s.Code = StatusUnknown, PullSecretMissing
			}
			step(s)
		}
		for _, over := range prerequisite.Over(prerequisite.WithDefaults(pods, r.Namespace, c.In.LimitRanges), r.Found.Quotas) {
			if over.Unset && c.unread(kinds.LimitRange) {
				continue // a default may set the value
			}
			code := ResourceQuotaInUse
			if over.Never() {
				code = ResourceQuotaSmall
			}
			step(Step{Status: StatusFailed, Code: code, Name: over.Quota, Over: &over})
		}
	}
	for _, ns := range c.In.Namespaces {
		if ns.Name != r.Namespace {
			continue
		}
		var seen []prerequisite.Violation
		for _, bad := range prerequisite.Violations(pods, ns.Labels) {
			if slices.Contains(seen, bad) { // the pods of a group have one role
				continue
			}
			seen = append(seen, bad)
			step(Step{Status: StatusFailed, Code: PodSecurity, Kind: bad.Level, Name: bad.Role, Fault: bad.Detail})
		}
	}
}

// runtime adds a step for a job whose runtime is not known, and so its pods.
func (c *Checker) runtime(r *Request, v *Verdict) {
	k, _ := kinds.JobFor(kinds.Text(r.Object, "apiVersion"), kinds.Text(r.Object, "kind"))
	if k.PodsElsewhere(r.Object) {
		v.Submission = append(v.Submission, Step{Check: "Pods", Status: StatusUnknown, Code: PodsElsewhere, Kind: k.Kind})
	}
	if k.Runtime == nil || kinds.ChildOf(r.Object) != nil {
		return
	}
	ref, named := k.RuntimeOf(r.Object)
	switch {
	case !named:
		v.Submission = append(v.Submission, Step{Check: "Pods", Status: StatusFailed, Code: NoRuntime})
	case r.Found == nil || r.Found.RuntimeUnread:
		v.Submission = append(v.Submission, Step{Check: "Pods", Status: StatusUnknown, Code: RuntimeUnread, Kind: ref.Kind, Name: ref.Name})
	} // an absent one is among Found.Absent
}

// Outcome returns what a failed step means for the job.
func (s *Step) Outcome() Outcome {
	switch s.Code {
	case ResourceQuotaInUse, GroupIncomplete: // room and pods can come later
		return Waits
	}
	return Never
}

// volumes places the pods on the nodes that can use their volumes, where all nodes were
// enough.
func (c *Checker) volumes(r *Request, wl *kueue.Workload, d *admission.Decision, v *Verdict) {
	if r.Found == nil || len(r.Found.Volumes) == 0 || v.Nodes.Status != StatusOK {
		return
	}
	there, claim := wl.DeepCopy(), ""
	for i := range there.Spec.PodSets {
		spec, limits := prerequisite.Bind(&there.Spec.PodSets[i].Template.Spec, r.Found.Volumes)
		there.Spec.PodSets[i].Template.Spec.Affinity = spec.Affinity
		if claim == "" {
			claim = limits
		}
	}
	if claim == "" {
		return
	}
	if n := c.placement(there, d, v.joins); n.Status == StatusFailed {
		v.Nodes = n
		v.Submission = append(v.Submission, Step{Check: "Pods", Status: StatusFailed, Code: VolumeElsewhere, Name: claim})
	}
}
