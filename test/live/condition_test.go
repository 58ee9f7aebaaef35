package live

import (
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestSettled: only a workload of a strict queue behind another may stay without a word from Kueue.
func TestSettled(t *testing.T) {
	empty, pending := Condition{}, Condition{"False", kueue.WorkloadQuotaReservedReasonPendingEvaluation}
	word, admitted := Condition{"False", "InsufficientQuota"}, Condition{"True", "QuotaReserved"}
	for _, c := range []struct {
		condition      Condition
		strict, behind bool
		want           bool
	}{
		{empty, false, false, false},
		{empty, false, true, false},
		{empty, true, false, false},
		{empty, true, true, true},
		{pending, false, false, false},
		{pending, false, true, false},
		{pending, true, false, false},
		{pending, true, true, true},
		{word, false, false, true},
		{word, true, true, true},
		{admitted, false, false, true},
	} {
		if got := c.condition.Settled(c.strict, c.behind) == nil; got != c.want {
			t.Errorf("%q, strict %v, behind %v: settled %v", c.condition, c.strict, c.behind, got)
		}
	}
}
