package startjob

import (
	"context"
	"net/http"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// A rehearsal that ends without an answer about the manifest refuses nothing, and is reported.
func TestRefusal(t *testing.T) {
	answer := func(code int, message string) error {
		return errs.New("cannot create jobs", "why").WithFact("message", message).WithCause(&kube.StatusError{Code: code, Message: message})
	}
	denied := []check.Step{{Check: "Rights", Status: check.StatusFailed}}
	const hangs = `failed calling webhook "a.example.com": context deadline exceeded`
	const effects = `admission webhook "a.example.com" does not support dry run`
	const silent = "the API server does not say whether it accepts the job: "
	for name, c := range map[string]struct {
		err    error
		rights []check.Step
		want   check.Step
	}{
		"accepted":                        {},
		"invalid":                         {err: answer(http.StatusUnprocessableEntity, "no"), want: check.Step{Check: "Server", Status: check.StatusFailed, Message: "cannot create jobs: why: no"}},
		"forbidden":                       {err: answer(http.StatusForbidden, "no"), want: check.Step{Check: "Server", Status: check.StatusFailed, Message: "cannot create jobs: why: no"}},
		"forbidden, as the rights say":    {err: answer(http.StatusForbidden, "no"), rights: denied},
		"the namespace is missing":        {err: answer(http.StatusNotFound, "no")},
		"a webhook that hangs":            {err: answer(http.StatusInternalServerError, hangs), want: check.Step{Check: "Server", Status: check.StatusUnknown, Message: silent + hangs, Advice: "a start fails as long as this lasts"}},
		"a webhook that has side effects": {err: answer(http.StatusBadRequest, effects), want: check.Step{Check: "Server", Status: check.StatusUnknown, Message: silent + effects}},
		"no connection":                   {err: errs.New("cannot create jobs", "the connection was lost"), want: check.Step{Check: "Server", Status: check.StatusUnknown, Message: silent + "the connection was lost", Advice: "a start fails as long as this lasts"}},
		"an interrupt":                    {err: errs.New("cannot create jobs", "interrupted").WithCause(context.Canceled)},
	} {
		got := refusal(c.err, c.rights)
		if c.want.Check == "" {
			if got != nil {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Status != c.want.Status || got[0].Message != c.want.Message || got[0].Advice != c.want.Advice || got[0].Check != c.want.Check {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
