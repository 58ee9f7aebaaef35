package policytext

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// TestQuota: amounts have their unit, and instances need none.
func TestQuota(t *testing.T) {
	two, half := 2, 0.5
	for want, list := range map[string][]policy.Quota{
		"-":                                 nil,
		"2 ml.p5.48xlarge, 2 ml.g5.xlarge":  {{InstanceType: "ml.p5.48xlarge", Count: &two}, {InstanceType: "ml.g5.xlarge", Count: &two}},
		"2 accelerators of ml.p5.48xlarge":  {{InstanceType: "ml.p5.48xlarge", Accelerators: &two}},
		"2 mig-1g.5gb + 0.5 vCPU of ml.p4d": {{InstanceType: "ml.p4d", AcceleratorPartition: &policy.Partition{Type: "mig-1g.5gb", Count: 2}, VCPU: &half}},
		"2 + 0.5 GiB of ml.g5.xlarge":       {{InstanceType: "ml.g5.xlarge", Count: &two, MemoryInGiB: &half}},
	} {
		if got := Quota(policy.Team{Quota: list}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestBorrowing: the default is named, and a team that only lends has no limit.
func TestBorrowing(t *testing.T) {
	two := 2
	for want, team := range map[string]policy.Team{
		"50%":       {},
		"2%":        {Strategy: policy.LendAndBorrow, BorrowLimit: &two},
		"-":         {Strategy: policy.Lend, BorrowLimit: &two},
		"see kueue": {BorrowLimit: &two, Kueue: &policy.TeamKueue{Spec: map[string]any{"resourceGroups": []any{}}}},
		"2 ml.g5.x": {AbsoluteBorrowLimits: []policy.Quota{{InstanceType: "ml.g5.x", Count: &two}}},
	} {
		if got := Borrowing(team); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
