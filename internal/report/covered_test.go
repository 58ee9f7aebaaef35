package report

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/history"
)

// TestASeriesCountsInTheCoveredTimes: the integral of a series is a count of its minutes in the covered times, also where these
// begin, end and touch in odd places.
func TestASeriesCountsInTheCoveredTimes(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		const minutes = 300
		values, covered := make([]int64, minutes), make([]bool, minutes)
		b := &builder{d: &history.Data{}}
		var s history.Series[string, int64]
		for at := r.IntN(40); at < minutes; at += 1 + r.IntN(20) {
			n := r.Int64N(3)
			s.Points = append(s.Points, history.Point[int64]{Time: start.Add(time.Duration(at) * time.Minute), Value: n})
			for i := at; i < minutes; i++ {
				values[i] = n
			}
		}
		for at := r.IntN(40); at < minutes; {
			end := min(minutes, at+1+r.IntN(60))
			b.d.Covered = append(b.d.Covered, history.Span{From: start.Add(time.Duration(at) * time.Minute), To: start.Add(time.Duration(end) * time.Minute)})
			for i := at; i < end; i++ {
				covered[i] = true
			}
			at = end + r.IntN(30)
		}
		from, to := r.IntN(minutes/2), minutes/2+r.IntN(minutes/2)
		b.o.From, b.o.To = start.Add(time.Duration(from)*time.Minute), start.Add(time.Duration(to)*time.Minute)
		want := int64(0)
		for i := from; i < to; i++ {
			if covered[i] {
				want += values[i]
			}
		}
		if got := sum(b, s, func(n int64) int64 { return n }) * 60; got < float64(want)-1e-6 || got > float64(want)+1e-6 {
			t.Fatalf("seed %d: %f minutes, want %d", seed, got, want)
		}
	}
}

// TestAValueMeetsTheCoveredTimesAroundIt: over a year with a gap each day, a value of ten minutes meets one covered time, not all.
func TestAValueMeetsTheCoveredTimesAroundIt(t *testing.T) {
	var covered, during []history.Span
	end := start.AddDate(1, 0, 0)
	for at := start; at.Before(end); at = at.Add(day) {
		covered = append(covered, history.Span{From: at, To: at.Add(23 * time.Hour)})
	}
	for at := start; at.Before(end); at = at.Add(10 * time.Minute) {
		if during, covered = between(covered, at, at.Add(10*time.Minute)); len(during) > 1 || (len(during) == 1) != (at.Hour() < 23) {
			t.Fatalf("%v is in the covered times %v", at, during)
		}
	}
}
