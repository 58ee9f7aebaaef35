package script

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMoto: moto, a fake of AWS that is not ours, takes the requests of create-cluster and
// shows the AWS CLI and this program the same cluster.
func TestMoto(t *testing.T) {
	t.Parallel()
	moto, noMoto := exec.LookPath("moto_server")
	aws, noAWS := exec.LookPath("aws")
	if noMoto != nil || noAWS != nil {
		t.Skip("moto_server or the AWS CLI is not installed")
	}
	server := exec.CommandContext(t.Context(), moto, "-H", "127.0.0.1", "-p", "0")
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Skipf("moto_server does not run: %v", err)
	}
	url := ""
	for lines := bufio.NewScanner(stderr); url == "" && lines.Scan(); {
		url = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	t.Cleanup(func() { _ = server.Wait() }) // the context of the test has ended it
	if url == "" {
		t.Skip("moto_server does not run")
	}
	home := t.TempDir()
	env := []string{"AWS_ENDPOINT_URL=" + url, "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_REGION=us-west-2", "AWS_CONFIG_FILE=" + home + "/none"}
	own := func(args ...string) string {
		t.Helper()
		out, err := runWith(t, home, env, args...)
		if err != nil {
			t.Fatalf("hyperpod %s: %v", strings.Join(args, " "), err)
		}
		return out
	}
	file := filepath.Join(home, "ml.yaml")
	if err := os.WriteFile(file, []byte("ClusterName: ml\nInstanceGroups:\n- InstanceGroupName: g1\n  InstanceType: ml.p4d.24xlarge\n  InstanceCount: 2\n  ThreadsPerCore: 1\n  ExecutionRole: arn:aws:iam::123456789012:role/hyperpod\n  LifeCycleConfig: {SourceS3Uri: s3://sagemaker-x, OnCreate: a.sh}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own("create-cluster", "-f", file)
	for query, ours := range map[string]string{
		"sagemaker list-clusters --query ClusterSummaries[*].ClusterName":                                                            own("get-clusters", "-o", "name"),
		"sagemaker describe-cluster --cluster-name ml --query [ClusterArn,ClusterStatus]":                                            own("describe-cluster", "ml", "-o", "jsonpath={.ClusterArn} {.ClusterStatus}"),
		"sagemaker describe-cluster --cluster-name ml --query InstanceGroups[*].[InstanceGroupName,InstanceType,CurrentCount]":       own("describe-cluster", "ml", "-o", "jsonpath={range .InstanceGroups[*]}{.InstanceGroup} {.InstanceTypes[0]} {.CurrentCount}{end}"),
		"sagemaker list-cluster-nodes --cluster-name ml --query ClusterNodeSummaries[*].[InstanceGroupName,InstanceId,InstanceType]": own("list-cluster-nodes", "ml", "-o", "jsonpath={range .nodes[*]}{.InstanceGroup} {.InstanceId} {.InstanceType} {end}"),
	} {
		cmd := exec.CommandContext(t.Context(), aws, append(strings.Fields(query), "--output", "text")...)
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") })
		cmd.Env = append(append(cmd.Env, env...), "AWS_DEFAULT_REGION=us-west-2", "AWS_PAGER=")
		theirs, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("aws %s: %v\n%s", query, err, theirs)
		}
		if a, b := strings.Fields(string(theirs)), strings.Fields(ours); !slices.Equal(a, b) {
			t.Errorf("aws %s: %v, hyperpod: %v", query, a, b)
		}
	}
}
