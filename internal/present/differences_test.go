package present_test

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
)

// TestDifferences: every difference between versions of Kueue has words.
func TestDifferences(t *testing.T) {
	for _, d := range versions.All() {
		if text := notetext.Difference(string(d.Code)); text == string(d.Code) {
			t.Errorf("%s has no words", d.Code)
		}
	}
	for _, c := range []struct {
		codes []string
		want  string
	}{
		{nil, "rules of v0.19.2"},
		{[]string{}, "; no known difference concerns this job"},
		{[]string{"FlavorScan"}, "; decisions may differ on the order in which flavors are tried (kueue#13956)"},
		{[]string{"StickyHead", "RejectedChecks", "PodsQuota", "UseOrder", "HugeLimits", "FlavorScan"}, " and 2 more"},
	} {
		text := notetext.Note(inputs.Note{Code: inputs.VersionDiffers, Version: "v0.18.1", Differences: c.codes})
		if !strings.HasSuffix(text, c.want) {
			t.Errorf("%s", text)
		}
	}
}
