package admission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestVariantLists: a variant belongs to a workload of its namespace, which is not a variant itself.
func TestVariantLists(t *testing.T) {
	owned := func(name string, owner ...string) *kueue.Workload {
		w := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name}}
		for _, o := range owner {
			w.OwnerReferences = append(w.OwnerReferences, metav1.OwnerReference{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload", Name: o})
		}
		return w
	}
	parent, one, two, other := owned("p"), owned("p-1", "p"), owned("p-2", "p"), owned("o")
	orphan, itself, nested, nameless := owned("x-1", "x"), owned("i", "i"), owned("p-1-1", "p-1"), owned("")
	stale := owned("p-4", "p")
	stale.OwnerReferences[0].UID = "before"
	again := owned("p")
	again.UID = "now"
	away := owned("p-3", "p")
	away.Namespace = "b"
	for name, c := range map[string]struct {
		list             []*kueue.Workload
		others, variants string
	}{
		"none":                            {nil, "", ""},
		"a family":                        {[]*kueue.Workload{one, parent, other, two}, "p o", "p-1 p-2"},
		"an orphan":                       {[]*kueue.Workload{parent, orphan, away}, "p x-1 p-3", ""},
		"of another parent with the name": {[]*kueue.Workload{again, stale, one}, "p p-4", "p-1"},
		"its own":                         {[]*kueue.Workload{itself, other}, "i o", ""},
		"nested":                          {[]*kueue.Workload{parent, one, nested}, "p p-1-1", "p-1"},
		"a cycle":                         {[]*kueue.Workload{owned("c", "d"), owned("d", "c")}, "c d", ""},
		"no name":                         {[]*kueue.Workload{nameless, parent, owned("e", "")}, " p e", ""},
		"no variants":                     {[]*kueue.Workload{parent, other}, "p o", ""},
	} {
		others, variants := SplitVariants(c.list)
		if named(others) != c.others || named(variants) != c.variants {
			t.Errorf("%s: %q and %q", name, named(others), named(variants))
		}
		objects := []client.Object{&corev1.Node{}}
		for _, w := range c.list {
			objects = append(objects, w)
		}
		rest, taken := TakeVariants(objects)
		if len(rest) != 1+len(others) || named(taken) != c.variants {
			t.Errorf("%s: took %q of %d", name, named(taken), len(objects))
		}
		if back := AddVariants(rest, append(taken, owned("z-1", "z"))); len(back) != len(objects) {
			t.Errorf("%s: %d objects of %d are back", name, len(back), len(objects))
		}
	}
	for name, c := range map[string]struct {
		workloads, variants []*kueue.Workload
		want                string
	}{
		"a family":       {[]*kueue.Workload{parent, other}, []*kueue.Workload{one, two}, "o p-1 p-2"},
		"not its parent": {[]*kueue.Workload{other}, []*kueue.Workload{one, two}, "o"},
		"nothing":        {nil, []*kueue.Workload{one}, ""},
		"no variants":    {[]*kueue.Workload{parent, other}, nil, "p o"},
		"no name":        {[]*kueue.Workload{nameless, other}, []*kueue.Workload{owned("e", "")}, " o"},
	} {
		if got := named(Queued(c.workloads, c.variants)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func named(list []*kueue.Workload) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = w.Name
	}
	return strings.Join(out, " ")
}
