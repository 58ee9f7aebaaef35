package policy

import (
	"testing"

	"k8s.io/utils/ptr"
)

// TestAlign: an allocation that is written in another way than the export of the cluster differs from it in nothing.
func TestAlign(t *testing.T) {
	for name, team := range map[string]Team{
		"devices of whole instances": {Team: "a", Quota: []Quota{{InstanceType: "ml.p5.48xlarge", Accelerators: ptr.To(8)}}},
		"no quota":                   {Team: "a", Quota: []Quota{{InstanceType: "ml.p5.48xlarge", Count: ptr.To(0)}}, BorrowLimit: ptr.To(100)},
		"a type without quota": {Team: "a", Quota: []Quota{{InstanceType: "ml.p5.48xlarge", Count: ptr.To(0)},
			{InstanceType: "ml.p4d.24xlarge", Count: ptr.To(1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := DefaultMapping()
			doc := &Document{Version: Version, Teams: []Team{team}}
			objects, err := ToKueue(doc, m)
			if err != nil {
				t.Fatal(err)
			}
			now, _ := FromKueue(&Live{Objects: *objects}, m)
			if got := Diff(now, Align(doc, now, m), false); len(got) != 0 {
				t.Errorf("changes: %+v", got)
			}
			team.FairShareWeight = ptr.To(7)
			if got := Diff(now, Align(&Document{Version: Version, Teams: []Team{team}}, now, m), false); len(got) == 0 {
				t.Error("another weight changes nothing")
			}
		})
	}
}

// TestExportOfNoQuota: a queue whose flavors have no quota has a count of 0, and needs no fields of Kueue.
func TestExportOfNoQuota(t *testing.T) {
	m := DefaultMapping()
	objects, err := ToKueue(&Document{Version: Version, Teams: []Team{{Team: "a", Quota: []Quota{{InstanceType: "ml.p5.48xlarge", Count: ptr.To(0)}}}}}, m)
	if err != nil {
		t.Fatal(err)
	}
	now, notes := FromKueue(&Live{Objects: *objects}, m)
	if team := now.Teams[0]; team.Kueue != nil || len(team.Quota) != 1 || *team.Quota[0].Count != 0 {
		t.Errorf("team %+v, notes %+v", team, notes)
	}
}
