package podflags

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
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
	} {
		if got := errs.ExitOf(Running(pick.Pod{Pod: c.pod}, "c", "run")); got != c.code {
			t.Errorf("%s: exit code %d, want %d", name, got, c.code)
		}
	}
}
