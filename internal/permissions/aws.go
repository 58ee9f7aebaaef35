package permissions

// AWSCommand is a command and the IAM actions of its requests to AWS. Without an optional
// action the command works and reports what is unknown. Each command also needs the
// permission to assume the role of --role-arn, where it is given one.
type AWSCommand struct {
	Name            string
	Needs, Optional []string
}

// AWSCommands returns the commands that send requests to AWS, by name. A token is signed
// on this machine and needs no action.
//
// test/script/awspermissions_test.go compares the table with the requests of every command.
func AWSCommands() []AWSCommand {
	const (
		describe = "sagemaker:DescribeCluster"
		list     = "sagemaker:ListClusters"
		nodes    = "sagemaker:ListClusterNodes"
		eks      = "eks:DescribeCluster"
	)
	policies := []string{"sagemaker:ListClusterSchedulerConfigs", "sagemaker:DescribeClusterSchedulerConfig", "sagemaker:ListComputeQuotas", "sagemaker:DescribeComputeQuota"}
	return []AWSCommand{
		{"add-cluster-nodes", []string{describe, "sagemaker:BatchAddClusterNodes"}, nil},
		{"check-cluster-nodes", []string{describe, nodes, "sagemaker:StartClusterHealthCheck"}, []string{eks}},
		{"connect-cluster", []string{describe, eks}, nil},
		{"create-cluster", []string{"sagemaker:CreateCluster"}, nil},
		{"create-cluster --wait", []string{"sagemaker:CreateCluster", describe}, nil},
		{"delete-cluster", []string{describe, "sagemaker:DeleteCluster"}, []string{eks, "sagemaker:ListClusterSchedulerConfigs", "sagemaker:ListComputeQuotas"}},
		{"delete-cluster-nodes", []string{describe, nodes, "sagemaker:BatchDeleteClusterNodes"}, []string{eks}},
		{"describe-cluster", []string{describe}, nil},
		{"get-clusters", []string{list, describe}, []string{eks}},
		{"governance apply --cluster-name", append([]string{describe, eks, "sagemaker:CreateClusterSchedulerConfig", "sagemaker:UpdateClusterSchedulerConfig",
			"sagemaker:CreateComputeQuota", "sagemaker:UpdateComputeQuota"}, policies...), []string{"sagemaker:DeleteComputeQuota"}},
		{"governance export --cluster-name", append([]string{describe}, policies...), nil},
		{"list-cluster-events", []string{"sagemaker:ListClusterEvents"}, nil},
		{"list-cluster-nodes", []string{describe, nodes}, []string{eks}},
		{"reboot-cluster-nodes", []string{describe, nodes, "sagemaker:BatchRebootClusterNodes"}, []string{eks}},
		{"replace-cluster-nodes", []string{describe, nodes, "sagemaker:BatchReplaceClusterNodes"}, []string{eks}},
		{"start-session", []string{describe, nodes, "ssm:StartSession"}, []string{"ssm:TerminateSession"}},
		{"update-cluster", []string{describe, "sagemaker:UpdateCluster"}, []string{eks, nodes}},
		{"update-cluster-software", []string{describe, "sagemaker:UpdateClusterSoftware"}, []string{eks, nodes}},
	}
}
