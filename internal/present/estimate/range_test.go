package estimate

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// TestRange: "now" differs from "unknown".
func TestRange(t *testing.T) {
	for _, c := range []struct {
		eta  *queue.ETA
		want string
	}{
		{nil, "?"},
		{&queue.ETA{Reason: "NoDuration"}, "?"},
		{&queue.ETA{Reason: "NeverFits"}, "never"},
		{&queue.ETA{EarliestSeconds: seconds(0), LatestSeconds: seconds(0)}, "now"},
		{&queue.ETA{EarliestSeconds: seconds(0)}, "?"},
		{&queue.ETA{EarliestSeconds: seconds(0), Reason: "Overdue"}, "any time"},
		{&queue.ETA{EarliestSeconds: seconds(300), Reason: "Overdue"}, "5m or later"},
		{&queue.ETA{EarliestSeconds: seconds(300)}, "5m or later"},
		{&queue.ETA{EarliestSeconds: seconds(0), LatestSeconds: seconds(300)}, "up to 5m"},
		{&queue.ETA{EarliestSeconds: seconds(300), LatestSeconds: seconds(300)}, "5m"},
		{&queue.ETA{EarliestSeconds: seconds(120), LatestSeconds: seconds(300)}, "2m-5m"},
	} {
		if got := Range(c.eta); got != c.want {
			t.Errorf("%+v: %q, want %q", c.eta, got, c.want)
		}
	}
}

func seconds(n int64) *int64 { return &n }
