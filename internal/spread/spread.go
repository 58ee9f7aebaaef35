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
	var average, rest time.Duration // the sum of long durations has no representation
	n := time.Duration(len(d))
	for _, x := range d {
		average, rest = average+x/n, rest+x%n
	}
	rank := func(percent int) time.Duration { return d[(len(d)*percent+99)/100-1] }
	return Spread{Count: len(d), Average: average + rest/n, Median: rank(50), P90: rank(90), P99: rank(99), Most: rank(100)}
}

// Between returns the time from one time to another. It is 0 if the first is unknown, or after the second: the clocks
// of a cluster and its clients differ.
func Between(from, to time.Time) time.Duration {
	if from.IsZero() {
		return 0
	}
	return max(0, to.Sub(from))
}
