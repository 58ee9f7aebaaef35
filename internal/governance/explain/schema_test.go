package explain_test

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/explain"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fixture"
)

// TestSchema: docs/schema/explain-job.json is the schema of Explanation, and a
// real one keeps it.
func TestSchema(t *testing.T) {
	const path = "../../../docs/schema/explain-job.json"
	want := fixture.Schema(explain.Schema, reflect.TypeFor[explain.Explanation](), fixture.Enums)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != string(want) {
		t.Errorf("%s is not the schema (go test ./internal/governance/explain -update): %v", path, err)
	}
	waiting := fixture.Work("t", "llama", 4, 10, time.Hour, false)
	e := explained(t, cluster(waiting, fixture.Work("t", "sweep", 8, 10, time.Hour, true), fixture.Work("u", "vit", 8, 10, time.Hour, true)),
		question(t, pytorch("llama", queued, 4, true), text(waiting)))
	document, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range fixture.Violations(have, document) {
		t.Error(v)
	}
}
