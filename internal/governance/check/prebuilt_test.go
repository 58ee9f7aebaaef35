package check_test

import (
	"errors"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// Kueue makes no Workload of a job that names one.
func TestPrebuiltWorkload(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"))
	s.Add(fixture.Team("t", "", 4, "", "")...)
	job := object(t, fixture.Job("j", 1, 1, ""))
	kinds.Set(job, "w", "metadata", "labels", kinds.PrebuiltLabel)
	_, err := checker(t, s).Check(t.Context(), check.Request{Object: job, Namespace: "t"})
	var e *check.Error
	if !errors.As(err, &e) || e.Code != check.Prebuilt {
		t.Errorf("%v", err)
	}
}
