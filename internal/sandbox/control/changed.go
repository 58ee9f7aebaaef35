package control

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// unread are the kinds that no controller reads.
var unread = []kinds.Resource{kinds.RBACClusterRole, kinds.RBACClusterRoleBinding, kinds.RBACRole, kinds.RBACRoleBinding}

// Concerns reports whether the controllers read one of the changes. A new namespace is empty.
func Concerns(changes []store.Change) bool {
	return slices.ContainsFunc(changes, func(c store.Change) bool {
		return !newNamespace(c) && !isOf(c, unread)
	})
}

// unlike are the kinds that the pods of a workload do not depend on, beside jobs.
var unlike = append([]kinds.Resource{kinds.Workload, kinds.Pod, kinds.Event, kinds.Node, kinds.ClusterQueue, kinds.LocalQueue, kinds.Cohort}, unread...)

// sameSince returns the resource version up to which jobs have the workloads that they would get now: settled, or -1 where
// something that workloads depend on has changed since.
func sameSince(st *store.Store, settled int64) int64 {
	changes, err := st.Since(settled)
	if err != nil || slices.ContainsFunc(changes, func(c store.Change) bool {
		return !newNamespace(c) && !isOf(c, unlike) && !slices.ContainsFunc(kinds.Jobs(), func(k kinds.Job) bool { return k.FullName() == c.Resource })
	}) {
		return -1
	}
	return settled
}

func newNamespace(c store.Change) bool {
	return c.Type == store.Added && c.Resource == kinds.Namespace.FullName()
}

func isOf(c store.Change, list []kinds.Resource) bool {
	return slices.ContainsFunc(list, func(r kinds.Resource) bool { return r.FullName() == c.Resource })
}
