package script

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/permissions"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// awsUses are runs of each command of permissions.AWSCommands. Those after a * may end with
// another code than 0.
var awsUses = map[string][]string{
	"add-cluster-nodes":                {"* add-cluster-nodes research --group workers --count 1 --yes", "create-cluster -f $HOME/lab.yaml", "describe-cluster lab", "add-cluster-nodes lab --group gpu --count 1 --yes"},
	"check-cluster-nodes":              {"check-cluster-nodes ml-prod --group accelerated-p5 --check InstanceStress --yes"},
	"connect-cluster":                  {"connect-cluster ml-prod --kubeconfig $HOME/config"},
	"create-cluster":                   {"create-cluster -f $HOME/lab.yaml"},
	"create-cluster --wait":            {"create-cluster -f $HOME/lab.yaml --wait"},
	"delete-cluster":                   {"delete-cluster ml-prod --yes"},
	"delete-cluster-nodes":             {"delete-cluster-nodes ml-prod --group accelerated-p5 --yes"},
	"describe-cluster":                 {"describe-cluster ml-prod"},
	"get-clusters":                     {"get-clusters", "get-clusters -n hyperpod-ns-researchers"},
	"governance apply --cluster-name":  {"governance apply -f ../../examples/teams.yaml --cluster-name ml-prod --yes --backup none", "* governance apply -f $HOME/changed.yaml --cluster-name ml-prod --prune --yes --backup none"},
	"governance export --cluster-name": {"governance apply -f ../../examples/teams.yaml --cluster-name ml-prod --yes --backup none", "governance export --cluster-name ml-prod"},
	"list-cluster-events":              {"list-cluster-events ml-prod"},
	"list-cluster-nodes":               {"list-cluster-nodes ml-prod"},
	"reboot-cluster-nodes":             {"reboot-cluster-nodes ml-prod --group accelerated-p5 --yes"},
	"replace-cluster-nodes":            {"replace-cluster-nodes ml-prod --group accelerated-p5 --yes"},
	"start-session":                    {"* start-session ml-dev i-0aaaaaaaaaaaaaaa1", "* start-session ml-dev --group workers"},
	"update-cluster":                   {"update-cluster ml-prod --instance-group accelerated-p5 --count 3 --yes"},
	"update-cluster-software":          {"update-cluster-software ml-prod --yes"},
}

// TestAWSPermissions: no command asks AWS for more than the table of package permissions says, and
// the table says no more than that.
func TestAWSPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range permissions.AWSCommands() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if len(awsUses[c.Name]) == 0 {
				t.Fatal("no use")
			}
			home := t.TempDir()
			s := fake.New(fake.Options{})
			end, err := fillAccount(home, s, true)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			if !strings.HasPrefix(c.Name, "delete-cluster") {
				allocate(t, s)
			}
			server := httptest.NewServer(s)
			defer server.Close()
			env := []string{"PATH=" + pluginAt(t, home)}
			for name, value := range awsEnv(server.URL) {
				env = append(env, name+"="+value)
			}
			if err := os.WriteFile(filepath.Join(home, "lab.yaml"), []byte("ClusterName: lab\nNodeProvisioningMode: Continuous\nInstanceGroups:\n- {InstanceGroupName: gpu, InstanceType: ml.p5.48xlarge, InstanceCount: 1, ExecutionRole: 'arn:aws:iam::123456789012:role/hyperpod'}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			teams, err := os.ReadFile("../../examples/teams.yaml")
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(teams), "{name: training, weight: 40}", "{name: training, weight: 41}", 1)
			if err := os.WriteFile(filepath.Join(home, "changed.yaml"), []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			before, setup := len(s.Calls()), 0
			for i, use := range awsUses[c.Name] {
				args, mayFail := strings.CutPrefix(strings.ReplaceAll(use, "$HOME", home), "* ")
				if name, _, _ := strings.Cut(c.Name, " --"); !strings.HasPrefix(args, name) {
					setup = i + 1
				}
				if _, err := runWith(t, home, env, strings.Fields(args)...); err != nil && !mayFail {
					t.Errorf("hyperpod %s: %v", args, err)
				}
				if setup == i+1 { // requests of another command
					before = len(s.Calls())
				}
			}
			asked := map[string]bool{}
			for _, operation := range s.Calls()[before:] {
				service, name, ok := strings.Cut(operation, ".")
				if !ok {
					service, name = "sagemaker", operation
				}
				if strings.HasSuffix(operation, "Session") {
					service = "ssm"
				}
				if action := service + ":" + name; action != "sts:GetCallerIdentity" { // which needs no permission
					asked[action] = true
				}
			}
			table := slices.Concat(c.Needs, c.Optional)
			for action := range asked {
				if !slices.Contains(table, action) {
					t.Errorf("it asks for %s", action)
				}
			}
			for _, action := range table {
				if !asked[action] && action != "ssm:TerminateSession" { // sent if the plugin does not start
					t.Errorf("it does not ask for %s", action)
				}
			}
		})
	}
}

// pluginAt puts a session plugin that does nothing into a folder and returns the folder.
func pluginAt(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "session-manager-plugin")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
