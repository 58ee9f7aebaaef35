package deviceuse

import (
	"reflect"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/prometheus"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func series(value float64, labels ...string) prometheus.Series {
	s := prometheus.Series{Labels: map[string]string{}, Points: []prometheus.Point{{Time: time.Unix(1, 0), Value: value}}}
	for i := 0; i < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
	}
	return s
}

func TestDevicesOfPods(t *testing.T) {
	sums := []prometheus.Series{
		series(1.5, "pod", "a-0", "namespace", "x"),
		series(0.2, "pod", "dcgm-exporter-1", "namespace", "gpu", "exported_pod", "b-0", "exported_namespace", "x"),
		series(0.7, "pod", "dcgm-exporter-1", "namespace", "gpu", "exported_pod", "a-0", "exported_namespace", "x"), // scraped by two jobs
		series(0.9), // a device that nobody has
		series(0.9, "pod", "no-namespace"),
	}
	counts := []prometheus.Series{
		series(2, "pod", "a-0", "namespace", "x"), series(4, "exported_pod", "b-0", "exported_namespace", "x"),
		series(1, "exported_pod", "a-0", "exported_namespace", "x"), series(8),
	}
	counts[0].Points[0].Time = time.Unix(2, 0) // the queries are not of the same second
	got := Now(sums, counts)
	want := map[Key]Use{{"x", "a-0"}: {3, 2.2}, {"x", "b-0"}: {4, 0.2}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if s := got[Key{"x", "b-0"}].Share(); s != 0.05 {
		t.Error(s)
	}
	if len(Now(nil, nil)) != 0 || (Use{}).Share() != 0 || (Use{1, 7}).Share() != 1 {
		t.Error("no devices, or more than busy")
	}
}

func TestJobsOfPods(t *testing.T) {
	pods := []state.Pod{
		{Meta: state.Meta{Namespace: "x", Name: "a-worker-0", Labels: map[string]string{"training.kubeflow.org/job-name": "a"}}},
		{Meta: state.Meta{Namespace: "x", Name: "ray-k8x2p-head", Labels: map[string]string{"ray.io/cluster": "ray-k8x2p"}}},
		{Meta: state.Meta{Namespace: "y", Name: "ray-k8x2p-head", Labels: map[string]string{"ray.io/cluster": "ray-k8x2p"}}},
		{Meta: state.Meta{Namespace: "x", Name: "other"}},
	}
	jobs := []Key{{"x", "a"}, {"x", "ray"}}
	got := JobsOf(pods, jobs)
	want := map[Key]Key{{"x", "a-worker-0"}: {"x", "a"}, {"x", "ray-k8x2p-head"}: {"x", "ray"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	uses := ByJob(map[Key]Use{{"x", "a-worker-0"}: {2, 1}, {"x", "ray-k8x2p-head"}: {0, 0}, {"z", "q"}: {1, 1}}, got)
	if !reflect.DeepEqual(uses, map[Key]Use{{"x", "a"}: {2, 1}}) {
		t.Error(uses)
	}
}

func TestIdle(t *testing.T) {
	for _, tt := range []struct {
		u    Use
		ran  time.Duration
		want bool
	}{{Use{8, 0}, Window, true}, {Use{8, 0}, Window - 1, false}, {Use{8, 0.39}, time.Hour, true}, {Use{8, 0.4}, time.Hour, false}, {Use{}, time.Hour, false}} {
		if got := Idle(tt.u, tt.ran); got != tt.want {
			t.Errorf("%+v", tt)
		}
	}
}
