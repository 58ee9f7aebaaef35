package jobs

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs/sweep"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Row is one job of list-jobs: exactly the five keys that scripts rely on.
type Row struct {
	Name         string
	Namespace    string
	CreationTime string // RFC 3339, UTC
	State        State
	Priority     *string // null when there is none
}

// VerboseRow is Row with what list-jobs --verbose adds.
type VerboseRow struct {
	Row
	Kind      string
	Queue     *string
	Since     string
	Reason    string
	Message   string
	Pods      int // wanted
	PodsReady int
	Failed    int
	Restarts  int
	UID       string
	// CreatedBy is who created the job, null if that is not known. OwnerSource is where the name
	// is recorded: Label, Annotation, or ManagedFields, which makes it an inference.
	CreatedBy   *string
	OwnerSource *string
	// Devices are the accelerators that all its pods request, by resource.
	Devices map[string]int64
	// Sweep is the sweep that the job belongs to, null for none, and Parameters its values.
	Sweep      *string
	Parameters map[string]string
	// Utilization is the busy share of its accelerators over the last 30 minutes, from 0 to 1, null if that is not known. It
	// is left out where no Prometheus was asked.
	Utilization *float64 `json:",omitempty"`
}

// Changed is a line of list-jobs --watch: ADDED, MODIFIED or DELETED, and the row.
type Changed struct {
	Type string
	Row
}

// VerboseChanged is Changed with the long row, also of get-job --watch.
type VerboseChanged struct {
	Type string
	VerboseRow
}

// List is the document of list-jobs.
type List[R any] struct {
	Jobs []R `json:"jobs"`
	// Missing is what could not be read.
	Missing []state.Unread `json:",omitempty"`
}

// RowOf returns the row of a job.
func RowOf(j state.Job, s Status) Row {
	return Row{Name: j.Name, Namespace: j.Namespace, CreationTime: Time(j.CreationTimestamp), State: s.State, Priority: OrNull(j.Priority())}
}

// VerboseRowOf returns the long row of a job. message is the status in words.
func VerboseRowOf(j state.Job, s Status, message string) VerboseRow {
	name, point := sweep.Of(j.Labels, j.Annotations)
	owner, source := OwnerOf(j)
	return VerboseRow{Row: RowOf(j, s), Kind: j.Kind.Kind, Queue: OrNull(j.Queue()), Since: Time(s.Since), Reason: s.Reason, Message: message,
		Pods: s.Wanted, PodsReady: s.Ready, Failed: s.Failed, Restarts: s.Restarts, UID: j.UID,
		CreatedBy: OrNull(owner), OwnerSource: OrNull(string(source)), Devices: Devices(j), Sweep: OrNull(name), Parameters: point.Map()}
}

// ListJSON returns the document of list-jobs; no jobs are an empty list.
func ListJSON(jobs []state.Job, statuses []Status) List[Row] {
	out := List[Row]{Jobs: make([]Row, len(jobs))}
	for i := range jobs {
		out.Jobs[i] = RowOf(jobs[i], statuses[i])
	}
	return out
}

// Statuses returns the status of every job, by its workload and without pods.
func Statuses(jobs []state.Job, workloads []state.Workload) []Status {
	out := make([]Status, len(jobs))
	for i, w := range Match(jobs, workloads) {
		out[i] = StatusOf(jobs[i], w, nil)
	}
	return out
}

// PodRow is one pod of list-pods.
type PodRow struct {
	PodName      string
	Namespace    string
	Status       string
	CreationTime string // RFC 3339, UTC
}

// PodList is the document of list-pods.
type PodList struct {
	Pods []PodRow `json:"pods"`
}

// PodsJSON returns the document of list-pods; no pods are an empty list.
func PodsJSON(pods []state.Pod) PodList {
	out := PodList{Pods: make([]PodRow, len(pods))}
	for i, p := range pods {
		out.Pods[i] = PodRow{PodName: p.Name, Namespace: p.Namespace, Status: p.Phase, CreationTime: Time(p.CreationTimestamp)}
	}
	return out
}

// Time returns a time as it is written in documents: RFC 3339 in UTC, "" for none.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// OrNull returns a text for a document: nil, JSON's null, if it is empty.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
