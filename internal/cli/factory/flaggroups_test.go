package factory

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/output"
)

func TestGroupFlags(t *testing.T) {
	stdio, _ := output.Test()
	stdio.OutTTY, stdio.Width = true, 60
	f := &Factory{IO: stdio}
	root := &cobra.Command{Use: "root"}
	cmd := &cobra.Command{Use: "cmd", Run: func(*cobra.Command, []string) {}}
	sub := &cobra.Command{Use: "sub", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(cmd)
	cmd.AddCommand(sub)
	cmd.Flags().String("one", "", "the first, with {{ braces }} and a text that is too long for sixty columns")
	cmd.Flags().String("two", "", "the second")
	cmd.Flags().String("left", "", "in no group")
	cmd.Flags().String("hidden", "", "never shown")
	cmd.Flags().Lookup("hidden").Hidden = true
	sub.Flags().String("own", "", "of the subcommand")
	root.SetUsageFunc(f.PrintUsage)
	f.GroupFlags(cmd, FlagGroup{"Second", []string{"two", "none"}}, FlagGroup{"First", []string{"one"}}, FlagGroup{"Nothing", []string{"hidden"}})
	for range 2 { // a second time it says the same
		text := cmd.UsageString()
		last := -1
		for _, want := range []string{"Second:\n", "--two", "First:\n", "--one", "{{ braces }}", "Other:\n", "--left"} {
			at := strings.Index(text, want)
			if at <= last {
				t.Errorf("%q is not in its place in\n%s", want, text)
			}
			last = at
		}
		if strings.Contains(text, "never shown") || strings.Contains(text, "Nothing:") || strings.Contains(text, "\nFlags:") {
			t.Errorf("too much in\n%s", text)
		}
		for line := range strings.Lines(text) {
			if len(line) > 61 && !strings.HasPrefix(line, "Use ") {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
	if text := sub.UsageString(); !strings.Contains(text, "Flags:") || !strings.Contains(text, "--own") || strings.Contains(text, "Second:") {
		t.Errorf("the subcommand says\n%s", text)
	}
}
