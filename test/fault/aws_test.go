package fault_test

import (
	"testing"

	fake "github.com/hyperpod-cli/hyperpod/test/aws"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// onAWS are commands for clusters.
var onAWS = []string{
	"get-clusters -o json",
	"describe-cluster ml-prod -o json",
	"list-cluster-nodes research -o json",
	"list-cluster-events ml-prod -o json",
	"connect-cluster ml-prod --kubeconfig $DIR/written -n team -o name",
	"create-cluster -f ../../examples/cluster.yaml",
	"update-cluster research --instance-group workers --count 4 --yes",
	"update-cluster-software research --yes",
	"delete-cluster research --yes",
	"reboot-cluster-nodes research i-0bbbbbbbbbbbbbbb2 --yes -o json",
	"add-cluster-nodes research --group workers --count 1 --yes",
	"governance export --cluster-name ml-prod",
	"start-session research --group workers --command hostname",
}

// account is an AWS account with a cluster whose API server cannot be reached, and one that
// Slurm orchestrates.
func account() *fake.Server {
	s := fake.New(fake.Options{})
	s.AddCluster(fake.Spec{Name: "ml-prod", EKS: s.AddEKS(fake.EKS{Name: "ml-prod-eks", Server: "https://127.0.0.1:1"}),
		Groups: []fake.GroupSpec{{Name: "workers", InstanceType: "ml.g5.12xlarge", Nodes: []fake.NodeSpec{{ID: "i-0aaaaaaaaaaaaaaa1"}}}}})
	s.AddCluster(fake.Spec{Name: "research", Groups: []fake.GroupSpec{{Name: "workers", InstanceType: "ml.p4d.24xlarge", Nodes: []fake.NodeSpec{{ID: "i-0bbbbbbbbbbbbbbb2"}, {ID: "i-0bbbbbbbbbbbbbbb3"}}}}})
	s.AddEKS(fake.EKS{Name: "ml-lab-eks"})
	return s
}

// TestAWS runs every command for clusters behind every fault of AWS's services.
func TestAWS(t *testing.T) {
	matrix{title: "faults of AWS", lines: onAWS, oneOf: 4,
		each: func(t *testing.T, line string, kind string, seed uint64) (int, *fault.ChaosProxy) {
			chaos := fault.NewChaos(account(), kind, seed)
			return try(t, line, chaos, credentials), chaos
		}}.run(t)
}

// credentials are the variables that lead to an account.
func credentials(url string) []string {
	return []string{"AWS_ENDPOINT_URL=" + url, "AWS_ACCESS_KEY_ID=" + fake.AccessKey, "AWS_SECRET_ACCESS_KEY=" + fake.SecretKey, "AWS_REGION=us-west-2"}
}
