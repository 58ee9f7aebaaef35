package explain_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// TestSchema: docs/schema/explain-job.json is the schema of Explanation, and a
// real one keeps it.
func TestSchema(t *testing.T) {
	const path = "../../../docs/schema/explain-job.json"
	want := fixture.Schema(explain.Schema, reflect.TypeFor[explain.Explanation](), fixture.WordsOf(check.Admitted, check.Waits, check.Never, check.Unknown),
		fixture.WordsOf(check.StatusOK, check.StatusFailed, check.StatusUnknown, check.StatusNotApplicable), fixture.WordsOf(lint.Error, lint.Warning, lint.Note))
	golden.Check(t, path, string(want))
	waiting := fixture.Work("t", "llama", 4, 10, time.Hour, false)
	e := explained(t, cluster(waiting, fixture.Work("t", "sweep", 8, 10, time.Hour, true), fixture.Work("u", "vit", 8, 10, time.Hour, true)),
		question(t, pytorch("llama", queued, 4, true), text(waiting)))
	document, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := fixture.Validator(want)(document); err != nil {
		t.Error(err)
	}
}
