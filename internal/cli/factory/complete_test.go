package factory

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// TestJobsOfTheKindsThatCanBeListed: a kind that cannot be listed leaves the names of
// the other kinds, and its error is not lost.
func TestJobsOfTheKindsThatCanBeListed(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "lab"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/rayjobs") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)
			return
		}
		box.ServeHTTP(w, r)
	}), "test", kube.Options{})
	f := &Factory{cluster: &Cluster{Client: c, Now: box.Now}, Env: func(string) string { return "" }, Global: Global{Namespace: "hyperpod-ns-researchers"}}
	names, err := Jobs(t.Context(), f)
	if !slices.ContainsFunc(names, func(n string) bool { return Word(n) == "vit-huge" }) || !kube.IsForbidden(err) {
		t.Errorf("%v, %v", names, err)
	}
}
