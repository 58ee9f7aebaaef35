package governancecmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestChangedPlan: a saved plan that lost or got something is refused. Without its mapping, for example, it would take all
// teams out of their cohort.
func TestChangedPlan(t *testing.T) {
	count := 1
	doc := &policy.Document{Version: policy.Version, Teams: []policy.Team{{Team: "a", Quota: []policy.Quota{{InstanceType: "ml.g5.8xlarge", Count: &count}}}}}
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := savedOf(plan.Request{Document: doc, Mapping: policy.DefaultMapping()}, plan.Kueue, "", map[string]string{}).write(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	streams, _ := output.Test()
	read := func(text string) error {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := load(t.Context(), &factory.Factory{IO: streams}, path)
		return err
	}
	if err := read(string(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"Cohort": "shared-pool"`, `"Cohort": ""`},
		{`"Round": "Down"`, `"Round": "Sideways"`},
		{`"Mapping"`, `"Map"`},
		{`"Target": "kueue"`, `"Target": "else"`},
		{`"team": "a"`, `"team": ""`},
		{`"team": "a"`, `"equip": "a"`},
	} {
		text := strings.Replace(string(whole), c[0], c[1], 1)
		if text == string(whole) {
			t.Fatalf("no %s in %s", c[0], whole)
		}
		if err := read(text); err == nil || !strings.Contains(err.Error(), "is not a saved plan") {
			t.Errorf("%s: %v", c[1], err)
		}
	}
	newer := strings.NewReplacer(savedSchema, "hyperpod.governance-saved-plan/v2", `"Mapping"`, `"Map"`).Replace(string(whole))
	if err := read(newer); err == nil || !strings.Contains(err.Error(), "a newer hyperpod wrote it (hyperpod.governance-saved-plan/v2; this version reads hyperpod.governance-saved-plan/v1)") {
		t.Error(err)
	}
}
