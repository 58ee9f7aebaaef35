package parse

import (
	"strings"
	"testing"
)

// Lists in lists are flattened, as kubectl does; items of another type are a fault.
func TestLists(t *testing.T) {
	tm, complete, err := Read("t", "t.yaml", []byte(`{apiVersion: v1, kind: List, items: [
  {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]},
  {apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]}]}`), 10, nil)
	if err != nil || !complete || len(tm.Docs) != 2 || tm.Docs[1].Get("metadata").Get("name").Str() != "b" {
		t.Fatalf("%v, %v, %d documents", err, complete, len(tm.Docs))
	}
	_, _, err = Read("t", "t.yaml", []byte("apiVersion: v1\nkind: List\nitems: {a: b}\n"), 10, nil)
	if err == nil || !strings.Contains(err.Error(), "items of a List must be a list") {
		t.Errorf("got %v", err)
	}
}
