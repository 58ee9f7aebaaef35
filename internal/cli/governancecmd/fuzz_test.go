package governancecmd

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// FuzzSavedPlan: what is accepted as a saved plan is complete, and stays the same when it is written and read again.
func FuzzSavedPlan(f *testing.F) {
	text, err := os.ReadFile("../../../examples/teams.yaml")
	if err != nil {
		f.Fatal(err)
	}
	doc, _, faults := policy.Parse(text)
	if len(faults) > 0 {
		f.Fatal(faults)
	}
	for _, target := range []string{"", plan.SageMaker, "elsewhere"} {
		data, err := json.Marshal(savedOf(plan.Request{Document: doc, Mapping: policy.Mapping{Cohort: "all", Round: policy.Down}}, target, "", map[string]string{"Cohort /a": "1"}))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"Schema":"` + savedSchema + `","Document":{"teams":[null]},"Mapping":{"Cohort":"a","Round":"down"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := decode(data)
		if p == nil {
			return
		}
		first, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again := decode(first)
		if again == nil {
			t.Fatalf("%s is refused after it was read as %s", data, first)
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s became %s, %v", first, second, err)
		}
	})
}
