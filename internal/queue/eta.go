package queue

import "time"

// ETA is when a task may start: an estimate, the same in every document.
type ETA struct {
	// EarliestSeconds and LatestSeconds are from the document's Time on, 0 for now;
	// null where nothing, or no upper end, is known.
	EarliestSeconds, LatestSeconds *int64
	// Reason and Message say why nothing, or no upper end, is known; Reason is a Code
	// of package forecast.
	Reason  string `json:",omitempty"`
	Message string `json:",omitempty"`
	// Basis is where the durations are from, the most frequent first.
	Basis []Basis `json:",omitempty"`
}

// Basis counts the workloads whose ends were taken from one source, a Source of
// package forecast.
type Basis struct {
	Source string
	Count  int
}

// Known reports that something is known of the start.
func (e *ETA) Known() bool { return e.EarliestSeconds != nil }

// Earliest is EarliestSeconds as a duration, 0 where nothing is known.
func (e *ETA) Earliest() time.Duration { return duration(e.EarliestSeconds) }

// Latest is LatestSeconds as a duration; false where no upper end is known.
func (e *ETA) Latest() (time.Duration, bool) {
	return duration(e.LatestSeconds), e.LatestSeconds != nil
}

func duration(seconds *int64) time.Duration {
	if seconds == nil {
		return 0
	}
	return time.Duration(*seconds) * time.Second
}

// Seconds is a duration as documents have it: whole seconds.
func Seconds(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }
