package kinds

import (
	"slices"
	"strings"
)

// rolesRule is what an operator requires of the roles of a job.
//
// Sources: pkg/webhooks of training-operator v1.9; pkg/apis/kubeflow/validation of mpi-operator v0.8.
type rolesRule struct {
	// one is the role that has one pod.
	one string
	// required: the job must have this role. stated: it must have a number, too.
	required, stated bool
	// some is the role with a number of at least one, where the job has it; counted: the number may not be absent.
	some    string
	counted bool
	// either are roles that exclude each other.
	either []string
}

// refuseCounts returns the rule for a kind whose roles are in a map.
func (j Job) refuseCounts(r rolesRule) func(object map[string]any) (at, why string) {
	specs := j.Roles[0].Path[:2]
	return func(object map[string]any) (at, why string) {
		roles, _ := lookup(object, specs).(map[string]any)
		if roles == nil {
			return "", ""
		}
		field := func(keys ...string) string { return strings.Join(slices.Concat(specs, keys), ".") }
		one, ok := roles[r.one].(map[string]any)
		n, given := one["replicas"]
		count, whole := Int(n)
		switch {
		case !ok && r.required:
			return field(r.one), "Required value: must have a " + r.one
		case ok && given && whole && count != 1, ok && !given && r.stated:
			return field(r.one, "replicas"), "must be 1"
		}
		if some, ok := roles[r.some].(map[string]any); ok {
			if n, whole := Int(some["replicas"]); whole && n < 1 || some["replicas"] == nil && r.counted {
				return field(r.some, "replicas"), "must be at least 1"
			}
		}
		if len(r.either) > 1 && !slices.ContainsFunc(r.either, func(name string) bool { return roles[name] == nil }) {
			return field(), "Forbidden: a job has only one of " + strings.Join(r.either, " and ")
		}
		return "", ""
	}
}
