package jobrules

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// judge reports whether a value keeps a rule.
type judge func(c *checker, v any) bool

// rules has a function for each rule of the definitions, by its text.
var rules = map[string]judge{
	"!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && self.replicatedJobs.exists(x, has(x.dependsOn)))": func(_ *checker, v any) bool {
		return kinds.At(v, "startupPolicy", "startupPolicyOrder") != "InOrder" ||
			!slices.ContainsFunc(list(kinds.At(v, "replicatedJobs")), func(job any) bool { return kinds.At(job, "dependsOn") != nil })
	},
	"self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)": func(_ *checker, v any) bool {
		return !slices.ContainsFunc(list(kinds.At(v, "templates")), func(t any) bool { return kinds.Text(t, "metadata", "namespace") != "" })
	},
	"!((has(self.onSuccess) || has(self.onFailure)) && has(self.deletionRules))": func(_ *checker, v any) bool {
		return !((has(v, "onSuccess") || has(v, "onFailure")) && has(v, "deletionRules"))
	},
	"((has(self.onSuccess) && has(self.onFailure)) || has(self.deletionRules))": func(_ *checker, v any) bool {
		return has(v, "onSuccess") && has(v, "onFailure") || has(v, "deletionRules")
	},
	"!(has(self.jobStatus) && has(self.jobDeploymentStatus))": func(_ *checker, v any) bool {
		return !(has(v, "jobStatus") && has(v, "jobDeploymentStatus"))
	},
	"has(self.jobStatus) || has(self.jobDeploymentStatus)": func(_ *checker, v any) bool {
		return has(v, "jobStatus") || has(v, "jobDeploymentStatus")
	},
	"self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')": func(c *checker, _ any) bool {
		name, known := c.name()
		return !known || matches("^[a-z]([-a-z0-9]*[a-z0-9])?$", name)
	},
	"size(self.metadata.name) <= 63": func(c *checker, _ any) bool {
		name, known := c.name()
		return !known || len(name) <= 63
	},
}

func has(v any, key string) bool { return kinds.At(v, key) != nil }
