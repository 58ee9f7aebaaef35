package state

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// UnmarshalJSON reads a quota. An amount that is none counts as zero, a limit
// that is none as no limit: one odd field must not hide a queue.
func (r *ResourceQuota) UnmarshalJSON(b []byte) error {
	var w struct {
		Name           string `json:"name"`
		Nominal        amount `json:"nominalQuota"`
		BorrowingLimit amount `json:"borrowingLimit"`
		LendingLimit   amount `json:"lendingLimit"`
	}
	if err := kube.Decode(b, &w); err != nil {
		return err
	}
	nominal, _ := w.Nominal.quantity()
	*r = ResourceQuota{Name: w.Name, Nominal: nominal}
	if q, ok := w.BorrowingLimit.quantity(); ok {
		r.BorrowingLimit = &q
	}
	if q, ok := w.LendingLimit.quantity(); ok {
		r.LendingLimit = &q
	}
	return nil
}

// UnmarshalJSON reads what is used; an amount that is none counts as zero.
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
