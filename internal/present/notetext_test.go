package present_test

import (
	"errors"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestNotes: each note is one sentence.
func TestNotes(t *testing.T) {
	for want, n := range map[string]inputs.Note{
		"Kueue's configuration is invalid: assuming its defaults":                                        {Code: inputs.ConfigurationUnknown, Manager: inputs.ManagerInvalid},
		"Kueue's configuration is unknown (no permission to read it): assuming its defaults":             {Code: inputs.ConfigurationUnknown, Manager: inputs.ManagerForbidden},
		"Kueue's configuration is unknown (it is not in the file); this answer does not depend on it":    {Code: inputs.ConfigurationUnknown, Manager: inputs.ManagerNotInFile, Settings: []string{}},
		"Kueue's configuration is invalid: assuming the defaults of a, b":                                {Code: inputs.ConfigurationUnknown, Manager: inputs.ManagerInvalid, Settings: []string{"a", "b"}},
		"the cluster runs Kueue v0.1.0: checked with the rules of " + versions.BuiltIn:                   {Code: inputs.VersionDiffers, Version: "v0.1.0"},
		"some jobs use a runtime class that cannot be read: the overhead that it may add is not counted": {Code: inputs.NotModelled, RuntimeClasses: true},
		"Cohort c: it has no spec":   {Code: inputs.Invalid, Err: &admission.InvalidError{Kind: "Cohort", Name: "c", Faults: []quota.Fault{{Code: quota.NoSpec}}}},
		"cohorts form a cycle: x, y": {Code: inputs.Invalid, Err: errors.New("cohorts form\n a cycle: x, y")},
		"assuming that LocalQueue n/q uses ClusterQueue cq (by the usual names): it cannot be read (no permission)": {Code: inputs.Assumed,
			Assumption: &inputs.Assumption{Queue: "n/q", ClusterQueue: "cq", Unread: state.Forbidden}},
		"assuming that LocalQueue n/q uses ClusterQueue cq (its workloads were admitted there): it is not in the file": {Code: inputs.Assumed,
			Assumption: &inputs.Assumption{Queue: "n/q", ClusterQueue: "cq", Seen: true, Unread: state.NotInFile}},
		"ClusterQueue cq has quota in use by workloads that could not be read":          {Code: inputs.Assumed, Assumption: &inputs.Assumption{ClusterQueue: "cq", Unread: state.Failed}},
		"feature gate G=true is not followed: this Kueue version has it fixed to false": {Code: inputs.NotModelled, Warning: &admission.Warning{Code: admission.GateLocked, Name: "G", On: true}},
		"ClusterQueues with a concurrentAdmissionPolicy, which is not modelled, as Kueue's feature gates are unknown: a, b, c, d and 2 more": {Code: inputs.NotModelled,
			Warning: &admission.Warning{Code: admission.ConcurrentQueues, Names: []string{"a", "b", "c", "d", "e", "f"}}},
		"workload n/w holds quota in ClusterQueue cq, which is left out: its usage is not counted": {Code: inputs.NotModelled,
			Warning: &admission.Warning{Code: admission.UncountedInvalid, Name: "cq", Names: []string{"n/w"}}},
		"2 workloads hold quota in ClusterQueue cq, which is not known: their usage is not counted": {Code: inputs.NotModelled,
			Warning: &admission.Warning{Code: admission.UncountedUnknown, Name: "cq", Names: []string{"n/v", "n/w"}}},
	} {
		if got := notetext.Note(n); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
