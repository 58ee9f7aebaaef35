package policy

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// manyTeams returns a document with equal teams.
func manyTeams(n int) *Document {
	d := &Document{Version: Version}
	count := 1
	for i := range n {
		d.Teams = append(d.Teams, Team{Team: fmt.Sprintf("t%05d", i), Quota: []Quota{{InstanceType: "ml.g5.8xlarge", Count: &count}}})
	}
	return d
}

// allocated returns what a function allocates, in bytes.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestManyTeamsCostInProportion: the check of four times as many teams allocates about four times as much.
func TestManyTeamsCostInProportion(t *testing.T) {
	few, many := manyTeams(500), manyTeams(2000)
	facts := Facts{Capacity: map[string]int{"ml.g5.8xlarge": 1}}
	Check(few, nil, facts) // what is made once
	a, b := allocated(func() { Check(few, nil, facts) }), allocated(func() { Check(many, nil, facts) })
	if b > 6*a {
		t.Errorf("500 teams: %d bytes, 2000 teams: %d", a, b)
	}
}

// TestBesideFollowsContainers: findings about a field with a fault, about what contains it and about what is in it are left out.
func TestBesideFollowsContainers(t *testing.T) {
	faults := []Fault{{Path: "teams[1].quota[0].count"}, {Path: "cluster.capacity"}}
	var left []string
	for _, path := range []string{"teams", "teams[1]", "teams[1].quota", "teams[1].quota[0]", "teams[1].quota[0].count", "cluster.capacity.ml.p5.48xlarge",
		"teams[1].quota[0].countless", "teams[1].quota[1]", "teams[10]", "cluster.name", "policy"} {
		for _, f := range Beside([]Finding{{Path: path}}, faults) {
			left = append(left, f.Path)
		}
	}
	if want := []string{"teams[1].quota[0].countless", "teams[1].quota[1]", "teams[10]", "cluster.name", "policy"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// TestTeamsThatLend: a team borrows from another one that lends, however many there are.
func TestTeamsThatLend(t *testing.T) {
	codes := func(d *Document) map[string]int {
		out := map[string]int{}
		for _, f := range Check(d, nil, Facts{}) {
			out[f.Code]++
		}
		return out
	}
	d := manyTeams(3)
	if n := codes(d)[NobodyLends]; n != 0 {
		t.Errorf("three that lend: %d findings", n)
	}
	d.Teams[0].Strategy, d.Teams[1].Strategy = DontLend, DontLend
	if n := codes(d)[NobodyLends]; n != 1 {
		t.Errorf("one that lends: %d findings", n)
	}
	if n := codes(manyTeams(1))[NobodyToShare]; n != 1 {
		t.Errorf("one team: %d findings", n)
	}
}

// TestUnchangedTeamsCostLittle: what a queue would be after a change is computed only if something changes.
func TestUnchangedTeamsCostLittle(t *testing.T) {
	const teams = 500
	have, err := ToKueue(manyTeams(teams), DefaultMapping())
	if err != nil {
		t.Fatal(err)
	}
	live := &Live{Objects: *have}
	var ops []Operation
	each := allocated(func() { ops = Differences(live, have, Prune{}) }) / teams
	if len(ops) > 0 || each > 20_000 {
		t.Errorf("%d operations; a team takes %d bytes", len(ops), each)
	}
}

// TestTeamsShareWhatOnlyKueueHas: the fields of many equal queues that the terms of a document cannot express are in memory once.
func TestTeamsShareWhatOnlyKueueHas(t *testing.T) {
	const teams = 500
	live := &Live{}
	for i := range teams {
		q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("q%05d", i)}, Spec: kueue.ClusterQueueSpec{CohortName: "all"}}
		for _, name := range []kueue.ResourceFlavorReference{"a", "b", "c", "d"} {
			q.Spec.ResourceGroups = append(q.Spec.ResourceGroups, kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{"cpu"},
				Flavors: []kueue.FlavorQuotas{{Name: name, Resources: []kueue.ResourceQuota{{Name: "cpu", NominalQuota: resource.MustParse("8")}}}}})
		}
		live.ClusterQueues = append(live.ClusterQueues, q)
	}
	doc, _ := FromKueue(live, DefaultMapping())
	first := doc.Teams[0].Kueue.Spec["resourceGroups"].([]any)
	for _, team := range doc.Teams {
		if list := team.Kueue.Spec["resourceGroups"].([]any); &list[0] != &first[0] {
			t.Fatalf("%s has a copy", team.Team)
		}
	}
	back, err := ToKueue(doc, DefaultMapping())
	if err != nil {
		t.Fatal(err)
	}
	if ops := Differences(&Live{Objects: Objects{ClusterQueues: live.ClusterQueues}}, &Objects{ClusterQueues: back.ClusterQueues}, Prune{}); len(ops) > 0 {
		t.Errorf("%d operations, first %s %v", len(ops), ops[0].Name, ops[0].Fields)
	}
}

// TestManyOperationsAreSmall: what is sent for an operation is made when it is sent: most plans are only shown.
func TestManyOperationsAreSmall(t *testing.T) {
	const teams = 500
	want, err := ToKueue(manyTeams(teams), DefaultMapping())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := want.ClusterQueues[0].Spec.ResourceGroups, want.ClusterQueues[1].Spec.ResourceGroups; &a[0] != &b[0] {
		t.Error("teams with equal quota do not share it")
	}
	var ops []Operation
	if each := allocated(func() { ops = Differences(&Live{}, want, Prune{}) }) / teams; each > 2_000 {
		t.Errorf("the operations of a team take %d bytes", each)
	}
	for i := range ops {
		body := ops[i].Body()
		if meta, _ := body["metadata"].(map[string]any); meta["name"] != ops[i].Name || body["kind"] != ops[i].Kind {
			t.Fatalf("%s %s sends %v", ops[i].Kind, ops[i].Name, body)
		}
	}
}
