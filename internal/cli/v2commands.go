package cli

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// v2Commands are commands of the official CLI v2 that this program does not have, and what
// does the same.
var v2Commands = map[string][]errs.Suggestion{
	"connect-cluster": {errs.Other("aws", "eks", "update-kubeconfig", "--name", "EKS_CLUSTER").WithNote("adds the cluster to your kubeconfig")},
	"get-clusters":    {errs.Other("aws", "sagemaker", "list-clusters"), errs.Run("get-quota").WithNote("shows the accelerators of the current cluster")},
	"get-monitoring":  {errs.Other("aws", "eks", "list-addons", "--cluster-name", "EKS_CLUSTER")},
}
