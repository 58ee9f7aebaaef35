package admission

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
)

// TestQuotaLost: a workload that waits for an admission check loses its quota when its queue is stopped, or the check fails. One that
// was admitted keeps it while its queue is only on hold.
func TestQuotaLost(t *testing.T) {
	reserved := func(state kueue.CheckState) workloadOption {
		return func(w *kueue.Workload) {
			running(w)
			w.Status.Conditions = w.Status.Conditions[:1] // quota only
			w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "nodes", State: state, Message: "no room"}}
		}
	}
	admitted := func(state kueue.CheckState) workloadOption {
		return func(w *kueue.Workload) {
			running(w)
			w.Status.AdmissionChecks = []kueue.AdmissionCheckState{{Name: "nodes", State: state}}
		}
	}
	hold, drain := ptr.To(kueue.Hold), ptr.To(kueue.HoldAndDrain)
	for name, c := range map[string]struct {
		job     workloadOption
		queue   *kueue.StopPolicy
		local   *kueue.StopPolicy
		keeps   bool
		free    bool   // a new job gets the quota
		message string // of the QuotaReserved condition
	}{
		"waits":                   {reserved(kueue.CheckStatePending), nil, nil, true, false, ""},
		"queue on hold":           {reserved(kueue.CheckStatePending), hold, nil, false, false, "ClusterQueue a is"},
		"local queue on hold":     {reserved(kueue.CheckStatePending), nil, hold, false, false, "LocalQueue"},
		"queue drained":           {reserved(kueue.CheckStatePending), drain, nil, false, false, "ClusterQueue a is"},
		"rejected":                {reserved(kueue.CheckStateRejected), nil, nil, false, true, `The workload is deactivated due to AdmissionCheck in Rejected state: "nodes" (no room)`},
		"asks for a retry":        {reserved(kueue.CheckStateRetry), nil, nil, false, false, `Evicted due to AdmissionCheck in Retry state: "nodes" (no room)`},
		"admitted":                {admitted(kueue.CheckStateReady), nil, nil, true, false, ""},
		"admitted, queue on hold": {admitted(kueue.CheckStateReady), hold, nil, true, false, ""},
		"admitted, queue drained": {admitted(kueue.CheckStateReady), drain, nil, false, false, ""},
		"admitted and rejected":   {admitted(kueue.CheckStateRejected), nil, nil, false, true, ""},
	} {
		f := newFixture()
		provisioned(f, "8")
		for _, o := range f.objs {
			switch o := o.(type) {
			case *kueue.ClusterQueue:
				o.Spec.StopPolicy = c.queue
			case *kueue.LocalQueue:
				o.Spec.StopPolicy = c.local
			}
		}
		e := f.add(f.job("a", "held", 8, c.job)).engine(t, Config{})
		w := e.Workload("a", "held")
		got := ""
		for _, x := range w.Status.Conditions {
			if x.Type == kueue.WorkloadQuotaReserved {
				got = x.Message
			}
		}
		if workload.HasQuotaReservation(w) != c.keeps || !strings.Contains(got, c.message) {
			t.Errorf("%s: keeps %v, %q", name, workload.HasQuotaReservation(w), got)
		}
		if c.queue != nil || c.local != nil {
			continue // a new job waits anyway
		}
		if _, err := e.Run(t.Context(), 5); err != nil { // one that is queued again is first
			t.Fatal(err)
		}
		next := f.job("a", "new", 8, func(w *kueue.Workload) { w.CreationTimestamp = metav1.NewTime(noon.Add(time.Hour)) })
		if d := probe(t, e, next); (d.Reason == kueue.WorkloadAdmittedReasonUnsatisfiedAdmissionChecks) != c.free {
			t.Errorf("%s: a new job %s %s", name, d.Outcome, d.Reason)
		}
	}
}
