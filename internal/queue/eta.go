package queue

import "time"

// ETA is an estimate of when a workload starts, the same in every document.
type ETA struct {
	// EarliestSeconds and LatestSeconds count from the document's Time, 0 for now; null
	// where there is no estimate, or no upper end.
	EarliestSeconds, LatestSeconds *int64
	// Reason and Message say why there is no estimate, or no upper end. Reason is an
	// ETACode; Message is Kueue's until package present/estimate words it.
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

// Basis counts the workloads whose ends come from one source, a
// DurationSource.
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

// ETACode says why there is no estimate, or no upper end of its range.
type ETACode string

const (
	// NoDuration: it waits for workloads without a known end.
	NoDuration ETACode = "NoDuration"
	// Overdue: it waits for workloads that have run longer than assumed. They may end
	// at any time.
	Overdue ETACode = "Overdue"
	// NeverFits: it can never start in the current queues.
	NeverFits ETACode = "NeverFits"
	// NotQueued: its queue, an admission gate or the workload itself keeps Kueue from
	// trying it. Time alone changes nothing.
	NotQueued ETACode = "NotQueued"
	// BeyondHorizon: it does not start within the horizon.
	BeyondHorizon ETACode = "BeyondHorizon"
	// NotModelled: it depends on a feature of Kueue that the estimate does not model.
	NotModelled ETACode = "NotModelled"
	// Unsettled: the preemption policies never converge.
	Unsettled ETACode = "Unsettled"
)

// DurationSource is where a duration comes from.
type DurationSource string

const (
	// MaximumExecutionTime is Kueue's limit on the workload.
	MaximumExecutionTime DurationSource = "MaximumExecutionTime"
	// ActiveDeadline is the job's, or its pods', activeDeadlineSeconds.
	ActiveDeadline DurationSource = "ActiveDeadline"
	// PastDeadline: its ActiveDeadline passed minutes ago, and its operator has not ended it. It may end at any time.
	PastDeadline DurationSource = "PastDeadline"
	// Reported is the remaining run time that the job itself reports.
	Reported DurationSource = "Reported"
	// TeamPriorityHistory: quartiles of finished workloads of its queue and priority.
	TeamPriorityHistory DurationSource = "TeamPriorityHistory"
	// TeamHistory: quartiles of finished workloads of its queue.
	TeamHistory DurationSource = "TeamHistory"
	// Assumed is the assumed run time.
	Assumed DurationSource = "Assumed"
	// PastAssumed: it has run for longer than the assumed run time and may end at any time.
	// For the earliest start it ends now, for the latest it never ends.
	PastAssumed DurationSource = "PastAssumed"
)
