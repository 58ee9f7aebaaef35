package state

import (
	"reflect"
	"testing"
)

// TestWithoutVariants: the variants of a workload are not workloads of their own.
func TestWithoutVariants(t *testing.T) {
	reserved := func(status, reason string) []Condition {
		return []Condition{{Type: "QuotaReserved", Status: status, Reason: reason}}
	}
	one := func(name string, owner Owner, admission *Admission, conditions []Condition) Workload {
		return Workload{Meta: Meta{Name: name, UID: name, Owners: []Owner{owner}}, Active: true, Admission: admission, Conditions: conditions}
	}
	job, parent := Owner{Kind: "Job", Name: "j", UID: "j"}, Owner{Kind: "Workload", Name: "p", UID: "p"}
	held := &Admission{ClusterQueue: "q"}
	idle := one("v0", parent, nil, reserved("False", "Pending"))
	idle.Active = false
	for name, c := range map[string]struct{ in, want []Workload }{
		"none":      {[]Workload{one("p", job, nil, nil)}, []Workload{one("p", job, nil, nil)}},
		"no parent": {[]Workload{one("v1", parent, held, nil)}, []Workload{one("v1", parent, held, nil)}},
		"without UIDs": {[]Workload{{Meta: Meta{Name: "p"}}, {Meta: Meta{Name: "o"}}, one("v1", parent, nil, nil)},
			[]Workload{{Meta: Meta{Name: "p"}}, {Meta: Meta{Name: "o"}}, one("v1", parent, nil, nil)}},
		"admitted": {[]Workload{one("p", job, held, reserved("True", "QuotaReserved")), one("v1", parent, held, reserved("True", "QuotaReserved"))},
			[]Workload{one("p", job, held, reserved("True", "QuotaReserved"))}},
		"waits": {[]Workload{one("p", job, nil, nil), one("v1", parent, nil, nil), one("v2", parent, nil, reserved("False", "Pending"))},
			[]Workload{one("p", job, nil, reserved("False", "Pending"))}},
		"waits for checks": {[]Workload{idle, one("v1", parent, held, reserved("True", "QuotaReserved")), one("p", job, nil, reserved("False", "Pending"))},
			[]Workload{one("p", job, held, reserved("True", "QuotaReserved"))}},
		"its queue is gone": {[]Workload{one("p", job, nil, reserved("False", "Inadmissible")), one("v1", parent, nil, reserved("False", "Pending"))},
			[]Workload{one("p", job, nil, reserved("False", "Inadmissible"))}},
	} {
		if got := withoutVariants(c.in); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
