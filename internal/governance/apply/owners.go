package apply

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// atOnce is how many objects are read at a time.
const atOnce = 8

// fewObjects is how many objects of a kind are read one by one. The metadata of more is read as one list.
const fewObjects = 32

// SetOwners sets the Owners of the operations: the other field managers whose fields they change. The API server refuses
// such a change unless it is forced. Objects that cannot be read get none.
func SetOwners(ctx context.Context, c *kube.Client, ops []policy.Operation) {
	updates := map[string][]*policy.Operation{} // by kind
	for i := range ops {
		if op := &ops[i]; op.Action == policy.Update {
			updates[op.Kind] = append(updates[op.Kind], op)
		}
	}
	var wg crash.Group
	turn := make(chan struct{}, atOnce)
	inTurn := func(f func()) {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			f()
		})
	}
	for kind, list := range updates {
		r := resources[kind]
		if len(list) > fewObjects {
			inTurn(func() { listOwners(ctx, c, r, list) })
			continue
		}
		for _, op := range list {
			inTurn(func() {
				if managers, err := Managers(ctx, c, r, op.Namespace, op.Name); err == nil {
					op.Owners = owners(op, managers)
				}
			})
		}
	}
	wg.Wait()
}

// managed is an object with the field managers of its parts.
type managed struct {
	Metadata struct {
		Namespace     string                      `json:"namespace"`
		Name          string                      `json:"name"`
		ManagedFields []metav1.ManagedFieldsEntry `json:"managedFields"`
	} `json:"metadata"`
}

// listOwners sets the Owners of updates of one kind from a list of its objects. It keeps no object of the list.
func listOwners(ctx context.Context, c *kube.Client, r kinds.Resource, updates []*policy.Operation) {
	r, err := served(ctx, c, r)
	if err != nil {
		return
	}
	byName := map[types.NamespacedName]*policy.Operation{}
	for _, op := range updates {
		byName[types.NamespacedName{Namespace: op.Namespace, Name: op.Name}] = op
	}
	_, _ = kube.Collect(ctx, c, r, "", kube.ListOptions{MetadataOnly: true}, func(m *managed) struct{} { // after an error, the others get none
		if op := byName[types.NamespacedName{Namespace: m.Metadata.Namespace, Name: m.Metadata.Name}]; op != nil {
			op.Owners = owners(op, m.Metadata.ManagedFields)
		}
		return struct{}{}
	})
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
		if m.Manager != Manager && m.Subresource == "" && changes(fieldsOf(m), before, after) {
			out = append(out, m.Manager)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fieldsOf returns the set of fields of a manager (FieldsV1), nil if there is none. Managers keep the version of their request:
// cohortName has another name in v1beta1.
func fieldsOf(m metav1.ManagedFieldsEntry) (set map[string]any) {
	if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &set) != nil {
		return nil
	}
	if spec, ok := set["f:spec"].(map[string]any); ok && spec["f:cohort"] != nil {
		spec["f:cohortName"] = spec["f:cohort"]
	}
	return set
}

// changes reports whether a set of owned fields has one whose value in after differs from that in before.
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
