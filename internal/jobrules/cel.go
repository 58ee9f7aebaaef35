package jobrules

import (
	"regexp"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

// rules has a function for each rule of the definitions, and of the kinds of operators that are not Go modules, by its text.
var rules = structural.Judges{
	"self != 'workspace-storage'": kept(func(v any) bool { return v != "workspace-storage" }),
	"!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && self.replicatedJobs.exists(x, has(x.dependsOn)))": kept(func(v any) bool {
		return kinds.At(v, "startupPolicy", "startupPolicyOrder") != "InOrder" ||
			!slices.ContainsFunc(list(kinds.At(v, "replicatedJobs")), func(job any) bool { return kinds.At(job, "dependsOn") != nil })
	}),
	"self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)": kept(func(v any) bool {
		return !slices.ContainsFunc(list(kinds.At(v, "templates")), func(t any) bool { return kinds.Text(t, "metadata", "namespace") != "" })
	}),
	"!((has(self.onSuccess) || has(self.onFailure)) && has(self.deletionRules))": kept(func(v any) bool {
		return !((has(v, "onSuccess") || has(v, "onFailure")) && has(v, "deletionRules"))
	}),
	"((has(self.onSuccess) && has(self.onFailure)) || has(self.deletionRules))": kept(func(v any) bool {
		return has(v, "onSuccess") && has(v, "onFailure") || has(v, "deletionRules")
	}),
	"!(has(self.jobStatus) && has(self.jobDeploymentStatus))": kept(func(v any) bool {
		return !(has(v, "jobStatus") && has(v, "jobDeploymentStatus"))
	}),
	"has(self.jobStatus) || has(self.jobDeploymentStatus)": kept(func(v any) bool {
		return has(v, "jobStatus") || has(v, "jobDeploymentStatus")
	}),
	"self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')": kept(func(v any) bool {
		ok, err := regexp.MatchString("^[a-z]([-a-z0-9]*[a-z0-9])?$", kinds.Text(v, "metadata", "name"))
		return ok || err != nil
	}),
	"size(self.metadata.name) <= 63": kept(func(v any) bool {
		return len(kinds.Text(v, "metadata", "name")) <= 63
	}),
}

// kept makes a judge of a rule that reads no absent fields.
func kept(f func(v any) bool) structural.Judge {
	return func(v, _ any) (bool, string) { return f(v), "" }
}

func has(v any, key string) bool { return kinds.At(v, key) != nil }
