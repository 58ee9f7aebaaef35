package kinds

import (
	"slices"
	"strings"
)

// Framework returns what Kueue's configuration calls the integration that governs the kind
// (integrations.frameworks), "" for a kind whose operator makes the Workloads.
//
// Source: FrameworkName of the packages below pkg/controller/jobs of Kueue.
func (j Job) Framework() string {
	switch {
	case j.External:
		return ""
	case j.Group == Deployment.Group:
		return strings.ToLower(j.Kind)
	case j.Itself || j.OnePod:
		return podFramework
	}
	return j.Group + "/" + strings.ToLower(j.Kind)
}

const podFramework = "pod"

// Governs reports whether a Kueue with these integrations governs the kind. Those of the kinds
// of long-running pods bring the one of pods with them.
func (j Job) Governs(frameworks []string) bool {
	name := j.Framework()
	if name == "" || slices.Contains(frameworks, name) {
		return true
	}
	return name == podFramework && slices.ContainsFunc([]Job{DeploymentKind, StatefulSetKind, LeaderWorkerSet}, func(k Job) bool {
		return slices.Contains(frameworks, k.Framework())
	})
}
