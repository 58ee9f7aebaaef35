package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

func checker(t testing.TB, s *fixture.Server) *check.Checker {
	t.Helper()
	in, err := inputs.Load(context.Background(), s.Client(), inputs.Options{}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	c, err := check.New(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// job is a PyTorchJob of pods workers with gpus each.
func job(name string, pods, gpus int, labels ...string) map[string]any {
	text := fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":%q,"labels":{"kueue.x-k8s.io/queue-name":"queue"}},
"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":%d,"template":{"spec":{"containers":[{"name":"pytorch","image":"i",
"resources":{"requests":{"nvidia.com/gpu":"%d"},"limits":{"nvidia.com/gpu":"%[3]d"}}}]}}}}}}`, name, pods, gpus)
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		panic(err)
	}
	l := out["metadata"].(map[string]any)["labels"].(map[string]any)
	for i := 0; i+1 < len(labels); i += 2 {
		l[labels[i]] = labels[i+1]
		if labels[i+1] == "" {
			delete(l, labels[i])
		}
	}
	return out
}

// BenchmarkCheck measures what is stated in the budgets: one verdict under 5 ms,
// one with holders and remedies (explain-job) under 1 s, on 1,000 admitted and
// 5,000 waiting workloads in 100 queues.
func BenchmarkCheck(b *testing.B) {
	for _, name := range []string{"BestEffortFIFO", "StrictFIFO", "FairSharing"} {
		strategy := ""
		if name == "StrictFIFO" {
			strategy = `"queueingStrategy":"StrictFIFO"`
		}
		s := fixture.Big(strategy)
		if name == "FairSharing" {
			s.Add(fixture.Rules(fixture.FairSharing))
		}
		c := checker(b, s)
		b.Run(name+"/verdict", func(b *testing.B) {
			for b.Loop() {
				ask(b, c, check.Request{Object: job("new", 4, 8), Namespace: "team-42"})
			}
		})
		b.Run(name+"/remedies", func(b *testing.B) {
			for b.Loop() {
				v := ask(b, c, check.Request{Object: job("new", 20, 8), Namespace: "team-42", Remedies: true})
				if len(v.Holders) == 0 && v.Verdict != check.Never {
					b.Fatalf("%+v", v)
				}
			}
		})
	}
}

func ask(t testing.TB, c *check.Checker, r check.Request) *check.Verdict {
	t.Helper()
	v, err := c.Check(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	verdict.Fill(v, errs.Suggestion.String)
	return v
}

// BenchmarkDryRun is everything between the bytes and the answer: read, load,
// decide, and look for remedies.
func BenchmarkDryRun(b *testing.B) {
	s := fixture.Big("")
	s.Add(fixture.Rules(fixture.FairSharing))
	for b.Loop() {
		ask(b, checker(b, s), check.Request{Object: job("new", 20, 8), Namespace: "team-42", Remedies: true})
	}
}
