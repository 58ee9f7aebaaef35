package state

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// UnmarshalJSON reads a quota. An invalid amount counts as zero and an invalid limit as no limit. Both are
// recorded as faults, so that one bad field does not hide a queue.
func (r *ResourceQuota) UnmarshalJSON(b []byte) error {
	var w struct {
		Name           string  `json:"name"`
		Nominal        *amount `json:"nominalQuota"`
		BorrowingLimit *amount `json:"borrowingLimit"`
		LendingLimit   *amount `json:"lendingLimit"`
	}
	if err := kube.Decode(b, &w); err != nil {
		return err
	}
	*r = ResourceQuota{Name: w.Name}
	if w.Nominal == nil {
		w.Nominal = new(amount)
	}
	if q := r.quota("nominalQuota", w.Nominal); q != nil {
		r.Nominal = *q
	}
	r.BorrowingLimit, r.LendingLimit = r.quota("borrowingLimit", w.BorrowingLimit), r.quota("lendingLimit", w.LendingLimit)
	return nil
}

// quota reads a field; nil without one, or without an amount in it.
func (r *ResourceQuota) quota(field string, a *amount) *resource.Quantity {
	if a == nil {
		return nil
	}
	q, ok := a.quantity()
	if !ok {
		r.Faults = append(r.Faults, QuotaFault{field, string(*a)})
		return nil
	}
	return &q
}

// UnmarshalJSON reads what is used. An invalid amount counts as zero.
func (r *ResourceUsage) UnmarshalJSON(b []byte) error {
	var w struct {
		Name     string `json:"name"`
		Total    amount `json:"total"`
		Borrowed amount `json:"borrowed"`
	}
	if err := kube.Decode(b, &w); err != nil {
		return err
	}
	r.Name = w.Name
	r.Total, _ = w.Total.quantity()
	r.Borrowed, _ = w.Borrowed.quantity()
	return nil
}

func (a amount) quantity() (resource.Quantity, bool) {
	q, err := resource.ParseQuantity(string(a))
	return q, err == nil
}
