package aws

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
)

func compareNodes(a, b clusters.Node) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.InstanceID, b.InstanceID))
}

// mostNames are the names that an error lists.
const mostNames = 8

func short(names []string) string {
	if len(names) > mostNames {
		return strings.Join(names[:mostNames], ", ") + fmt.Sprintf(" and %d more", len(names)-mostNames)
	}
	return strings.Join(names, ", ")
}
