package check_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// TestSchema: docs/schema/admission-check.json is the schema of Verdict, and real
// verdicts keep it.
func TestSchema(t *testing.T) {
	const path = "../../../docs/schema/admission-check.json"
	want := fixture.Schema(check.Schema, reflect.TypeFor[check.Verdict](), fixture.Enums)
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
		for _, v := range fixture.Violations(want, document) {
			t.Errorf("%s %s: %s", c.Verdict, c.Reason, v)
		}
	}
	if len(fixture.Violations(want, []byte(`{"Verdict":"Perhaps","More":1}`))) < 3 {
		t.Error("the validator accepts anything")
	}
}
