package decode

import (
	"strings"
	"testing"
)

func TestDecodeErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"not YAML", "a: [", "document 1"},
		{"second document", "kind: Namespace\napiVersion: v1\nmetadata: {name: x}\n---\n- 1\n", "document 2"},
		{"wrong type", "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\nspec: {resourceGroups: 7}", "document 1"},
		{"item of a list", "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: one}}\n- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: two}, spec: {clusterQueue: 7}}\n",
			"document 1: items[1] (LocalQueue two): "},
		{"item without a name", "kind: List\napiVersion: v1\nitems: [{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: 7}]", "document 1: items[0] (LocalQueue): "},
		{"item that is text", "kind: List\napiVersion: v1\nitems: [text]", "items"},
		{"lists in lists", strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 11) + strings.Repeat("]}", 11), "lists are nested more than 10 deep"},
		{"bad quantity", "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\nspec: {resourceGroups: [{flavors: [{name: a, resources: [{name: cpu, nominalQuota: lots}]}]}]}", "quantities"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objs, err := Objects([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v; want an error with %q", objs, err, tt.want)
			}
		})
	}
	nested := strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 10) + `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}` + strings.Repeat("]}", 10)
	if objs, err := Objects([]byte(nested)); err != nil || len(objs) != 1 {
		t.Errorf("nested lists: %v, %v", objs, err)
	}
	if objs, err := Objects([]byte("\n---\n---\n")); err != nil || len(objs) != 0 {
		t.Errorf("empty stream: %v, %v", objs, err)
	}
}

// Errors use no words of Go and never quote a document, which may be a wrong file with secrets.
func TestDecodeStrictInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: secret}\n": "document 1: kind Job of batch/v1 is not one of Kueue's",
		"password: secret\n":                     "document 1: kind is missing",
		"kind: ClusterQueue\npassword: secret\n": "document 1: apiVersion is missing",
		"secret\n":                               "document 1: kind is missing",
		"[secret]\n":                             "document 1: kind is missing",
		"{apiVersion: v1, kind: List, items: {secret: 1}}\n":              "document 1: items has the wrong type: object",
		"apiVersion: kueue.x-k8s.io/v1beta2\nkind: {secret: 1}\n":         "document 1: kind is missing",
		"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: 7\n": "document 1: metadata has the wrong type: number",
	} {
		_, err := Strict([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}
