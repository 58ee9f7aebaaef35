package explain_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
	"github.com/hyperpod-cli/hyperpod/test/golden"
)

// TestSchema: docs/schema/explain-job.json is the schema of Explanation, and a
// real one keeps it.
func TestSchema(t *testing.T) {
	const path = "../../../docs/schema/explain-job.json"
	want := fixture.Schema(explain.Schema, reflect.TypeFor[explain.Explanation](), fixture.Enums)
	golden.Check(t, path, string(want))
	waiting := fixture.Work("t", "llama", 4, 10, time.Hour, false)
	e := explained(t, cluster(waiting, fixture.Work("t", "sweep", 8, 10, time.Hour, true), fixture.Work("u", "vit", 8, 10, time.Hour, true)),
		question(t, pytorch("llama", queued, 4, true), text(waiting)))
	document, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range fixture.Violations(want, document) {
		t.Error(v)
	}
}
