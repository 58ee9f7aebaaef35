package control

import (
	"fmt"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// TestConcerns: only changes that a controller reads need a run of the controllers, and jobs keep their workloads unless
// something that workloads depend on has changed.
func TestConcerns(t *testing.T) {
	for i, c := range []struct {
		kind           kinds.Resource
		concerns, same bool
	}{
		{kinds.Namespace, false, true}, {kinds.RBACRoleBinding, false, true},
		{kinds.ClusterQueue, true, true}, {kinds.PyTorchJob.Resource, true, true},
		{kinds.ServiceAccount, true, false}, {kinds.LimitRange, true, false}, {kinds.ConfigMap, true, false}, {kinds.WorkloadPriorityClass, true, false},
	} {
		st := store.New()
		m := map[string]any{"metadata": map[string]any{"name": "x", "uid": fmt.Sprint(i)}}
		if _, err := st.Put(c.kind.FullName(), m); err != nil {
			t.Fatal(err)
		}
		changes, err := st.Since(0)
		if err != nil || Concerns(changes) != c.concerns || (sameSince(st, 0) == 0) != c.same {
			t.Errorf("%s: %v", c.kind.Kind, err)
		}
	}
	st := store.New()
	for range 2 {
		if _, err := st.Put(kinds.Namespace.FullName(), map[string]any{"metadata": map[string]any{"name": "x", "uid": "1"}}); err != nil {
			t.Fatal(err)
		}
	}
	if changes, _ := st.Since(1); !Concerns(changes) || sameSince(st, 1) != -1 || sameSince(st, 5) != -1 {
		t.Error("queues select namespaces by their labels")
	}
}
