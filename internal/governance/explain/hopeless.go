package explain

import (
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
)

// Hopeless says in words why the job cannot start whatever else ends, so that
// waiting alone is in vain: the verdict is Never, or an administrator has to open
// its queue. It is "" for every other job.
func (e *Explanation) Hopeless() string {
	v := e.Verdict
	switch {
	case v == nil || !waits(jobs.State(e.State)):
		return ""
	case v.Verdict == check.Never:
		_, why, cut := strings.Cut(e.Summary, ": ")
		if !cut || !strings.HasPrefix(e.Summary, "cannot run") {
			why = e.Summary
		}
		return "will never start as it is: " + why
	case v.Verdict == check.Waits && v.Quota.Reason == kueue.WorkloadQuotaReservedReasonSuspended:
		return "cannot start: " + strings.TrimPrefix(e.Summary, "would not start now: ")
	}
	return ""
}

// FirstCommands are the commands of the first remedy that has some.
func (e *Explanation) FirstCommands() []string {
	if e.Verdict == nil {
		return nil
	}
	for _, r := range e.Verdict.Remedies {
		if len(r.Commands) > 0 {
			return r.Commands
		}
	}
	return nil
}
