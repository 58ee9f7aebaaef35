package getqueue

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// TestETAText: now and not known are told apart.
func TestETAText(t *testing.T) {
	at := func(seconds int64) *int64 { return &seconds }
	for _, c := range []struct {
		eta  *queue.ETA
		want string
	}{
		{nil, "?"},
		{&queue.ETA{Reason: "NoDuration"}, "?"},
		{&queue.ETA{Reason: "NeverFits"}, "never"},
		{&queue.ETA{EarliestSeconds: at(0), LatestSeconds: at(0)}, "now"},
		{&queue.ETA{EarliestSeconds: at(0)}, "?"},
		{&queue.ETA{EarliestSeconds: at(0), Reason: "Overdue"}, "any time"},
		{&queue.ETA{EarliestSeconds: at(300), Reason: "Overdue"}, "5m or later"},
		{&queue.ETA{EarliestSeconds: at(300)}, "5m or later"},
		{&queue.ETA{EarliestSeconds: at(0), LatestSeconds: at(300)}, "up to 5m"},
		{&queue.ETA{EarliestSeconds: at(300), LatestSeconds: at(300)}, "5m"},
		{&queue.ETA{EarliestSeconds: at(120), LatestSeconds: at(300)}, "2m-5m"},
	} {
		if got := etaText(c.eta); got != c.want {
			t.Errorf("%+v: %q, want %q", c.eta, got, c.want)
		}
	}
}
