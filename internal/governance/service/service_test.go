package service

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

const arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"

// state returns a state of resources as the API describes them.
func state(t *testing.T, policies, allocations string) *State {
	t.Helper()
	lists := [2][]JSON{}
	for i, text := range []string{policies, allocations} {
		if err := json.Unmarshal([]byte("["+text+"]"), &lists[i]); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewState("ml", arn, lists[0], lists[1])
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func doc(t *testing.T, text string) *policy.Document {
	t.Helper()
	d, _, faults := policy.Parse([]byte("version: " + policy.Version + "\n" + text))
	if len(faults) > 0 {
		t.Fatalf("%+v", faults)
	}
	return d
}

// operations writes operations with their requests.
func operations(ops []policy.Operation) string {
	var out []string
	for _, op := range ops {
		text, _ := json.Marshal(op.Object)
		if op.Object == nil {
			text = nil
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", op.Action, op.Name, text)))
	}
	return strings.Join(out, "\n")
}

const (
	policyA = `{"ClusterSchedulerConfigId":"p00000000000","Name":"p","ClusterSchedulerConfigVersion":3,"Status":"Created","SchedulerConfig":{"PriorityClasses":[{"Name":"a","Weight":1,"New":true},{"Name":"b","Weight":2}],"FairShare":"Enabled","Later":7}}`
	teamA   = `{"ComputeQuotaId":"a00000000000","Name":"alloc-a","ComputeQuotaVersion":5,"Status":"Created","Description":"by hand","ComputeQuotaConfig":{"ComputeQuotaResources":[{"InstanceType":"ml.p5.48xlarge","Count":2,"New":1},{"InstanceType":"ml.g5.xlarge","Accelerators":1}],"ResourceSharingConfig":{"Strategy":"LendAndBorrow","BorrowLimit":80,"Later":1},"PreemptTeamTasks":"Never","Other":[1]},"ComputeQuotaTarget":{"TeamName":"a","FairShareWeight":7,"More":"x"}}`
)

const fileA = `teams:
- team: a
  quota:
  - {instanceType: p5.48xlarge, count: 2}
  - {instanceType: ml.g5.xlarge, accelerators: 1}
  borrowLimit: 80
  preemptTeamTasks: Never
  fairShareWeight: 7
`

func TestCompare(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(fileA, old) {
			t.Fatalf("%q is not in the file", old)
		}
		return strings.Replace(fileA, old, new, 1)
	}
	with := func(status string) string {
		return strings.Replace(teamA, `"Status":"Created"`, `"Status":"`+status+`","FailureReason":"why"`, 1)
	}
	const (
		config = `"ComputeQuotaConfig":{"ComputeQuotaResources":[{"Count":2,"InstanceType":"ml.p5.48xlarge","New":1},{"Accelerators":1,"InstanceType":"ml.g5.xlarge"}],"Other":[1],"PreemptTeamTasks":"Never","ResourceSharingConfig":`
		update = `Update alloc-a {`
		of     = `"ComputeQuotaId":"a00000000000",`
		end    = `"TargetVersion":5}`
	)
	for name, c := range map[string]struct {
		policies, teams, file string
		recreate              []string
		prune                 bool
		want                  string
	}{
		"what is the same sends nothing": {policyA, teamA, fileA, nil, true, ""},
		"a weight sends the target alone, with members that are not known": {policyA, teamA, change("fairShareWeight: 7", "fairShareWeight: 8"), nil, false,
			update + of + `"ComputeQuotaTarget":{"FairShareWeight":8,"More":"x","TeamName":"a"},` + end},
		"a weight that is left out is the default": {policyA, teamA, change("  fairShareWeight: 7\n", ""), nil, false,
			update + of + `"ComputeQuotaTarget":{"FairShareWeight":0,"More":"x","TeamName":"a"},` + end},
		"a limit keeps everything else of the configuration": {policyA, teamA, change("80", "90"), nil, false,
			update + config + `{"BorrowLimit":90,"Later":1,"Strategy":"LendAndBorrow"}},` + of + end},
		"a team that stops borrowing has no limit": {policyA, teamA, change("borrowLimit: 80", "strategy: Lend"), nil, false,
			update + config + `{"Later":1,"Strategy":"Lend"}},` + of + end},
		"a count keeps the unknown members of its row; a row that is gone goes": {policyA, teamA, change("count: 2}\n  - {instanceType: ml.g5.xlarge, accelerators: 1}", "count: 3}"), nil, false,
			update + strings.Replace(strings.Replace(config, `"Count":2`, `"Count":3`, 1), `,{"Accelerators":1,"InstanceType":"ml.g5.xlarge"}`, "", 1) + `{"BorrowLimit":80,"Later":1,"Strategy":"LendAndBorrow"}},` + of + end},
		"an activation is sent alone":        {policyA, teamA, fileA + "  activation: Disabled\n", nil, false, update + `"ActivationState":"Disabled",` + of + end},
		"a description is sent alone":        {policyA, teamA, fileA + "  description: new\n", nil, false, update + of + `"Description":"new",` + end},
		"a name cannot change":               {policyA, teamA, fileA + "  name: other\n", nil, false, ""},
		"the same name changes nothing":      {policyA, teamA, fileA + "  name: alloc-a\n", nil, false, ""},
		"fields of Kueue are not sent":       {policyA, teamA, fileA + "  kueue: {spec: {stopPolicy: Hold}}\n", nil, false, ""},
		"a team that is not there stays":     {policyA, teamA, "teams: []", nil, false, ""},
		"a team that is not there, pruned":   {policyA, teamA, "teams: []", nil, true, "Delete alloc-a"},
		"a failed update is made again":      {policyA, with("UpdateFailed"), fileA, nil, false, update + config + `{"BorrowLimit":80,"Later":1,"Strategy":"LendAndBorrow"}},` + of + end},
		"a failed rollback waits for a word": {policyA, with("UpdateRollbackFailed"), change("80", "90"), nil, false, ""},
		"a failed rollback, with it": {policyA, with("UpdateRollbackFailed"), "teams: [{team: a, borrowLimit: 90}]", []string{"a"}, false,
			"Delete alloc-a\n" + `Create alloc-a {"ClusterArn":"` + arn + `","ComputeQuotaConfig":{"ComputeQuotaResources":[],"ResourceSharingConfig":{"BorrowLimit":90,"Strategy":"LendAndBorrow"}},"ComputeQuotaTarget":{"TeamName":"a"},"Description":"by hand","Name":"alloc-a"}`},
		"a team at work is updated once it is done": {policyA, with("Updating"), change("80", "90"), nil, false, update + config + `{"BorrowLimit":90,"Later":1,"Strategy":"LendAndBorrow"}},` + of + end},
		"a status that nobody knows counts as done": {policyA, with("Paused"), fileA, nil, false, ""},
		"a new team": {policyA, "", "teams: [{team: n, quota: [{instanceType: p5.48xlarge, vcpu: 1.5}], strategy: DontLend, borrowLimit: 10, activation: Enabled}]", nil, false,
			`Create n {"ActivationState":"Enabled","ClusterArn":"` + arn + `","ComputeQuotaConfig":{"ComputeQuotaResources":[{"InstanceType":"ml.p5.48xlarge","VCpu":1.5}],"ResourceSharingConfig":{"Strategy":"DontLend"}},"ComputeQuotaTarget":{"TeamName":"n"},"Name":"n"}`},
		"a policy keeps classes and members that are not known": {policyA, "", "policy: {priorityClasses: [{name: a, weight: 9}, {name: c, weight: 3}]}", nil, false,
			`Update p {"ClusterSchedulerConfigId":"p00000000000","SchedulerConfig":{"FairShare":"Enabled","Later":7,"PriorityClasses":[{"Name":"a","New":true,"Weight":9},{"Name":"b","Weight":2},{"Name":"c","Weight":3}]},"TargetVersion":3}`},
		"a pruned policy loses classes": {policyA, "", "policy: {priorityClasses: [{name: a, weight: 1}]}", nil, true,
			`Update p {"ClusterSchedulerConfigId":"p00000000000","SchedulerConfig":{"FairShare":"Enabled","Later":7,"PriorityClasses":[{"Name":"a","New":true,"Weight":1}]},"TargetVersion":3}`},
		"no policy in the file leaves it": {policyA, "", "teams: []", nil, true, ""},
		"a policy that is missing":        {"", "", "policy: {fairShare: Disabled}", nil, false, `Create cluster-policy {"ClusterArn":"` + arn + `","Name":"cluster-policy","SchedulerConfig":{"FairShare":"Disabled"}}`},
		"a deleted allocation is none":    {policyA, with("Deleted"), "teams: []", nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Compare(Request{State: state(t, c.policies, c.teams), Document: doc(t, c.file), Mapping: policy.DefaultMapping(), Prune: c.prune, Recreate: c.recreate})
			if err != nil {
				t.Fatal(err)
			}
			if got := operations(r.Operations); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestOrder: the policy, quotas that rise, new teams, quotas that fall, and what goes.
func TestOrder(t *testing.T) {
	team := func(name string, count int) string {
		return fmt.Sprintf(`{"ComputeQuotaId":"%s00000000000","Name":%q,"ComputeQuotaVersion":1,"Status":"Created","ComputeQuotaConfig":{"ComputeQuotaResources":[{"InstanceType":"ml.p5.48xlarge","Count":%d}],"ResourceSharingConfig":{"Strategy":"LendAndBorrow"}},"ComputeQuotaTarget":{"TeamName":%q}}`, name, name, count, name)
	}
	r, err := Compare(Request{State: state(t, policyA, team("a", 4)+","+team("b", 1)+","+team("z", 1)), Mapping: policy.DefaultMapping(), Prune: true,
		Document: doc(t, "policy: {fairShare: Disabled, priorityClasses: [{name: a, weight: 1}, {name: b, weight: 2}]}\nteams:\n"+
			"- {team: a, quota: [{instanceType: ml.p5.48xlarge, count: 3}]}\n- {team: n, quota: [{instanceType: ml.p5.48xlarge, count: 1}]}\n- {team: b, quota: [{instanceType: ml.p5.48xlarge, count: 2}]}\n")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, op := range r.Operations {
		got = append(got, string(op.Action)+" "+op.Name)
	}
	if want := "Update p, Update b, Create n, Update a, Delete z"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestUnknown: values that this program does not know are left out of the document, with
// a note, and a plan of it changes nothing.
func TestUnknown(t *testing.T) {
	s := state(t, strings.Replace(policyA, `"FairShare":"Enabled"`, `"FairShare":"Weighted"`, 1), strings.Replace(strings.Replace(teamA, "LendAndBorrow", "Rotate", 1), `"Never"`, `"Sometimes"`, 1))
	d, notes, err := Document(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 3 || d.Team("a").Strategy != "" || d.Policy.FairShare != "" {
		t.Errorf("%+v %+v", notes, d)
	}
	text, err := policy.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	again, _, faults := policy.Parse(text)
	if len(faults) > 0 {
		t.Fatalf("%+v", faults)
	}
	r, err := Compare(Request{State: s, Document: again, Mapping: policy.DefaultMapping(), Prune: true})
	if err != nil || len(r.Changes)+len(r.Manual)+len(r.Operations) > 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// TestTwice: of several allocations of a team, the one that works counts.
func TestTwice(t *testing.T) {
	failed := strings.NewReplacer(`"Created"`, `"CreateFailed"`, "alloc-a", "a-first").Replace(teamA)
	s := state(t, policyA, failed+","+teamA)
	if a := s.Allocation("a"); a == nil || a.Name != "alloc-a" || len(s.Duplicated()) != 0 {
		t.Errorf("%+v %v", a, s.Duplicated())
	}
	if s = state(t, policyA, teamA+","+strings.Replace(teamA, "alloc-a", "other", 1)); len(s.Duplicated()) != 1 {
		t.Errorf("%v", s.Duplicated())
	}
}

func TestRecoveryOf(t *testing.T) {
	for status, want := range map[string]Recovery{
		"Creating": Wait, "Created": "", "CreateFailed": Recreate, "CreateRollbackFailed": Recreate, "Updating": Wait, "Updated": "", "UpdateFailed": Retry,
		"UpdateRollbackFailed": Recreate, "Deleting": Wait, "DeleteFailed": Redelete, "DeleteRollbackFailed": Redelete, "Deleted": "",
		"Migrating": Wait, "MigrateFailed": Recreate, "Paused": "", "": "",
	} {
		if got := RecoveryOf(status); got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
}

// FuzzRead: no answer of the service crashes the reader.
func FuzzRead(f *testing.F) {
	f.Add(policyA, teamA)
	f.Add(`{"SchedulerConfig":null}`, `{"ComputeQuotaConfig":{"ComputeQuotaResources":[null,3]},"ComputeQuotaTarget":{"TeamName":1}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var p, q JSON
		if json.Unmarshal([]byte(a), &p) != nil || json.Unmarshal([]byte(b), &q) != nil {
			return
		}
		s, err := NewState("ml", arn, []JSON{p}, []JSON{q})
		if err != nil {
			return
		}
		d, _, err := Document(s)
		if err != nil {
			return
		}
		_, _ = Compare(Request{State: s, Document: d, Mapping: policy.DefaultMapping(), Prune: true})
		Served(s)
	})
}
