package cli

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// v2Commands are commands of the official CLI v2 that this program does not have, and what
// does the same.
var v2Commands = map[string][]errs.Suggestion{
	"get-monitoring": {errs.Other("aws", "eks", "list-addons", "--cluster-name", "EKS_CLUSTER")},
}
