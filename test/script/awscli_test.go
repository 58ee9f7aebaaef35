package script

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// TestAWSCLIGovernance: the AWS CLI reads from the account what governance apply wrote,
// and governance export reads what the AWS CLI wrote.
func TestAWSCLIGovernance(t *testing.T) {
	t.Parallel()
	aws, err := exec.LookPath("aws")
	if err != nil {
		t.Skip("the AWS CLI is not installed")
	}
	home := t.TempDir()
	s := fake.New(fake.Options{})
	end, err := fillAccount(home, s, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	endpoint := httptest.NewServer(s)
	t.Cleanup(endpoint.Close)
	var account []string
	for name, value := range awsEnv(endpoint.URL) {
		account = append(account, name+"="+value)
	}
	cli := awsCLI(t, aws, home, account)
	if out, err := runWith(t, home, account, "governance", "apply", "-f", "../../examples/teams.yaml", "--cluster-name", "ml-prod", "--yes", "--backup", "none"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	var list struct {
		ComputeQuotaSummaries []struct {
			ComputeQuotaID, Name, Status string
			ComputeQuotaConfig           struct {
				ComputeQuotaResources []struct {
					InstanceType string
					Count        int
				}
				ResourceSharingConfig struct {
					Strategy    string
					BorrowLimit *int
				}
				PreemptTeamTasks string
			}
			ComputeQuotaTarget struct {
				TeamName        string
				FairShareWeight *int
			}
		}
	}
	// Pages of two: the CLI follows the tokens.
	decode(t, cli("sagemaker", "list-compute-quotas", "--cluster-arn", s.ClusterARN("ml-prod"), "--sort-by", "Name", "--sort-order", "Ascending", "--page-size", "2"), &list)
	var got []string
	for _, q := range list.ComputeQuotaSummaries {
		text, _ := json.Marshal([]any{q.ComputeQuotaTarget, q.ComputeQuotaConfig, q.Status})
		got = append(got, string(text))
	}
	want := []string{
		`[{"TeamName":"data-platform","FairShareWeight":20},{"ComputeQuotaResources":[{"InstanceType":"ml.p5.48xlarge","Count":1},{"InstanceType":"ml.p4d.24xlarge","Count":1}],"ResourceSharingConfig":{"Strategy":"Lend","BorrowLimit":null},"PreemptTeamTasks":""},"Created"]`,
		`[{"TeamName":"inference","FairShareWeight":80},{"ComputeQuotaResources":[{"InstanceType":"ml.p5.48xlarge","Count":1},{"InstanceType":"ml.p4d.24xlarge","Count":1}],"ResourceSharingConfig":{"Strategy":"LendAndBorrow","BorrowLimit":100},"PreemptTeamTasks":""},"Created"]`,
		`[{"TeamName":"interns","FairShareWeight":null},{"ComputeQuotaResources":[{"InstanceType":"ml.p4d.24xlarge","Count":2}],"ResourceSharingConfig":{"Strategy":"DontLend","BorrowLimit":null},"PreemptTeamTasks":"Never"},"Created"]`,
		`[{"TeamName":"ml-engineers","FairShareWeight":40},{"ComputeQuotaResources":[{"InstanceType":"ml.p5.48xlarge","Count":3}],"ResourceSharingConfig":{"Strategy":"LendAndBorrow","BorrowLimit":50},"PreemptTeamTasks":""},"Created"]`,
		`[{"TeamName":"researchers","FairShareWeight":30},{"ComputeQuotaResources":[{"InstanceType":"ml.p5.48xlarge","Count":2}],"ResourceSharingConfig":{"Strategy":"LendAndBorrow","BorrowLimit":0},"PreemptTeamTasks":""},"Created"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the AWS CLI reads\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	id, _ := s.IDOf("cluster-policy")
	policy := cli("sagemaker", "describe-cluster-scheduler-config", "--cluster-scheduler-config-id", id)
	for _, want := range []string{`"FairShare": "Enabled"`, `"IdleResourceSharing": "Disabled"`, `"Name": "fine-tuning"`, `"Weight": 80`, `"Arn": "` + s.Caller() + `"`, `"ClusterSchedulerConfigVersion": 1`} {
		if !strings.Contains(policy, want) {
			t.Errorf("the AWS CLI reads no %s:\n%s", want, policy)
		}
	}

	// The other way round.
	id, version := s.IDOf("interns")
	cli("sagemaker", "update-compute-quota", "--compute-quota-id", id, "--target-version", "1", "--description", "changed by hand",
		"--compute-quota-config", `{"ComputeQuotaResources":[{"InstanceType":"ml.p4d.24xlarge","AcceleratorPartition":{"Type":"mig-1g.5gb","Count":14}}],"ResourceSharingConfig":{"Strategy":"LendAndBorrow","AbsoluteBorrowLimits":[{"InstanceType":"ml.p4d.24xlarge","Accelerators":4}]}}`)
	if version != 1 {
		t.Errorf("version %d", version)
	}
	cli("sagemaker", "describe-compute-quota", "--compute-quota-id", id) // moves the status on
	out, err := runWith(t, home, account, "governance", "export", "--cluster-name", "ml-prod")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"description: changed by hand\n", "          type: mig-1g.5gb\n          count: 14\n", "absoluteBorrowLimits:\n      - {instanceType: ml.p4d.24xlarge, accelerators: 4}\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	file := filepath.Join(home, "teams.yaml")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := runWith(t, home, account, "governance", "plan", "-f", file, "--target", "sagemaker", "--no-consequences"); err != nil || !strings.Contains(out, `"Changes": false`) {
		t.Errorf("%v: the export plans to a change:\n%s", err, out)
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
}

// awsCLI returns a function that runs the AWS CLI with the variables of an account and without a configuration of its
// own. It skips the test where the CLI does not run.
func awsCLI(t *testing.T, aws, home string, account []string) func(args ...string) string {
	return func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), aws, args...)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
		cmd.Env = append(append(cmd.Env, account...), "AWS_CONFIG_FILE="+home+"/none", "AWS_SHARED_CREDENTIALS_FILE="+home+"/none",
			"AWS_DEFAULT_REGION=us-west-2", "AWS_MAX_ATTEMPTS=1", "AWS_PAGER=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			if strings.Contains(string(out), "command not found") {
				t.Skipf("the AWS CLI does not run: %s", out)
			}
			t.Fatalf("aws %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
}
