package quota

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// A cluster refuses queues and cohorts that cannot be right; a file can hold them.
// Kueue's arithmetic must never see them, so they count for nothing: neither here
// nor in the admission engine, which asks the same two functions.

// Faults says what of a ClusterQueue cannot be right (the rules of its schema and
// of Kueue's clusterqueue_webhook.go), nil where nothing is wrong.
func Faults(q *state.ClusterQueue) []string {
	if empty(q) {
		return []string{"it has no spec"}
	}
	bad := append(wordFaults(q), quotaFaults(q.ResourceGroups, q.Cohort != "", true)...)
	if s := q.Namespaces; s != nil {
		selector := metav1.LabelSelector{MatchLabels: s.MatchLabels}
		for _, r := range s.MatchExpressions {
			selector.MatchExpressions = append(selector.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values})
		}
		if _, err := metav1.LabelSelectorAsSelector(&selector); err != nil {
			bad = append(bad, "namespaceSelector is not a label selector")
		}
	}
	return append(bad, weightFaults(q.FairWeight)...)
}

// empty reports a queue of which nothing is given: its spec is missing, or null. A
// server fills in the strategy of one that has a spec.
func empty(q *state.ClusterQueue) bool {
	return q.Cohort == "" && q.QueueingStrategy == "" && q.StopPolicy == "" && q.Namespaces == nil &&
		q.Preemption == (state.Preemption{}) && q.FairWeight == nil && len(q.ResourceGroups) == 0 && len(q.Checks) == 0
}

// wordFaults names settings with a word that Kueue does not know (the enums of its
// v1beta1 and v1beta2 schema). An empty one stands for the default.
func wordFaults(q *state.ClusterQueue) []string {
	var bad []string
	for _, s := range []struct {
		field, word string
		known       []string
	}{
		{"queueingStrategy", q.QueueingStrategy, []string{"StrictFIFO", "BestEffortFIFO"}},
		{"stopPolicy", q.StopPolicy, []string{"None", "Hold", "HoldAndDrain"}},
		{"preemption.withinClusterQueue", q.Preemption.WithinClusterQueue, []string{"Never", "LowerPriority", "LowerOrNewerEqualPriority"}},
		{"preemption.reclaimWithinCohort", q.Preemption.ReclaimWithinCohort, []string{"Never", "LowerPriority", "Any"}},
		{"preemption.borrowWithinCohort.policy", q.Preemption.BorrowWithinCohort, []string{"Never", "LowerPriority"}},
		{"flavorFungibility.whenCanBorrow", q.Fungibility.WhenCanBorrow, []string{"MayStopSearch", "TryNextFlavor", "Borrow"}},
		{"flavorFungibility.whenCanPreempt", q.Fungibility.WhenCanPreempt, []string{"MayStopSearch", "TryNextFlavor", "Preempt"}},
		{"flavorFungibility.preference", q.Fungibility.Preference, []string{"BorrowingOverPreemption", "PreemptionOverBorrowing"}},
	} {
		if s.word != "" && !slices.Contains(s.known, s.word) {
			bad = append(bad, fmt.Sprintf("%s is %q, want %s", s.field, s.word, strings.Join(s.known, ", ")))
		}
	}
	return bad
}

// CohortFaults is Faults of a cohort.
func CohortFaults(c *state.Cohort) []string {
	return append(quotaFaults(c.ResourceGroups, c.Parent != "", false), weightFaults(c.FairWeight)...)
}

// leastWeight is what a weight that is not 0 has to exceed (validateFairSharing in
// Kueue's webhooks/common.go).
var leastWeight = resource.MustParse("1n")

func weightFaults(weight *resource.Quantity) []string {
	switch {
	case weight == nil:
	case weight.Sign() < 0:
		return []string{fmt.Sprintf("fairSharing.weight %s is negative", weight.String())}
	case weight.Sign() > 0 && weight.Cmp(leastWeight) <= 0:
		return []string{fmt.Sprintf("fairSharing.weight %s is too small: it is 0, or more than %s", weight.String(), leastWeight.String())}
	}
	return nil
}

// quotaFaults looks at resource groups. parent: there is a cohort above;
// lendWithinNominal: no more may be lent than there is.
func quotaFaults(groups []state.ResourceGroup, parent, lendWithinNominal bool) []string {
	var bad []string
	seenResource, seenFlavor := map[string]bool{}, map[string]bool{}
	for _, g := range groups {
		for _, r := range g.CoveredResources {
			if seenResource[r] {
				bad = append(bad, fmt.Sprintf("resource %s is in two groups", r))
			}
			seenResource[r] = true
		}
		for _, f := range g.Flavors {
			if seenFlavor[f.Name] {
				bad = append(bad, fmt.Sprintf("flavor %s is listed twice", f.Name))
			}
			seenFlavor[f.Name] = true
			for i := range f.Resources {
				for _, text := range amountFaults(&f.Resources[i], parent, lendWithinNominal) {
					bad = append(bad, fmt.Sprintf("flavor %s, %s: %s", f.Name, f.Resources[i].Name, text))
				}
			}
		}
	}
	return bad
}

// unreadable says what is wrong with the text of an amount.
func unreadable(text string) string {
	if text == "" {
		return "is missing"
	}
	return fmt.Sprintf("%q is not a quantity", text)
}

func amountFaults(r *state.ResourceQuota, parent, lendWithinNominal bool) []string {
	var bad []string
	for _, f := range r.Faults {
		bad = append(bad, f.Field+" "+unreadable(f.Text))
	}
	if r.Nominal.Sign() < 0 {
		bad = append(bad, fmt.Sprintf("nominalQuota %s is negative", r.Nominal.String()))
	}
	if l := r.BorrowingLimit; l != nil {
		if l.Sign() < 0 {
			bad = append(bad, fmt.Sprintf("borrowingLimit %s is negative", l.String()))
		}
		if !parent {
			bad = append(bad, "borrowingLimit without a cohort to borrow from")
		}
	}
	if l := r.LendingLimit; l != nil {
		if l.Sign() < 0 {
			bad = append(bad, fmt.Sprintf("lendingLimit %s is negative", l.String()))
		}
		if !parent {
			bad = append(bad, "lendingLimit without a cohort to lend to")
		}
		if lendWithinNominal && l.Cmp(r.Nominal) > 0 {
			bad = append(bad, fmt.Sprintf("lendingLimit %s is more than nominalQuota %s", l.String(), r.Nominal.String()))
		}
	}
	return bad
}
