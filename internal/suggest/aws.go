package suggest

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// Region names the AWS region.
func Region(name string) errs.Suggestion { return errs.Option("--region", name) }

// Clusters lists the HyperPod clusters of a region.
func Clusters(region string) errs.Suggestion { return errs.Run("get-clusters", "--region", region) }

// ConnectCluster adds a HyperPod cluster to the kubeconfig.
func ConnectCluster(name string) errs.Suggestion {
	return errs.Run("connect-cluster", name).WithNote("an Amazon SageMaker HyperPod cluster")
}

// AWSLogin renews the SSO session of a profile, "" for the default one.
func AWSLogin(profile string) errs.Suggestion {
	words := []string{"aws", "sso", "login"}
	if profile != "" {
		words = append(words, "--profile", profile)
	}
	return errs.Other(words...).WithNote("for profiles with IAM Identity Center; renews the session")
}

// AWSConfigure stores credentials.
func AWSConfigure() errs.Suggestion {
	return errs.Other("aws", "configure").WithNote("stores an access key; or set AWS_PROFILE")
}

// AWSProfiles lists the profiles.
func AWSProfiles() errs.Suggestion { return errs.Other("aws", "configure", "list-profiles") }

// DescribeCluster shows the status of a HyperPod cluster.
func DescribeCluster(name string) errs.Suggestion {
	return errs.Run("describe-cluster", name).WithNote("shows its status")
}
