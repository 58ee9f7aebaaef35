package governancecmd

import (
	"context"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestForcedKeepsFlags: the command that takes over fields has the flags of the one that failed.
func TestForcedKeepsFlags(t *testing.T) {
	for given, want := range map[string]string{
		"-f t.yaml": "apply -f t.yaml --force-fields",
		"-f t.yaml --cohort pool --round Up --prune --backup none --timeout 5m --target kueue --dry-run --yes": "apply -f t.yaml --cohort pool --round Up --prune --backup none --timeout 5m0s --target kueue --dry-run --yes --force-fields",
		"--plan p.json --timeout 0 --yes": "apply --plan p.json --timeout 0s --yes --force-fields",
	} {
		streams, _ := output.Test()
		got := ""
		cmd := newApply(&factory.Factory{IO: streams}, func(_ context.Context, o *ApplyOptions) error {
			got = strings.Join(o.forced(plan.Request{Mapping: o.Mapping.mapping()}).Args, " ")
			return nil
		})
		cmd.SetArgs(strings.Fields(given))
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}
