package sandbox

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const benchJob = `{"metadata":{"name":"bench-%d","labels":{"kueue.x-k8s.io/queue-name":"hyperpod-ns-ml-engineers-localqueue","kueue.x-k8s.io/priority-class":"fine-tuning-priority"}},` +
	`"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"pytorch","image":"i","resources":{"requests":{"nvidia.com/gpu":"8","cpu":"170","memory":"1800Gi","vpc.amazonaws.com/efa":"32"},` +
	`"limits":{"nvidia.com/gpu":"8","cpu":"170","memory":"1800Gi","vpc.amazonaws.com/efa":"32"}}}]}}}}}}`

// BenchmarkStartJob is what one start-job costs: open the file, create the job,
// run the controllers, save. The budget is 60 ms for the enterprise scenario.
func BenchmarkStartJob(b *testing.B) {
	dir := b.TempDir()
	first := filepath.Join(dir, "first.json")
	if _, err := Create(context.Background(), first, "enterprise", Options{}); err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile(first)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "bench.json")
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/apis/kubeflow.org/v1/namespaces/hyperpod-ns-ml-engineers/pytorchjobs", strings.NewReader(fmt.Sprintf(benchJob, i)))
		s.ServeHTTP(w, r)
		if w.Code != 201 {
			b.Fatal(w.Body.String())
		}
	}
}

// BenchmarkOpen is what every command costs at least.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bench.json")
	if _, err := Create(context.Background(), path, "enterprise", Options{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Open(path, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
