package dashboardview

import (
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/queue"
)

// TestStart: estimates count down and are marked; what is not known is not.
func TestStart(t *testing.T) {
	n := func(s int64) *int64 { return &s }
	for _, c := range []struct {
		e    queue.ETA
		ago  time.Duration
		want string
	}{
		{queue.ETA{EarliestSeconds: n(300), LatestSeconds: n(300)}, 0, "~5m"},
		{queue.ETA{EarliestSeconds: n(300), LatestSeconds: n(300)}, 2 * time.Minute, "~3m"},
		{queue.ETA{EarliestSeconds: n(60), LatestSeconds: n(300)}, 2 * time.Minute, "~up to 3m"},
		{queue.ETA{EarliestSeconds: n(60), LatestSeconds: n(60)}, time.Hour, "~now"},
		{queue.ETA{EarliestSeconds: n(3600)}, 0, "~1h or later"},
		{queue.ETA{Reason: "NeverFits"}, 0, "never"},
		{queue.ETA{Reason: "NoDuration"}, 0, "?"},
	} {
		if got := start(c.e, c.ago); got != c.want {
			t.Errorf("%+v: %q, want %q", c.e, got, c.want)
		}
	}
	for _, pair := range [][2]string{{"~now", "~3m"}, {"~up to 3m", "~5m-2h"}, {"~5m", "~1h or later"}, {"~1h or later", "never"}} {
		if compare(pair[0], pair[1]) >= 0 {
			t.Errorf("%q is not before %q", pair[0], pair[1])
		}
	}
}
