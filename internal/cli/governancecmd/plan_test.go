package governancecmd

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestShowWraps: on a terminal the sentences below a plan are wrapped at blanks. In a pipe each is one line.
func TestShowWraps(t *testing.T) {
	message := "quota of team language falls to 2 nvidia.com/gpu of ml.g5.8xlarge, below the 7 in use: jobs become borrowers and can be preempted"
	p := &plan.Plan{Findings: []policy.Finding{{Code: "W051", Level: policy.LevelWarning, Message: message}}}
	for _, width := range []int{0, 40, 80} {
		streams, b := output.Test()
		streams.Width = width
		if err := show(&factory.Factory{IO: streams}, output.Format{Name: output.TableFormat}, p); err != nil {
			t.Fatal(err)
		}
		got := b.Out.String()
		for line := range strings.Lines(got) {
			if width > 0 && displaywidth.String(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("wider than %d: %s", width, line)
			}
		}
		if want := "W051 warning: " + message; !strings.Contains(strings.Join(strings.Fields(got), " "), want) || width == 0 && !strings.Contains(got, want+"\n") {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
}
