package admissioncheck

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// TestOwners: every holder of a verdict has its owner, also the jobs of remedies. Few
// jobs are read one by one, many by one list, or one for each namespace.
func TestOwners(t *testing.T) {
	for _, c := range []struct {
		jobs, requests int
		member         bool
	}{{3, 3, false}, {10, 10, false}, {30, 1, false}, {30, 3, true}} {
		s := fixture.New()
		v := &check.Verdict{Remedies: []remedy.Remedy{{}}}
		for i := range c.jobs {
			namespace, name := []string{"a", "b"}[i%2], fmt.Sprint("job-", i)
			s.Add(json.RawMessage(fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":%q,"namespace":%q,"labels":{"sagemaker.user/created-by":"dora"}},"spec":{}}`, name, namespace)))
			h := remedy.Holder{Kind: "PyTorchJob", Namespace: namespace, Name: name}
			if i == 0 {
				v.Remedies[0].Jobs = []remedy.Holder{h}
			} else {
				v.Holders = append(v.Holders, h)
			}
		}
		s.Forbid = func(_, _, namespace, _ string) bool { return c.member && namespace == "" }
		requests := 0
		var mu sync.Mutex
		client := kube.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			requests++
			mu.Unlock()
			s.ServeHTTP(w, r)
		}), "test", kube.Options{})
		Owners(context.Background(), &factory.Cluster{Client: client}, v, &Creators{})
		var missing []string
		for _, h := range append(v.Holders, v.Remedies[0].Jobs...) {
			if h.Owner != "dora" {
				missing = append(missing, h.Name)
			}
		}
		if len(missing) > 0 || requests != c.requests {
			t.Errorf("%d jobs: %d requests, want %d; no owner for %s", c.jobs, requests, c.requests, strings.Join(missing, ", "))
		}
	}
}
