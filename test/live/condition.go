// Package live holds what the tests on a real control plane share: whether Kueue is at rest, and the scenarios of the sandbox.
package live

import (
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Condition is what Kueue wrote about a workload in a condition; empty if it wrote nothing.
type Condition struct{ Status, Reason string }

// ConditionOf returns the condition of a type.
func ConditionOf(w *kueue.Workload, kind string) Condition {
	c := apimeta.FindStatusCondition(w.Status.Conditions, kind)
	if c == nil {
		return Condition{}
	}
	return Condition{string(c.Status), c.Reason}
}

// QuotaOf returns what Kueue wrote about the quota of a workload.
func QuotaOf(w *kueue.Workload) Condition { return ConditionOf(w, kueue.WorkloadQuotaReserved) }

// Evaluated reports that Kueue has tried the workload and wrote the result. PendingEvaluation is written before that.
func (c Condition) Evaluated() bool {
	return c.Status != "" && c.Reason != kueue.WorkloadQuotaReservedReasonPendingEvaluation
}

// Settled returns an error while Kueue can still evaluate a workload of a queue. It never reaches a workload of a strict
// queue behind another one.
func (c Condition) Settled(strict, behind bool) error {
	if !c.Evaluated() && !(strict && behind) {
		return fmt.Errorf("QuotaReserved is %q %q", c.Status, c.Reason)
	}
	return nil
}
