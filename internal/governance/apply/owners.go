package apply

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// atOnce is how many objects are read at a time.
const atOnce = 8

// SetOwners sets the Owners of the operations: the other field managers whose fields they change. The API server refuses
// such a change unless it is forced. Objects that cannot be read get none.
func SetOwners(ctx context.Context, c *kube.Client, ops []policy.Operation) {
	var wg crash.Group
	turn := make(chan struct{}, atOnce)
	for i := range ops {
		op := &ops[i]
		if op.Action != policy.Update {
			continue
		}
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if managers, err := Managers(ctx, c, resources[op.Kind], op.Namespace, op.Name); err == nil {
				op.Owners = owners(op, managers)
			}
		})
	}
	wg.Wait()
}

// owners returns the managers with fields that an update changes, sorted.
func owners(op *policy.Operation, managers []metav1.ManagedFieldsEntry) []string {
	before, after := plain(op.Before), plain(op.Body())
	if spec, ok := after["spec"].(map[string]any); ok { // what does not change can be written in another way
		for name := range spec {
			if !slices.Contains(op.Fields, name) {
				delete(spec, name)
			}
		}
	}
	var out []string
	for _, m := range managers {
		if m.Manager == Manager || m.Subresource != "" || m.FieldsV1 == nil {
			continue
		}
		var set map[string]any
		if json.Unmarshal(m.FieldsV1.GetRawBytes(), &set) == nil && changes(set, before, after) {
			out = append(out, m.Manager)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changes reports whether a set of owned fields (FieldsV1) has one whose value in after differs from that in before.
func changes(set, before, after map[string]any) bool {
	for name, value := range after {
		owned, ok := set["f:"+name].(map[string]any)
		if !ok || reflect.DeepEqual(before[name], value) {
			continue
		}
		old, oldMap := before[name].(map[string]any)
		now, nowMap := value.(map[string]any)
		if !oldMap || !nowMap || len(owned) == 0 || changes(owned, old, now) {
			return true
		}
	}
	return false
}

func plain(v any) map[string]any {
	out := map[string]any{}
	if data, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(data, &out) // JSON of our own
	}
	return out
}
