package sandbox

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/api"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// TestGeneratedNamesAreUnique creates so many objects with one prefix that random
// suffixes of five characters would collide.
func TestGeneratedNamesAreUnique(t *testing.T) {
	st, server := store.New(), api.NewServer(fixed{now: time.Unix(0, 0)})
	insert := func(kind, namespace string, meta map[string]any) *store.Object {
		t.Helper()
		if namespace != "" {
			meta["namespace"] = namespace
		}
		o, err := server.Insert(st, map[string]any{"apiVersion": "v1", "kind": kind, "metadata": meta})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	insert("Namespace", "", map[string]any{"name": "default"})
	long := "a-prefix-that-leaves-no-space-for-a-suffix-within-63-characters-"
	for range 10_000 {
		insert("ConfigMap", "default", map[string]any{"generateName": "gang-"})
		if o := insert("ConfigMap", "default", map[string]any{"generateName": long}); len(o.Name) != 63 || object.Text(o.Map(), "metadata", "generateName") != long {
			t.Fatalf("name %s", o.Name)
		}
	}
	if n := len(st.List("configmaps", "default")); n != 20_000 {
		t.Errorf("%d objects", n)
	}
}
