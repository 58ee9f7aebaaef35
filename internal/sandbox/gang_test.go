package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// gang is a batch Job of many small pods.
func gang(pods int) string {
	return fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"gang","labels":{"kueue.x-k8s.io/queue-name":"hyperpod-ns-team-b-localqueue"}},"spec":{"parallelism":%[1]d,"completions":%[1]d,
		"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}}`, pods)
}

// BenchmarkGang starts a job of 1,000 pods.
func BenchmarkGang(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		box, err := Create(context.Background(), filepath.Join(b.TempDir(), "box.json"), "lend-three", Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		w := httptest.NewRecorder()
		box.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/apis/batch/v1/namespaces/hyperpod-ns-team-b/jobs", strings.NewReader(gang(1000))))
		if w.Code != http.StatusCreated {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// TestGangGrowsInStep: four times the pods take about four times the memory, so
// nothing is gone through again for every pod.
func TestGangGrowsInStep(t *testing.T) {
	allocated := func(pods int) uint64 {
		box, err := Create(context.Background(), filepath.Join(t.TempDir(), "box.json"), "lend-three", Options{})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := httptest.NewRecorder()
		box.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/apis/batch/v1/namespaces/hyperpod-ns-team-b/jobs", strings.NewReader(gang(pods))))
		runtime.ReadMemStats(&after)
		if w.Code != http.StatusCreated {
			t.Fatal(w.Code, w.Body)
		}
		list := httptest.NewRecorder()
		box.ServeHTTP(list, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/hyperpod-ns-team-b/pods?labelSelector=job-name%3Dgang", nil))
		if n := strings.Count(list.Body.String(), `"name":"gang-`); n < pods {
			t.Fatalf("%d of %d pods", n, pods)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(1) // what is made once
	small, large := allocated(250), allocated(1000)
	if large > 5*small {
		t.Errorf("250 pods take %d bytes, 1000 pods %d", small, large)
	}
	t.Logf("250 pods take %d bytes, 1000 pods %d", small, large)
}
