package words

import (
	"math"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	for want, got := range map[string]string{
		"1 pod":                      Count(1, "pod", "pods"),
		"0 pods":                     Count(0, "pod", "pods"),
		"are":                        Verb(2, "is", "are"),
		"1st":                        Ordinal(1),
		"2nd":                        Ordinal(2),
		"3rd":                        Ordinal(3),
		"11th":                       Ordinal(11),
		"112th":                      Ordinal(112),
		"121st":                      Ordinal(121),
		"a b":                        OneLine(" a\n\t b "),
		"one two ...":                Clip("one two three", 9),
		"--x='a b'":                  ShellWord("--x=a b"),
		`'it'\''s'`:                  ShellWord("it's"),
		"''":                         ShellWord(""),
		"a 'b c'":                    ShellWords([]string{"a", "b c"}),
		"8 nvidia.com/gpu":           Amount("nvidia.com/gpu", 8.0),
		"1.5 cpu":                    Amount("cpu", 1.5),
		"192Gi":                      Number("memory", float64(192<<30)),
		"2048Gi":                     Number("memory", float64(2048<<30)),
		"19.5Ti":                     Number("memory", float64(20000<<30)),
		"unlimited":                  Number("memory", math.Inf(1)),
		"1h32m":                      Age(92 * time.Minute),
		"fair sharing in the cohort": PreemptionReason("InCohortFairSharing"),
		"Other":                      PreemptionReason("Other"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAge(t *testing.T) {
	h := time.Hour
	for d, want := range map[time.Duration]string{
		-5 * time.Minute: "0s", 0: "0s", 999 * time.Millisecond: "0s", 45 * time.Second: "45s", time.Minute: "1m", 5*time.Minute + 30*time.Second: "5m30s",
		5*time.Minute + 999*time.Millisecond: "5m", 20*time.Minute + 59*time.Second: "20m", 60*time.Minute - 1: "59m", h: "1h", 92 * time.Minute: "1h32m",
		3*h + 12*time.Minute: "3h12m", 10 * h: "10h", 24*h - 1: "23h", 24 * h: "1d", 52 * h: "2d4h", 240 * h: "10d", 45 * 24 * h: "45d",
		364 * 24 * h: "364d", 365 * 24 * h: "1y", 385 * 24 * h: "1y20d",
	} {
		if got := Age(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if got := Since(now, time.Time{}); got != "-" {
		t.Errorf("zero time: %s", got)
	}
	if got := Since(now, now.Add(-time.Minute)); got != "1m" {
		t.Errorf("a minute: %s", got)
	}
}

// TestParseDuration: days may be given; what Age writes in days can be read.
func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"7d": 7 * 24 * time.Hour, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute, "0s": 0, "0d": 0} {
		if got, ok := ParseDuration(text); !ok || got != want {
			t.Errorf("%s: %s, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "d", "7", "-1d", "-1h", "1d-2h", "7dd", "40000d", "1h7d", "1.5d", "36500d2562047h"} {
		if got, ok := ParseDuration(text); ok {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func TestAfterCycles(t *testing.T) {
	for n, want := range []string{" at once: no waiting job can start", " after 1 cycle", " after 2 cycles"} {
		if got := AfterCycles(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestExact(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Hour: "1h", 90 * time.Minute: "1h30m", time.Minute: "1m", time.Hour + 10*time.Second: "1h0m10s", 0: "0s", 9600 * time.Hour: "9600h"} {
		if got := Exact(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
