package quota

import (
	"fmt"

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
	bad := quotaFaults(q.ResourceGroups, q.Cohort != "", true)
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

// CohortFaults is Faults of a cohort.
func CohortFaults(c *state.Cohort) []string {
	return append(quotaFaults(c.ResourceGroups, c.Parent != "", false), weightFaults(c.FairWeight)...)
}

func weightFaults(weight *resource.Quantity) []string {
	if weight != nil && weight.Sign() < 0 {
		return []string{fmt.Sprintf("fairSharing.weight %s is negative", weight.String())}
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
