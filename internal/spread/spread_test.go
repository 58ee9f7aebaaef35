package spread

import (
	"testing"
	"time"
)

// TestOf: percentiles are nearest ranks, and those of nothing are zero.
func TestOf(t *testing.T) {
	var d []time.Duration
	for i := range 10 {
		d = append(d, time.Duration(10-i)*time.Minute)
	}
	if got := Of(d); got != (Spread{10, 330 * time.Second, 5 * time.Minute, 9 * time.Minute, 10 * time.Minute, 10 * time.Minute}) {
		t.Errorf("%+v", got)
	}
	if got := Of(nil); got != (Spread{}) {
		t.Errorf("%+v", got)
	}
}

// TestOfLongDurations: the mean of durations whose sum has no representation.
func TestOfLongDurations(t *testing.T) {
	const most = time.Duration(1<<63 - 1)
	if got := Of([]time.Duration{most, most, most}); got.Average != most {
		t.Error(got.Average)
	}
}

// TestBetween: from an unknown or later beginning, no time has passed.
func TestBetween(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for from, want := range map[time.Time]time.Duration{{}: 0, now: 0, now.Add(time.Hour): 0, now.AddDate(7000, 0, 0): 0, now.Add(-time.Minute): time.Minute} {
		if got := Between(from, now); got != want {
			t.Errorf("%s: %s", from, got)
		}
	}
}
