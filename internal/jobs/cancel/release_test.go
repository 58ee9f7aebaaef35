package cancel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// TestRelease: Kueue keeps the deleted pods of a group, and its quota. Release deletes the Workload, or removes the finalizers of
// the pods, once all pods of the group are deleted.
func TestRelease(t *testing.T) {
	pod := func(name, deleted string, finalizers ...string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name, "uid": name, "resourceVersion": "7", "deletionTimestamp": deleted, "finalizers": finalizers}}
	}
	const gone, managed = "2026-01-01T00:00:00Z", "kueue.x-k8s.io/managed"
	for name, c := range map[string]struct {
		pods             []map[string]any
		foreign, refuses bool
		left, sent       string
	}{
		"all are deleted":        {[]map[string]any{pod("a", gone, managed), pod("b", gone, managed, "mine")}, false, false, "[]", "DELETE g"},
		"without permission":     {[]map[string]any{pod("a", gone, managed), pod("b", gone, managed, "mine")}, false, true, "[]", `DELETE g;PATCH a [];PATCH b ["mine"]`},
		"one is left":            {[]map[string]any{pod("a", gone, managed), pod("b", "", managed)}, false, false, "[b]", ""},
		"nothing holds them":     {[]map[string]any{pod("a", gone)}, false, false, "[]", ""},
		"none":                   {nil, false, false, "[]", ""},
		"another job's Workload": {[]map[string]any{pod("a", gone, managed)}, true, false, "[]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
				switch {
				case r.Method == http.MethodGet && last == "pods":
					_ = json.NewEncoder(w).Encode(map[string]any{"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{}, "items": c.pods})
				case r.Method == http.MethodGet && last == "g":
					_ = json.NewEncoder(w).Encode(map[string]any{"metadata": map[string]any{"name": "g", "uid": "w", "annotations": map[string]any{"kueue.x-k8s.io/is-group-workload": fmt.Sprint(!c.foreign)}}})
				case r.Method == http.MethodDelete:
					sent = append(sent, "DELETE "+last)
					if c.refuses {
						w.WriteHeader(http.StatusForbidden)
						_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`))
						return
					}
					_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
				case r.Method == http.MethodPatch:
					var body struct {
						Metadata struct{ Finalizers json.RawMessage }
					}
					_ = json.NewDecoder(r.Body).Decode(&body)
					sent = append(sent, "PATCH "+last+" "+string(body.Metadata.Finalizers))
					_, _ = w.Write([]byte(`{}`))
				default: // discovery
					_ = json.NewEncoder(w).Encode(map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": "kueue.x-k8s.io", "versions": []any{map[string]any{"groupVersion": "kueue.x-k8s.io/v1beta2", "version": "v1beta2"}}})
				}
			}))
			defer server.Close()
			client, err := kube.New(&rest.Config{Host: server.URL}, kube.Options{})
			if err != nil {
				t.Fatal(err)
			}
			left, err := Release(t.Context(), client, "n", "g")
			slices.Sort(sent)
			if err != nil || fmt.Sprint(left) != c.left || strings.Join(sent, ";") != c.sent {
				t.Errorf("left %v, sent %q, error %v", left, sent, err)
			}
		})
	}
}
