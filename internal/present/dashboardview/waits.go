package dashboardview

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/present/estimate"
	"github.com/hyperpod-cli/hyperpod/internal/present/queuetext"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// wait is why a job waits for quota, in the words of get-queue, and when it may start.
type wait struct{ reason, start string }

// waits has the pending jobs, by UID.
func waits(s *Snapshot, list []Task) map[string]wait {
	texts := map[queue.Key]string{}
	for _, it := range pending(s) {
		texts[queue.Key{Namespace: it.Namespace, Workload: it.Workload}] = it.Reason.Words
	}
	all := make([]state.Job, len(list))
	for i, t := range list {
		all[i] = t.Job
	}
	out := map[string]wait{}
	for i, w := range jobs.Match(all, s.State.Workloads) {
		if w == nil || list[i].Status.State != jobs.Pending && list[i].Status.State != jobs.Preempted {
			continue
		}
		k, x := queue.Key{Namespace: w.Namespace, Workload: w.Name}, wait{start: "?"}
		if list[i].Status.State == jobs.Pending {
			x.reason = texts[k]
		}
		if e, ok := s.Starts[k]; ok {
			x.start = start(e, s.Time.Sub(s.StartsAt))
		}
		out[all[i].UID] = x
	}
	return out
}

// start is an estimate that was made some time ago. A tilde marks times.
func start(e queue.ETA, ago time.Duration) string {
	for _, at := range []**int64{&e.EarliestSeconds, &e.LatestSeconds} {
		if *at != nil {
			left := max(0, **at-int64(ago/time.Second))
			*at = &left
		}
	}
	text := estimate.Range(&e)
	if e.Known() {
		return "~" + text
	}
	return text
}

// pending are the workloads that have no quota, in the order of their queues.
func pending(s *Snapshot) []queue.Item {
	r := quota.Build(s.State)
	items := queue.Build(s.State, r, r.Teams, s.Rules, nil)
	queuetext.Fill(items)
	return items
}

// Waiting are the ClusterQueues in which workloads wait.
func Waiting(s *Snapshot) []string {
	var out []string
	for _, it := range pending(s) {
		if n := len(out); it.Position > 0 && (n == 0 || out[n-1] != it.ClusterQueue) {
			out = append(out, it.ClusterQueue)
		}
	}
	return out
}
