package aws

import (
	"cmp"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
)

func compareNodes(a, b clusters.Node) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.InstanceID, b.InstanceID))
}
