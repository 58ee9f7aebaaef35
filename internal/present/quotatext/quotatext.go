// Package quotatext puts what package quota finds into words: problems of the
// cluster, invalid queues, and the states of teams.
package quotatext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fill sets the sentences of a report. Call it once, before the report is printed.
func Fill(r *quota.Report) {
	for i := range r.Teams {
		if t := &r.Teams[i]; t.Reason == "" {
			t.Reason = reason(t)
		}
	}
	Problems(r.Problems)
}

// Problems sets the sentences of problems.
func Problems(list []quota.Problem) {
	for i := range list {
		list[i].Message = Problem(&list[i])
	}
}

// reason returns why a team is not active, where Kueue gives no reason.
func reason(t *quota.Team) string {
	switch t.State {
	case quota.Faulty:
		return Faults(t.Faults)
	case quota.Cycle:
		return "its cohort is its own ancestor"
	case quota.Deleted:
		return "its ClusterQueue does not exist"
	}
	return ""
}

// Problem returns a problem as a sentence without a full stop.
func Problem(p *quota.Problem) string {
	d := &p.Details
	amount := func(n int64) string { return quota.Text(p.Resource, n) }
	switch p.Code {
	case quota.QueueFaulty:
		return d.Object + " is invalid and ignored: " + Faults(d.Faults)
	case quota.QueueStopped:
		return fmt.Sprintf("the queue of %s is stopped (%s): Kueue admits no new workloads", p.Subject, d.Reason)
	case quota.QueueInactive:
		return fmt.Sprintf("the queue of %s is inactive (%s): Kueue admits no workloads", p.Subject, d.Reason)
	case quota.CohortCycle:
		return fmt.Sprintf("cohort %s of %s is its own ancestor: Kueue keeps the queue inactive", p.Subject, d.Team)
	case quota.QueueDeleted:
		return fmt.Sprintf("ClusterQueue %s does not exist, but %s its quota", d.Object, words.Count(d.Count, "workload holds", "workloads hold"))
	case quota.NoQuota:
		return p.Subject + " has no quota"
	case quota.UndefinedFlavor:
		return fmt.Sprintf("%s has quota for flavor %s, which does not exist", p.Subject, p.Flavor)
	case quota.MissingClusterQueue:
		return fmt.Sprintf("LocalQueue %s uses ClusterQueue %s, which does not exist", p.Subject, d.Object)
	case quota.LostWorkloads:
		return fmt.Sprintf("%s in a queue that does not exist; PENDING does not count them: %s", words.Count(d.Count, "workload waits", "workloads wait"), words.SomeOf(d.Workloads, d.Count, len(d.Workloads)))
	case quota.Overcommitted:
		return fmt.Sprintf("%s uses %s %s more than its quota and what others lend (OVERCOMMIT)", p.Subject, amount(d.Amount), p.Resource)
	case quota.AboveLimit:
		if d.Object != "" {
			return fmt.Sprintf("the members of cohort %s use %s %s of %s, and the limit of the cohort is %s", p.Subject, amount(d.Amount), p.Resource, p.Flavor, amount(d.Limit))
		}
		return fmt.Sprintf("%s uses %s %s of %s, and its limit is %s", p.Subject, amount(d.Amount), p.Resource, p.Flavor, amount(d.Limit))
	case quota.IdleTaken:
		return fmt.Sprintf("%s can get %s of its %s idle %s of %s: other teams use more than their quota and what others lend",
			p.Subject, amount(d.Limit), amount(d.Amount), p.Resource, p.Flavor)
	case quota.OverCapacity:
		text := fmt.Sprintf("the quota of all teams exceeds capacity: %s %s of %s, and the ", amount(d.Amount), p.Resource, p.Subject)
		if d.Unhealthy > 0 {
			return text + fmt.Sprintf("healthy nodes have %s; unhealthy nodes have %s", amount(d.Limit-d.Unhealthy), amount(d.Unhealthy))
		}
		return text + "nodes have " + amount(d.Limit)
	}
	return p.Code
}

// mostFaults are named in one sentence.
const mostFaults = 3

// Faults returns what is wrong with a ClusterQueue or Cohort: the first faults, and the number of others.
func Faults(list []quota.Fault) string {
	var texts []string
	for i, f := range list {
		if i == mostFaults && len(list) > mostFaults+1 {
			texts = append(texts, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		text := fault(f)
		if f.Flavor != "" && f.Resource != "" {
			text = fmt.Sprintf("flavor %s, %s: %s", f.Flavor, f.Resource, text)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

func fault(f quota.Fault) string {
	switch f.Code {
	case quota.NoSpec:
		return "it has no spec"
	case quota.UnknownWord:
		return fmt.Sprintf("%s is %q, want %s", f.Field, f.Value, strings.Join(f.Known, ", "))
	case quota.InvalidSelector:
		return f.Field + " is not a label selector"
	case quota.Negative:
		return f.Field + " " + f.Value + " is negative"
	case quota.WeightTooSmall:
		return fmt.Sprintf("%s %s is too small: it is 0, or more than %s", f.Field, f.Value, f.Limit)
	case quota.RepeatedResource:
		return "resource " + f.Resource + " is in two groups"
	case quota.RepeatedFlavor:
		return "flavor " + f.Flavor + " is listed twice"
	case quota.MissingAmount:
		return f.Field + " is missing"
	case quota.NotQuantity:
		return fmt.Sprintf("%s %q is not a quantity", f.Field, f.Value)
	case quota.NoCohort:
		verb := "borrow from"
		if f.Field == "lendingLimit" {
			verb = "lend to"
		}
		return f.Field + " without a cohort to " + verb
	case quota.AboveNominal:
		return fmt.Sprintf("%s %s is more than nominalQuota %s", f.Field, f.Value, f.Limit)
	}
	return string(f.Code)
}
