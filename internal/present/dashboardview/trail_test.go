package dashboardview

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/history"
)

// TestRecorded: the trail begins with what a recorder knows of the last ten minutes, after the last gap.
func TestRecorded(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	p5 := history.NodeKey{InstanceType: "ml.p5.48xlarge", Resource: "nvidia.com/gpu"}
	queue := func(name, flavor string, points ...history.Point[history.QueueFigures]) history.Series[history.QueueKey, history.QueueFigures] {
		return history.Series[history.QueueKey, history.QueueFigures]{Key: history.QueueKey{Queue: name, Flavor: flavor, InstanceType: p5.InstanceType, Resource: p5.Resource}, Points: points}
	}
	type point = history.Point[history.QueueFigures]
	d := &history.Data{Covered: []history.Span{{From: ago(time.Hour), To: ago(8 * time.Minute)}, {From: ago(2 * time.Minute), To: now}},
		Queues: []history.Series[history.QueueKey, history.QueueFigures]{
			queue("a", "f", point{Time: ago(time.Hour), Value: history.QueueFigures{Reserved: 4}}, point{Time: ago(time.Minute), Value: history.QueueFigures{Reserved: 8}}),
			queue("b", "f", point{Time: ago(time.Hour), Value: history.QueueFigures{Reserved: 4}}),
			queue("b", "", point{Time: ago(time.Hour), Value: history.QueueFigures{Waiting: 99}}),
		},
		Nodes: []history.Series[history.NodeKey, history.NodeFigures]{{Key: p5, Points: []history.Point[history.NodeFigures]{{Time: ago(time.Hour), Value: history.NodeFigures{Capacity: 16}}}}}}
	got := Recorded(d, now)
	if text := Spark(got[p5], false); text != "++##" || len(got[p5]) != 4 {
		t.Errorf("%v %q", got, text)
	}
	joined := WithPast(got, map[history.NodeKey][]float64{p5: make([]float64, TrailPoints-1)})
	if n := len(joined[p5]); n != TrailPoints || joined[p5][0] != 0.75 || joined[p5][1] != 0 {
		t.Error(joined)
	}
	if got := Recorded(&history.Data{}, now); len(got) != 0 {
		t.Error(got)
	}
}
