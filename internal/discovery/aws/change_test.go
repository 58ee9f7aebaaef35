package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// TestRepairReportsEachNode: nodes fail one by one, batches are as large as the service
// takes them, and a request that fails keeps the results of those before.
func TestRepairReportsEachNode(t *testing.T) {
	s := account(t, fake.Options{})
	var nodes []fake.NodeSpec
	var ids []string
	for i := range 60 {
		ids = append(ids, fmt.Sprintf("i-%017x", i+1))
		nodes = append(nodes, fake.NodeSpec{ID: ids[i]})
	}
	nodes[30].Status, nodes[31].Status, nodes[31].Message = "Pending", "Failure", "in use"
	s.AddCluster(fake.Spec{Name: "ml", Groups: []fake.GroupSpec{{Name: "gpu", InstanceType: "ml.p5.48xlarge", Nodes: nodes}}})
	client := open(t, aws.Options{})
	out, err := client.Repair(t.Context(), "ml", clusters.Replace, append(ids, "i-0ffffffffffffffff"))
	if err != nil || len(out) != 61 {
		t.Fatalf("%v, %d outcomes", err, len(out))
	}
	for i, o := range out {
		want := map[int]string{30: "InvalidInstanceStatus", 31: "InstanceIdInUse", 60: "InstanceIdNotFound"}[i]
		if o.Code != want || (want != "" && !strings.Contains(o.Message, o.Node)) {
			t.Errorf("%d: %+v", i, o)
		}
	}
	if calls := s.Calls(); len(calls) != 3 {
		t.Errorf("%v", calls)
	}
	// The third request of three fails: 50 nodes have a result.
	s.Fail(fake.Fault{Operation: "BatchRebootClusterNodes", Contains: ids[59], Status: 400, Code: "InternalFailure", Message: "no"})
	if out, err = client.Repair(t.Context(), "ml", clusters.Reboot, ids); err == nil || len(out) != 50 {
		t.Errorf("%v, %d outcomes", err, len(out))
	}
	// A request that may have run is not sent twice; one that was throttled is.
	before := len(s.Calls())
	s.Fail(fake.Fault{Operation: "BatchDeleteClusterNodes", Times: 1, Status: 500, Code: "InternalFailure", Message: "no"})
	if _, err = client.Repair(t.Context(), "ml", clusters.Delete, ids[:2]); err == nil || len(s.Calls()) != before+1 {
		t.Errorf("%v, %v", err, s.Calls()[before:])
	}
	s.Throttle("BatchDeleteClusterNodes", 2)
	if out, err = client.Repair(t.Context(), "ml", clusters.Delete, ids[40:]); err != nil || len(out) != 20 {
		t.Errorf("%v %v", err, out)
	}
}

// TestDescribeDocumentKeepsUnknownMembers: what this version does not know comes back to
// the service as it was.
func TestDescribeDocumentKeepsUnknownMembers(t *testing.T) {
	s := account(t, fake.Options{})
	s.AddCluster(fake.Spec{Name: "ml", Groups: []fake.GroupSpec{{Name: "gpu", InstanceType: "ml.p5.48xlarge", Count: 2, Given: map[string]any{"FutureConfig": map[string]any{"Mode": "x"}}}}})
	client := open(t, aws.Options{})
	c, doc, err := client.DescribeDocument(t.Context(), "ml")
	groups, _ := doc["InstanceGroups"].([]any)
	if err != nil || len(groups) != 1 || c.Groups[0].Target != 2 {
		t.Fatalf("%v %v", err, doc)
	}
	g := groups[0].(map[string]any)
	for _, key := range []string{"CurrentCount", "TargetCount", "TargetStateCount", "Status"} {
		delete(g, key)
	}
	g["InstanceCount"] = 3
	if err := client.UpdateCluster(t.Context(), "ml", aws.Document{"ClusterName": "ml", "InstanceGroups": []any{g}}); err != nil {
		t.Fatal(err) // the fake refuses an update that drops a member
	}
	delete(g, "FutureConfig")
	if _, _, err := client.DescribeDocument(t.Context(), "ml"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := client.DescribeDocument(t.Context(), "ml"); err != nil {
		t.Fatal(err)
	}
	if err := client.UpdateCluster(t.Context(), "ml", aws.Document{"ClusterName": "ml", "InstanceGroups": []any{g}}); err == nil || !strings.Contains(err.Error(), "FutureConfig") {
		t.Error(err)
	}
}

// TestCheckNodesSendsGroups: one configuration per group.
func TestCheckNodesSendsGroups(t *testing.T) {
	s := account(t, fake.Options{})
	s.AddCluster(fake.Spec{Name: "ml", Groups: []fake.GroupSpec{{Name: "a", InstanceType: "ml.p5.48xlarge", Nodes: []fake.NodeSpec{{ID: "i-1"}, {ID: "i-2"}}}, {Name: "b", InstanceType: "ml.p5.48xlarge", Nodes: []fake.NodeSpec{{ID: "i-3"}}}}})
	client := open(t, aws.Options{})
	if err := client.CheckNodes(t.Context(), "ml", map[string][]string{"a": {"i-2"}, "b": {"i-3"}}, []string{"InstanceStress"}); err != nil {
		t.Fatal(err)
	}
	nodes, err := client.ListNodes(t.Context(), "ml")
	var status []string
	for _, n := range nodes {
		status = append(status, n.Status)
	}
	if err != nil || !slices.Equal(status, []string{"Running", "DeepHealthCheckInProgress", "DeepHealthCheckInProgress"}) {
		t.Errorf("%v %v", err, status)
	}
	if err := client.CheckNodes(t.Context(), "ml", map[string][]string{"b": {"i-1"}}, []string{"InstanceStress"}); err == nil {
		t.Error("an instance of another group is checked")
	}
}
