package aws

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAWSCLI: the AWS CLI, a client that is not ours, reads what the fake holds.
func TestAWSCLI(t *testing.T) {
	aws, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the AWS CLI is not installed")
	}
	s := New(Options{})
	server := httptest.NewServer(s)
	defer server.Close()
	arn := s.AddEKS(EKS{Name: "ml-eks", Server: "https://ml.example", CA: "QQ=="})
	s.AddCluster(Spec{Name: "ml", EKS: arn, Groups: []GroupSpec{{Name: "gpu", InstanceType: "ml.p5.48xlarge", Nodes: []NodeSpec{{ID: "i-0123456789abcdef0"}}}}})
	kubeconfig := filepath.Join(t.TempDir(), "config")
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), aws, args...)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
		cmd.Env = append(cmd.Env, "AWS_ENDPOINT_URL="+server.URL, "AWS_ACCESS_KEY_ID="+AccessKey, "AWS_SECRET_ACCESS_KEY="+SecretKey,
			"AWS_DEFAULT_REGION=us-west-2", "AWS_CONFIG_FILE="+kubeconfig+".none", "AWS_SHARED_CREDENTIALS_FILE="+kubeconfig+".none", "AWS_MAX_ATTEMPTS=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("--version"); err != nil {
		t.Skipf("the AWS CLI does not run: %s", out)
	}
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"sagemaker list-clusters", []string{`"ClusterName": "ml"`, `"ClusterStatus": "InService"`}},
		{"sagemaker describe-cluster --cluster-name ml", []string{arn, `"CurrentCount": 1`, `"InstanceType": "ml.p5.48xlarge"`}},
		{"sagemaker list-cluster-nodes --cluster-name ml", []string{`"InstanceId": "i-0123456789abcdef0"`, `"Status": "Running"`}},
		{"sts get-caller-identity", []string{s.Caller()}},
		{"eks update-kubeconfig --name ml-eks --kubeconfig " + kubeconfig, []string{"Added new context " + arn}},
	} {
		out, err := run(strings.Fields(tt.args)...)
		if err != nil {
			t.Errorf("%s: %v\n%s", tt.args, err, out)
		}
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s has no %s:\n%s", tt.args, want, out)
			}
		}
	}
	const group = `[{"InstanceGroupName":"gpu","InstanceType":"ml.p5.48xlarge","InstanceCount":2,"ExecutionRole":"arn:aws:iam::123456789012:role/hyperpod"}]`
	// The client checks that the answers have the types of the service model.
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"create-cluster", "--cluster-name", "lab", "--instance-groups", group}, []string{`"ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/`}},
		{[]string{"describe-cluster", "--cluster-name", "lab"}, []string{`"ClusterStatus": "Creating"`, `"CurrentCount": 0`, `"TargetCount": 2`}},
		{[]string{"describe-cluster", "--cluster-name", "lab"}, []string{`"ClusterStatus": "Creating"`, `"CurrentCount": 1`}},
		{[]string{"describe-cluster", "--cluster-name", "lab"}, []string{`"ClusterStatus": "InService"`, `"CurrentCount": 2`}},
		{[]string{"batch-reboot-cluster-nodes", "--cluster-name", "ml", "--node-ids", "i-0123456789abcdef0", "i-0123456789abcdef1"},
			[]string{`"Successful": [`, `"ErrorCode": "InstanceIdNotFound"`, `"NodeId": "i-0123456789abcdef1"`}},
		{[]string{"start-cluster-health-check", "--cluster-name", "ml", "--deep-health-check-configurations", `[{"InstanceGroupName":"gpu","DeepHealthChecks":["InstanceStress"]}]`}, []string{`"ClusterArn"`}},
		{[]string{"list-cluster-nodes", "--cluster-name", "ml"}, []string{`"Status": "DeepHealthCheckInProgress"`}},
		{[]string{"batch-delete-cluster-nodes", "--cluster-name", "ml", "--node-ids", "i-0123456789abcdef0"}, []string{`"Code": "InvalidNodeStatus"`}},
		{[]string{"update-cluster-software", "--cluster-name", "lab", "--deployment-config", `{"RollingUpdatePolicy":{"MaximumBatchSize":{"Type":"INSTANCE_COUNT","Value":1}}}`}, []string{`"ClusterArn"`}},
		{[]string{"update-cluster", "--cluster-name", "lab", "--instance-groups", group}, []string{"(ConflictException)"}},
		{[]string{"create-cluster", "--cluster-name", "lab", "--instance-groups", group}, []string{"(ResourceInUse)"}},
		{[]string{"delete-cluster", "--cluster-name", "ml"}, []string{`"ClusterArn"`}},
		{[]string{"delete-cluster", "--cluster-name", "ml"}, []string{"(ConflictException)"}},
	} {
		out, err := run(append([]string{"sagemaker"}, tt.args...)...)
		if refused := strings.HasPrefix(tt.want[0], "("); (err != nil) != refused {
			t.Errorf("%v: %v", tt.args, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v has no %s:\n%s", tt.args, want, out)
			}
		}
	}
	if out, err := run("sagemaker", "describe-cluster", "--cluster-name", "none"); err == nil || !strings.Contains(out, "(ResourceNotFound)") {
		t.Errorf("%v: %s", err, out)
	}
	out, err := run("eks", "get-token", "--cluster-name", "ml-eks", "--output", "json")
	var token struct{ Status struct{ Token string } }
	if err != nil || json.Unmarshal([]byte(out), &token) != nil || !s.SignsIn(token.Status.Token, "ml-eks") {
		t.Errorf("%v: the token of the AWS CLI does not sign in: %s", err, out)
	}
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	// What connect-cluster --exec aws writes: see internal/cli/connectcluster.
	for _, want := range []string{"    server: https://ml.example\n", "  name: " + arn + "\n", "current-context: " + arn + "\n", "      apiVersion: client.authentication.k8s.io/v1beta1\n", "      command: aws\n", "      - get-token\n", "      - --cluster-name\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
