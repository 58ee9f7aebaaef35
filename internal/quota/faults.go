package quota

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// A cluster refuses queues and cohorts that cannot be right; a file can hold them.
// Kueue's arithmetic must never see them, so they count for nothing: neither here
// nor in the admission engine, which asks the same two functions.

// FaultCode is the kind of a Fault.
type FaultCode string

// The codes of faults.
const (
	NoSpec           FaultCode = "NoSpec"           // the object has no spec
	UnknownWord      FaultCode = "UnknownWord"      // Value of Field is none of Known
	InvalidSelector  FaultCode = "InvalidSelector"  // Field is not a label selector
	Negative         FaultCode = "Negative"         // Value of Field is below 0
	WeightTooSmall   FaultCode = "WeightTooSmall"   // Value of Field is above 0 and not above Limit
	RepeatedResource FaultCode = "RepeatedResource" // Resource is in two groups
	RepeatedFlavor   FaultCode = "RepeatedFlavor"   // Flavor is listed twice
	MissingAmount    FaultCode = "MissingAmount"    // Field has no value
	NotQuantity      FaultCode = "NotQuantity"      // Value of Field is not a quantity
	NoCohort         FaultCode = "NoCohort"         // Field needs a cohort
	AboveNominal     FaultCode = "AboveNominal"     // Value of Field is more than Limit, the nominal quota
)

// Fault is a setting of a ClusterQueue or Cohort that a cluster refuses. Package
// present/quotatext words it.
type Fault struct {
	Code FaultCode
	// Field is the path of the setting below spec, or the name of an amount of Flavor
	// and Resource.
	Field            string
	Flavor, Resource string
	Value, Limit     string
	Known            []string
}

// Faults returns the faults of a ClusterQueue by the rules of its schema and of Kueue's clusterqueue_webhook.go; nil if
// it is valid.
func Faults(q *state.ClusterQueue) []Fault {
	if empty(q) {
		return []Fault{{Code: NoSpec}}
	}
	bad := append(wordFaults(q), quotaFaults(q.ResourceGroups, q.Cohort != "", true)...)
	if s := q.Namespaces; s != nil {
		selector := metav1.LabelSelector{MatchLabels: s.MatchLabels}
		for _, r := range s.MatchExpressions {
			selector.MatchExpressions = append(selector.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values})
		}
		if _, err := metav1.LabelSelectorAsSelector(&selector); err != nil {
			bad = append(bad, Fault{Code: InvalidSelector, Field: "namespaceSelector"})
		}
	}
	return append(bad, weightFaults(q.FairWeight)...)
}

// empty reports whether a queue has no content: its spec is missing, or null. A server fills in the strategy of
// one that has a spec.
func empty(q *state.ClusterQueue) bool {
	return q.Cohort == "" && q.QueueingStrategy == "" && q.StopPolicy == "" && q.Namespaces == nil &&
		q.Preemption == (state.Preemption{}) && q.FairWeight == nil && len(q.ResourceGroups) == 0 && len(q.Checks) == 0
}

// wordFaults names settings with a word that Kueue does not know (the enums of its
// v1beta1 and v1beta2 schema). An empty one stands for the default.
func wordFaults(q *state.ClusterQueue) []Fault {
	var bad []Fault
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
			bad = append(bad, Fault{Code: UnknownWord, Field: s.field, Value: s.word, Known: slices.Clone(s.known)})
		}
	}
	return bad
}

// CohortFaults returns the faults of a cohort, as [Faults] does for a ClusterQueue.
func CohortFaults(c *state.Cohort) []Fault {
	return append(quotaFaults(c.ResourceGroups, c.Parent != "", false), weightFaults(c.FairWeight)...)
}

// leastWeight is what a weight that is not 0 has to exceed (validateFairSharing in
// Kueue's webhooks/common.go).
var leastWeight = resource.MustParse("1n")

func weightFaults(weight *resource.Quantity) []Fault {
	switch {
	case weight == nil:
	case weight.Sign() < 0:
		return []Fault{{Code: Negative, Field: weightField, Value: weight.String()}}
	case weight.Sign() > 0 && weight.Cmp(leastWeight) <= 0:
		return []Fault{{Code: WeightTooSmall, Field: weightField, Value: weight.String(), Limit: leastWeight.String()}}
	}
	return nil
}

const weightField = "fairSharing.weight"

// quotaFaults checks resource groups. parent: there is a cohort above;
// lendWithinNominal: no more may be lent than there is.
func quotaFaults(groups []state.ResourceGroup, parent, lendWithinNominal bool) []Fault {
	var bad []Fault
	seenResource, seenFlavor := map[string]bool{}, map[string]bool{}
	for _, g := range groups {
		for _, r := range g.CoveredResources {
			if seenResource[r] {
				bad = append(bad, Fault{Code: RepeatedResource, Resource: r})
			}
			seenResource[r] = true
		}
		for _, f := range g.Flavors {
			if seenFlavor[f.Name] {
				bad = append(bad, Fault{Code: RepeatedFlavor, Flavor: f.Name})
			}
			seenFlavor[f.Name] = true
			for i := range f.Resources {
				for _, fault := range amountFaults(&f.Resources[i], parent, lendWithinNominal) {
					fault.Flavor, fault.Resource = f.Name, f.Resources[i].Name
					bad = append(bad, fault)
				}
			}
		}
	}
	return bad
}

func amountFaults(r *state.ResourceQuota, parent, lendWithinNominal bool) []Fault {
	var bad []Fault
	for _, f := range r.Faults {
		code := NotQuantity
		if f.Text == "" {
			code = MissingAmount
		}
		bad = append(bad, Fault{Code: code, Field: f.Field, Value: f.Text})
	}
	negative := func(field string, amount *resource.Quantity) {
		if amount.Sign() < 0 {
			bad = append(bad, Fault{Code: Negative, Field: field, Value: amount.String()})
		}
	}
	negative("nominalQuota", &r.Nominal)
	for _, l := range []struct {
		field string
		limit *resource.Quantity
	}{{"borrowingLimit", r.BorrowingLimit}, {"lendingLimit", r.LendingLimit}} {
		if l.limit == nil {
			continue
		}
		negative(l.field, l.limit)
		if !parent {
			bad = append(bad, Fault{Code: NoCohort, Field: l.field})
		}
	}
	if l := r.LendingLimit; l != nil && lendWithinNominal && l.Cmp(r.Nominal) > 0 {
		bad = append(bad, Fault{Code: AboveNominal, Field: "lendingLimit", Value: l.String(), Limit: r.Nominal.String()})
	}
	return bad
}
