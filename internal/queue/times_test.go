package queue

import (
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	var d []time.Duration
	for i := range 10 {
		d = append(d, time.Duration(10-i)*time.Minute)
	}
	if got := spread(d); got != (Spread{10, 330 * time.Second, 5 * time.Minute, 9 * time.Minute}) {
		t.Errorf("%+v", got)
	}
	if got := spread(nil); got != (Spread{}) {
		t.Errorf("%+v", got)
	}
}
