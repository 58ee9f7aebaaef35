package apply

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// TestOwners: a change names the managers of the fields that it changes, and no others.
func TestOwners(t *testing.T) {
	box, err := sandbox.Create(t.Context(), filepath.Join(t.TempDir(), "box.json"), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	managers := []metav1.ManagedFieldsEntry{
		entry("terraform", "", `{"f:spec":{"f:resourceGroups":{}}}`),
		entry("kubectl", "", `{"f:value":{},"f:spec":{".":{},"f:resourceGroups":{},"f:cohortName":{}}}`),
		entry("kubectl", "", `{"f:value":{}}`),
		entry("others", "", `{"f:spec":{"f:queueingStrategy":{},"f:fairSharing":{"f:weight":{}}},"f:metadata":{"f:labels":{"f:x":{}}}}`),
		entry("kueue", "status", `{"f:value":{},"f:spec":{"f:resourceGroups":{}}}`),
		entry(Manager, "", `{"f:value":{},"f:spec":{"f:resourceGroups":{}}}`),
		{Manager: "empty"},
		entry("broken", "", `{`),
	}
	want := map[string][]string{changed: {"kubectl", "terraform"}, class: {"kubectl"}}
	for _, op := range planned(t, kube.NewInProcess(box, "sandbox", kube.Options{})) {
		owned, ok := want[op.Name]
		if !ok {
			continue
		}
		delete(want, op.Name)
		if got := owners(&op, managers); !slices.Equal(got, owned) {
			t.Errorf("%s: %q, want %q", op.Name, got, owned)
		}
	}
	if len(want) > 0 {
		t.Errorf("no change of %v", want)
	}
}

// TestOwnersOfMany: the managers of many objects are read as one list.
func TestOwnersOfMany(t *testing.T) {
	box, err := sandbox.Create(t.Context(), filepath.Join(t.TempDir(), "box.json"), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ops := planned(t, kube.NewInProcess(box, "sandbox", kube.Options{}))
	i := slices.IndexFunc(ops, func(op policy.Operation) bool { return op.Name == changed })
	for n := range fewObjects {
		op := ops[i]
		op.Name = fmt.Sprint("other-", n)
		ops = append(ops, op)
	}
	var requests []string
	c := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, kinds.ClusterQueue.Plural) {
			box.ServeHTTP(w, r)
			return
		}
		requests = append(requests, r.URL.Path)
		item := `{"metadata":{"name":%q,"managedFields":[{"manager":"terraform","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:resourceGroups":{}}}}]}}`
		fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[`+item+`,`+item+`]}`, changed, "stranger")
	}), "sandbox", kube.Options{})
	SetOwners(t.Context(), c, ops)
	if len(requests) != 1 {
		t.Errorf("requests: %q", requests)
	}
	if got := ops[i].Owners; !slices.Equal(got, []string{"terraform"}) {
		t.Errorf("owners of %s: %q", changed, got)
	}
	if got := ops[len(ops)-1].Owners; got != nil {
		t.Errorf("owners of an object that is not in the list: %q", got)
	}
}

// TestOwnersOfTheOldVersion: v1beta1 has another name for the cohort.
func TestOwnersOfTheOldVersion(t *testing.T) {
	m := metav1.ManagedFieldsEntry{APIVersion: "kueue.x-k8s.io/v1beta1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:cohort":{}}}`)}}
	cohort := func(name string) map[string]any { return map[string]any{"spec": map[string]any{"cohortName": name}} }
	if !changes(fieldsOf(m), cohort("a"), cohort("b")) {
		t.Error("the owner of the cohort is not found")
	}
}

// TestOwnersOfParts: of an object within a field, only the values that change count.
func TestOwnersOfParts(t *testing.T) {
	before := map[string]any{"preemption": map[string]any{"reclaim": "Any", "within": "Never"}, "list": []any{"a"}}
	after := map[string]any{"preemption": map[string]any{"reclaim": "Any", "within": "LowerPriority"}, "list": []any{"b"}, "new": map[string]any{"x": 1}}
	for name, tt := range map[string]struct {
		set  map[string]any
		want bool
	}{
		"the other part": {map[string]any{"f:preemption": map[string]any{"f:reclaim": map[string]any{}}}, false},
		"this part":      {map[string]any{"f:preemption": map[string]any{"f:within": map[string]any{}}}, true},
		"the whole":      {map[string]any{"f:preemption": map[string]any{}}, true},
		"its existence":  {map[string]any{"f:preemption": map[string]any{".": map[string]any{}}}, false},
		"a list by key":  {map[string]any{"f:list": map[string]any{"k:{\"name\":\"a\"}": map[string]any{}}}, true},
		"nothing":        {map[string]any{}, false},
	} {
		if got := changes(tt.set, before, after); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
