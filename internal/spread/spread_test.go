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
