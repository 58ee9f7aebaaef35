package jobs

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// podless reports that a job may run, and that nothing has created a pod of it. The pods of a job that MultiKueue sends to a
// worker cluster are there.
func podless(s Status, j state.Job, w *state.Workload, pods []state.Pod) bool {
	elsewhere := w != nil && w.Cluster != ""
	return s.State == Starting && s.Reason == "" && pods != nil && len(pods) == 0 && WantedPods(j) > 0 && !elsewhere
}

// operatorTime is how long an operator may take to create the first pod or to report on a job.
const operatorTime = time.Minute

// Unattended reports that a job without pods seems to have no operator: for a minute nothing has created a pod, and the job has
// no status. The kinds of Kubernetes itself always have one. A job whose age is unknown is attended.
func Unattended(j state.Job, s Status, now time.Time) bool {
	reported := len(j.Conditions) > 0 || j.Phase != "" || j.DeploymentPhase != "" || j.Start != nil
	return s.Reason == NoPods && j.Kind.Operator != kinds.Kubernetes && !reported && !s.Since.IsZero() && now.Sub(s.Since) >= operatorTime
}
