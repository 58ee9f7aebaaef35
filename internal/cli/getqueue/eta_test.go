package getqueue

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// TestETAText: now and not known are told apart.
func TestETAText(t *testing.T) {
	const m = time.Minute
	for _, c := range []struct {
		eta  *queue.ETA
		want string
	}{
		{nil, "?"},
		{&queue.ETA{Code: "NoDuration"}, "?"},
		{&queue.ETA{Code: "NeverFits"}, "never"},
		{&queue.ETA{Known: true}, "now"},
		{&queue.ETA{Known: true, Open: true}, "?"},
		{&queue.ETA{Known: true, Open: true, Earliest: 5 * m}, "5m or later"},
		{&queue.ETA{Known: true, Latest: 5 * m}, "up to 5m"},
		{&queue.ETA{Known: true, Earliest: 5 * m, Latest: 5 * m}, "5m"},
		{&queue.ETA{Known: true, Earliest: 2 * m, Latest: 5 * m}, "2m-5m"},
	} {
		if got := etaText(c.eta); got != c.want {
			t.Errorf("%+v: %q, want %q", c.eta, got, c.want)
		}
	}
}
