package state

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// TestWithoutVariants: the variants of a workload are not workloads of their own.
func TestWithoutVariants(t *testing.T) {
	reserved := func(status, reason string) []Condition {
		return []Condition{{Type: "QuotaReserved", Status: status, Reason: reason}}
	}
	one := func(name string, owner Owner, admission *Admission, conditions []Condition) Workload {
		return Workload{Meta: Meta{Name: name, UID: name, Owners: []Owner{owner}}, Active: true, Admission: admission, Conditions: conditions}
	}
	job, parent := Owner{Kind: "Job", Name: "j", UID: "j"}, Owner{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "Workload", Name: "p", UID: "p"}
	held := &Admission{ClusterQueue: "q"}
	idle := one("v0", parent, nil, reserved("False", "Pending"))
	idle.Active = false
	for name, c := range map[string]struct{ in, want []Workload }{
		"none":                       {[]Workload{one("p", job, nil, nil)}, []Workload{one("p", job, nil, nil)}},
		"no parent":                  {[]Workload{one("v1", parent, held, nil)}, []Workload{one("v1", parent, held, nil)}},
		"another parent of the name": {[]Workload{{Meta: Meta{Name: "p", UID: "p2"}}, one("v1", parent, held, nil)}, []Workload{{Meta: Meta{Name: "p", UID: "p2"}}, one("v1", parent, held, nil)}},
		"a variant of a variant":     {[]Workload{one("p", parent, nil, nil), one("v1", parent, nil, nil)}, []Workload{one("p", parent, nil, nil), one("v1", parent, nil, nil)}},
		"without UIDs": {[]Workload{{Meta: Meta{Name: "p"}}, {Meta: Meta{Name: "o"}}, one("v1", parent, nil, nil)},
			[]Workload{{Meta: Meta{Name: "p"}}, {Meta: Meta{Name: "o"}}}},
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

// TestFollowVariants: a change of a variant is one of its workload; without its workload it is one of its own.
func TestFollowVariants(t *testing.T) {
	parent := Workload{Meta: Meta{Name: "p", UID: "p"}, Active: true}
	variant := func(status string, held *Admission) Workload {
		return Workload{Meta: Meta{Name: "v", UID: "v", Owners: []Owner{{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "Workload", Name: "p", UID: "p"}}}, Active: true,
			Admission: held, Conditions: []Condition{{Type: "QuotaReserved", Status: status}}}
	}
	held := &Admission{ClusterQueue: "q"}
	known := families{}
	for _, c := range []struct {
		kind   string
		object Workload
		want   string
	}{
		{kube.Added, variant("False", nil), "ADDED v"},
		{kube.Added, parent, "DELETED v, ADDED p"},
		{kube.Modified, variant("True", held), "MODIFIED p q"},
		{kube.Modified, variant("True", held), ""},
		{kube.Added, Workload{Meta: Meta{Name: "o", UID: "o"}}, "ADDED o"},
		{kube.Modified, parent, "MODIFIED p q"},
		{kube.Deleted, parent, "DELETED p q, ADDED v q"},
		{kube.Deleted, variant("True", held), "DELETED v q"},
	} {
		var got []string
		for _, e := range known.follow(kube.Event[Workload]{Type: c.kind, Object: c.object}) {
			text := e.Type + " " + e.Object.Name
			if e.Object.Admission != nil {
				text += " " + e.Object.Admission.ClusterQueue
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.object.Name, text, c.want)
		}
	}
	if len(known) != 1 {
		t.Errorf("%d families are known", len(known))
	}
}
