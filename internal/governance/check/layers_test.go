package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fixture"
)

// TestRestingNodes: nodes that take no pods for the time being make a job wait;
// they are no reason why it could never run.
func TestRestingNodes(t *testing.T) {
	cordoned := `"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]`
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Node("n1", "a100", 8, cordoned))
	s.Add(fixture.Team("t", "", 8, "", "")...)
	v := ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 4, "")), Namespace: "t"})
	if v.Verdict != check.Waits || v.Reason != check.NodesFull || !v.Nodes.EmptyCluster || !strings.Contains(v.Text(0, hours), "1 node: cordoned") {
		t.Errorf("%s %s\n%s", v.Verdict, v.Reason, v.Text(0, hours))
	}
	v = ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("j", 1, 16, "")), Namespace: "t"})
	if v.Nodes.Reason != check.NodesTooSmall {
		t.Errorf("larger than a cordoned node: %s", v.Nodes.Reason)
	}
}

// TestEstimateOfNow: a start that may be now is 0 seconds away, which is said.
func TestEstimateOfNow(t *testing.T) {
	for _, c := range []struct {
		eta  check.ETA
		want string
	}{
		{check.ETA{Known: true, Earliest: new(float64)}, `{"Known":true,"Earliest":0}`},
		{check.ETA{Code: "NoDuration"}, `{"Known":false,"Code":"NoDuration"}`},
	} {
		if got, err := json.Marshal(c.eta); err != nil || string(got) != c.want {
			t.Errorf("%s, want %s (%v)", got, c.want, err)
		}
	}
}
