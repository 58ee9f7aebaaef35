package queue

import "time"

// ETA is an estimate of when a workload starts, the same in every document.
type ETA struct {
	// EarliestSeconds and LatestSeconds count from the document's Time, 0 for now; null
	// where there is no estimate, or no upper end.
	EarliestSeconds, LatestSeconds *int64
	// Reason and Message say why there is no estimate, or no upper end. Reason is a Code
	// of package forecast; Message is Kueue's until package present/estimate words it.
	Reason  string `json:",omitempty"`
	Message string `json:",omitempty"`
	// Basis counts the sources of the durations, the most frequent first.
	Basis []Basis `json:",omitempty"`

	// Checks, Jobs, JobsTotal and Horizon are what Message is made of: see forecast.ETA.
	Checks    bool          `json:"-"`
	Jobs      []string      `json:"-"`
	JobsTotal int           `json:"-"`
	Horizon   time.Duration `json:"-"`
}

// Basis counts the workloads whose ends come from one source, a Source of package
// forecast.
type Basis struct {
	Source string
	Count  int
}

// Known reports whether there is an estimate.
func (e *ETA) Known() bool { return e.EarliestSeconds != nil }

// Earliest is EarliestSeconds as a duration, 0 without an estimate.
func (e *ETA) Earliest() time.Duration { return duration(e.EarliestSeconds) }

// Latest is LatestSeconds as a duration; false without an upper end.
func (e *ETA) Latest() (time.Duration, bool) {
	return duration(e.LatestSeconds), e.LatestSeconds != nil
}

func duration(seconds *int64) time.Duration {
	if seconds == nil {
		return 0
	}
	return time.Duration(*seconds) * time.Second
}

// Seconds returns a duration in whole seconds, the unit of documents.
func Seconds(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }
