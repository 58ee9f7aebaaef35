package podflags

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func TestRunning(t *testing.T) {
	for name, c := range map[string]struct {
		pod  state.Pod
		code errs.Exit
	}{
		"runs":         {state.Pod{Phase: "Running", Containers: []state.Container{{Name: "c"}}}, errs.OK},
		"not started":  {state.Pod{Phase: "Pending"}, errs.Pending},
		"pulls":        {state.Pod{Phase: "Pending", Containers: []state.Container{{Name: "c", Waiting: "ImagePullBackOff"}}}, errs.Pending},
		"between runs": {state.Pod{Phase: "Running", Containers: []state.Container{{Name: "c", Waiting: "CrashLoopBackOff", LastTerminated: "Error"}}}, errs.Failure},
		"over":         {state.Pod{Phase: "Failed"}, errs.Failure},
		"node lost":    {state.Pod{Phase: "Unknown"}, errs.Failure},
	} {
		err := Running(pick.Pod{Pod: c.pod}, "c", "run")
		if got := errs.ExitOf(err); got != c.code {
			t.Errorf("%s: exit code %d, want %d", name, got, c.code)
		}
		if err != nil && strings.Contains(err.Error(), "has ended") != jobs.Ended(c.pod) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
