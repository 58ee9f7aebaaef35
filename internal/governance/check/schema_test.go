package check_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// TestSchema: docs/schema/admission-check.json is the schema of Verdict, and real
// verdicts keep it.
func TestSchema(t *testing.T) {
	const path = "../../../docs/schema/admission-check.json"
	want := fixture.Schema(check.Schema, reflect.TypeFor[check.Verdict](), fixture.WordsOf(check.Admitted, check.Waits, check.Never, check.Unknown),
		fixture.WordsOf(check.StatusOK, check.StatusFailed, check.StatusUnknown, check.StatusNotApplicable), fixture.WordsOf(lint.Error, lint.Warning, lint.Note))
	golden.Check(t, path, string(want))
	s := fixture.JohnSmith()
	s.Add(fixture.Class("high", 90), fixture.Work("john", "base", 12, 10, time.Hour, true))
	for _, c := range []*check.Verdict{
		ask(t, checker(t, fixture.LendThree()), check.Request{Object: object(t, fixture.Job("task", 1, 4, "")), Namespace: "b", Remedies: true}),
		ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("task", 2, 4, "")), Namespace: "smith", Remedies: true}),
		ask(t, checker(t, s), check.Request{Object: object(t, fixture.Job("task", 9, 4, "")), Namespace: "nowhere", Remedies: true}),
	} {
		document, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := fixture.Validator(want)(document); err != nil {
			t.Errorf("%s %s: %v", c.Verdict, c.Reason, err)
		}
	}
	if fixture.Validator(want)([]byte(`{"Verdict":"Perhaps"}`)) == nil {
		t.Error("the validator accepts anything")
	}
}
