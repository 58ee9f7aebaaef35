package decode

import "testing"

// FuzzDecode: a stream is read or refused, and what the strict decoder accepts, the other one accepts too, with as many objects.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\nspec: {cohortName: b}\n---\nkind: x\n"))
	f.Add([]byte(`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","metadata":{"name":"w"},"spec":{"podSets":[{"count":1}]}}`))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n}}\n- null\n"))
	f.Add([]byte("null\n---\n---\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Objects(data)
		strict, strictErr := Strict(data)
		if strictErr == nil && (err != nil || len(all) != len(strict)) {
			t.Errorf("strictly %d objects, else %d: %v", len(strict), len(all), err)
		}
	})
}
