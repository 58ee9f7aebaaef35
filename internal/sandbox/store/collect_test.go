package store

import (
	"fmt"
	"slices"
	"testing"
)

// filled returns a store with a number of jobs. A job owns a workload and two pods.
func filled(tb testing.TB, jobs int) *Store {
	tb.Helper()
	s := New()
	put := func(resource, namespace, name, uid string, owners ...any) {
		m := map[string]any{"metadata": map[string]any{"name": name, "namespace": namespace, "uid": uid, "ownerReferences": owners}}
		if err := s.Seed(resource, m); err != nil {
			tb.Fatal(err)
		}
	}
	for i := range jobs {
		job := fmt.Sprint("job-", i)
		owner := map[string]any{"uid": job}
		put("jobs.batch", "ns", job, job)
		put("workloads.kueue.x-k8s.io", "ns", job, "w-"+job, owner)
		put("pods", "ns", job+"-0", "p0-"+job, owner)
		put("pods", "ns", job+"-1", "p1-"+job, owner)
	}
	return s
}

// What has no other owner goes with an object, and what is in a namespace goes with it.
func TestCollect(t *testing.T) {
	s := filled(t, 3)
	both := map[string]any{"metadata": map[string]any{"name": "both", "namespace": "ns", "uid": "both",
		"ownerReferences": []any{map[string]any{"uid": "p0-job-0"}, map[string]any{"uid": "p0-job-1"}}}}
	if err := s.Seed("workloads.kueue.x-k8s.io", both); err != nil {
		t.Fatal(err)
	}
	left := func() (out []string) {
		for _, r := range s.Resources() {
			for _, o := range s.List(r, "") {
				out = append(out, o.Name)
			}
		}
		return out
	}
	rest := []string{"job-1", "job-2", "job-1-0", "job-1-1", "job-2-0", "job-2-1", "both", "job-1", "job-2"}
	if s.Collect("jobs.batch", s.Get("jobs.batch", "ns", "job-0")); !slices.Equal(left(), rest) {
		t.Errorf("left are %v", left())
	}
	s.Collect("pods", s.Get("pods", "ns", "job-1-0"))
	if s.Get("workloads.kueue.x-k8s.io", "ns", "both") != nil {
		t.Error("a workload outlives its pods")
	}
	if err := s.Seed("namespaces", map[string]any{"metadata": map[string]any{"name": "ns", "uid": "ns"}}); err != nil {
		t.Fatal(err)
	}
	if s.Collect("namespaces", s.Get("namespaces", "", "ns")); len(left()) > 0 {
		t.Errorf("left are %v", left())
	}
}

// BenchmarkCollect deletes the pods of 1,000 jobs one by one.
func BenchmarkCollect(b *testing.B) {
	full := filled(b, 1000)
	for b.Loop() {
		b.StopTimer()
		s := full.Clone()
		b.StartTimer()
		for _, p := range s.List("pods", "") {
			s.Collect("pods", p)
		}
	}
}
