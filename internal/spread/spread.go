// Package spread sums up durations: how many, their mean and percentiles.
package spread

import (
	"slices"
	"time"
)

// Spread sums up durations. A percentile is the nearest rank: the smallest duration that so many percent do not
// exceed. Of no durations all fields are zero.
type Spread struct {
	Count                           int
	Average, Median, P90, P99, Most time.Duration
}

// Of returns the spread of durations, and sorts them.
func Of(d []time.Duration) Spread {
	if len(d) == 0 {
		return Spread{}
	}
	slices.Sort(d)
	var sum time.Duration
	for _, x := range d {
		sum += x
	}
	rank := func(percent int) time.Duration { return d[(len(d)*percent+99)/100-1] }
	return Spread{Count: len(d), Average: sum / time.Duration(len(d)), Median: rank(50), P90: rank(90), P99: rank(99), Most: rank(100)}
}
