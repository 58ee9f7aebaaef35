package factory

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		args               []string
		kind, dryRun, says string
	}{
		{args: nil, dryRun: "none"},
		{args: []string{"--dry-run"}, dryRun: "client"},
		{args: []string{"--dry-run=SERVER"}, dryRun: "server"},
		{args: []string{"--kind", "pytorchjobs"}, kind: "PyTorchJob", dryRun: "none"},
		{args: []string{"--kind=jobs.batch"}, kind: "Job", dryRun: "none"},
		{args: []string{"--kind", "mpijob.kubeflow.org"}, kind: "MPIJob", dryRun: "none"},
		{args: []string{"--kind", "DaemonSet"}, dryRun: "none", says: `invalid --kind "DaemonSet"`},
		{args: []string{"--kind", ""}, dryRun: "none", says: `invalid --kind ""`},
		{args: []string{"--dry-run=admission"}, dryRun: "none", says: `invalid --dry-run "admission"`},
	} {
		var kind, dryRun string
		cmd := &cobra.Command{RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
		AddKindFlag(cmd, &kind)
		AddDryRunFlag(cmd, &dryRun, "what would be done")
		cmd.SetArgs(tt.args)
		err := cmd.Execute()
		var e *errs.Error
		if errors.As(err, &e); tt.says == "" && err != nil || tt.says != "" && (e == nil || !strings.HasPrefix(e.Error(), tt.says) || e.Code != errs.Usage) {
			t.Errorf("%q: got %v", tt.args, err)
		}
		if kind != tt.kind || dryRun != tt.dryRun {
			t.Errorf("%q: kind %q, dry run %q", tt.args, kind, dryRun)
		}
	}
	if DryRunSuffix("none") != "" || DryRunSuffix("server") != " (server dry run)" {
		t.Error("suffixes are wrong")
	}
}

// What a selector's library says of it is not shown.
func TestCheckSelector(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "a=b,c!=d": true, "a in (b,c),!d": true, "a==!b": false, "a in (b": false, "=": false, "a b": false} {
		err := checkSelector(text)
		if (err == nil) != ok || err != nil && (errs.ExitOf(err) != errs.Usage || err.Error() != fmt.Sprintf("invalid --selector %q: must be a label selector", text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, example := range map[string]string{"!!": "-l 'key=value,other!=value'", "example.com/team in (a": "-l 'example.com/team in (a,b),", "'; rm": "-l 'rm=value,"} {
		if got := errs.Text(checkSelector(text), false); !strings.Contains(got, example) {
			t.Errorf("%q is not in\n%s", example, got)
		}
	}
}
