package quotatext

import (
	"fmt"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// TestFaults: each fault of a queue is one short sentence.
func TestFaults(t *testing.T) {
	for want, f := range map[string]quota.Fault{
		"it has no spec": {Code: quota.NoSpec},
		`stopPolicy is "Stop", want None, Hold, HoldAndDrain`:           {Code: quota.UnknownWord, Field: "stopPolicy", Value: "Stop", Known: []string{"None", "Hold", "HoldAndDrain"}},
		"namespaceSelector is not a label selector":                     {Code: quota.InvalidSelector, Field: "namespaceSelector"},
		"fairSharing.weight -1 is negative":                             {Code: quota.Negative, Field: "fairSharing.weight", Value: "-1"},
		"fairSharing.weight 1n is too small: it is 0, or more than 1n":  {Code: quota.WeightTooSmall, Field: "fairSharing.weight", Value: "1n", Limit: "1n"},
		"resource cpu is in two groups":                                 {Code: quota.RepeatedResource, Resource: "cpu"},
		"flavor f is listed twice":                                      {Code: quota.RepeatedFlavor, Flavor: "f"},
		"flavor f, cpu: nominalQuota is missing":                        {Code: quota.MissingAmount, Field: "nominalQuota", Flavor: "f", Resource: "cpu"},
		`flavor f, cpu: borrowingLimit "many" is not a quantity`:        {Code: quota.NotQuantity, Field: "borrowingLimit", Value: "many", Flavor: "f", Resource: "cpu"},
		"flavor f, cpu: borrowingLimit without a cohort to borrow from": {Code: quota.NoCohort, Field: "borrowingLimit", Flavor: "f", Resource: "cpu"},
		"flavor f, cpu: lendingLimit without a cohort to lend to":       {Code: quota.NoCohort, Field: "lendingLimit", Flavor: "f", Resource: "cpu"},
		"flavor f, cpu: lendingLimit 99 is more than nominalQuota 6":    {Code: quota.AboveNominal, Field: "lendingLimit", Value: "99", Limit: "6", Flavor: "f", Resource: "cpu"},
	} {
		if got := Faults([]quota.Fault{f}); got != want {
			t.Errorf("%+v: %s, want %s", f, got, want)
		}
	}
	if got := Faults([]quota.Fault{{Code: quota.NoSpec}, {Code: quota.RepeatedFlavor, Flavor: "f"}}); got != "it has no spec; flavor f is listed twice" {
		t.Error(got)
	}
	var many []quota.Fault
	for i := range 300 {
		many = append(many, quota.Fault{Code: quota.RepeatedFlavor, Flavor: fmt.Sprint("f", i)})
	}
	if got := Faults(many); got != "flavor f0 is listed twice; flavor f1 is listed twice; flavor f2 is listed twice; and 297 more" {
		t.Error(got)
	}
}

// TestProblems: each problem is one sentence that names its subject.
func TestProblems(t *testing.T) {
	const gpu = "nvidia.com/gpu"
	for want, p := range map[string]quota.Problem{
		"Cohort pool is invalid and ignored: it has no spec":                      {Code: quota.QueueFaulty, Subject: "pool", Details: quota.Details{Object: "Cohort pool", Faults: []quota.Fault{{Code: quota.NoSpec}}}},
		"the queue of ml is stopped (Hold): Kueue admits no new workloads":        {Code: quota.QueueStopped, Subject: "ml", Details: quota.Details{Reason: "Hold"}},
		"the queue of ml is inactive (FlavorNotFound): Kueue admits no workloads": {Code: quota.QueueInactive, Subject: "ml", Details: quota.Details{Reason: "FlavorNotFound"}},
		"cohort a of ml is its own ancestor: Kueue keeps the queue inactive":      {Code: quota.CohortCycle, Subject: "a", Details: quota.Details{Team: "ml"}},
		"ClusterQueue q does not exist, but 1 workload holds its quota":           {Code: quota.QueueDeleted, Subject: "ml", Details: quota.Details{Object: "q", Count: 1}},
		"ml has no quota": {Code: quota.NoQuota, Subject: "ml"},
		"ml has quota for flavor f, which does not exist":                                                                        {Code: quota.UndefinedFlavor, Subject: "ml", Flavor: "f"},
		"LocalQueue ns/q uses ClusterQueue cq, which does not exist":                                                             {Code: quota.MissingClusterQueue, Subject: "ns/q", Details: quota.Details{Object: "cq"}},
		"4 workloads wait in a queue that does not exist; PENDING does not count them: a/1, a/2, a/3 and 1 more":                 {Code: quota.LostWorkloads, Details: quota.Details{Count: 4, Workloads: []string{"a/1", "a/2", "a/3"}}},
		"ml uses 8 nvidia.com/gpu more than its quota and what others lend (OVERCOMMIT)":                                         {Code: quota.Overcommitted, Subject: "ml", Resource: gpu, Details: quota.Details{Amount: 8}},
		"the members of cohort low use 10 nvidia.com/gpu of f, and the limit of the cohort is 8":                                 {Code: quota.AboveLimit, Subject: "low", Flavor: "f", Resource: gpu, Details: quota.Details{Object: "Cohort low", Amount: 10, Limit: 8}},
		"ml uses 9 nvidia.com/gpu of f, and its limit is 8":                                                                      {Code: quota.AboveLimit, Subject: "ml", Flavor: "f", Resource: gpu, Details: quota.Details{Amount: 9, Limit: 8}},
		"ml can get 2 of its 6 idle nvidia.com/gpu of f: other teams use more than their quota and what others lend":             {Code: quota.IdleTaken, Subject: "ml", Flavor: "f", Resource: gpu, Details: quota.Details{Amount: 6, Limit: 2}},
		"the quota of all teams exceeds capacity: 16 nvidia.com/gpu of p5, and the healthy nodes have 4; unhealthy nodes have 4": {Code: quota.OverCapacity, Subject: "p5", Resource: gpu, Details: quota.Details{Amount: 16, Limit: 8, Unhealthy: 4}},
	} {
		if got := Problem(&p); got != want {
			t.Errorf("%+v:\n %s, want\n %s", p, got, want)
		}
	}
	r := quota.Report{Teams: []quota.Team{{State: quota.Deleted}, {State: quota.Faulty, Faults: []quota.Fault{{Code: quota.NoSpec}}}, {State: quota.Inactive, Reason: "Kueue's"}, {State: quota.Active}}}
	Fill(&r)
	for i, want := range []string{"its ClusterQueue does not exist", "it has no spec", "Kueue's", ""} {
		if r.Teams[i].Reason != want {
			t.Errorf("%+v: want %s", r.Teams[i], want)
		}
	}
}
