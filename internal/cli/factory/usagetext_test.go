package factory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// TestPrintUsage compares the usage of commands of all shapes with cobra's.
func TestPrintUsage(t *testing.T) {
	stdio, _ := output.Test()
	f := &Factory{IO: stdio}
	tree := func() *cobra.Command {
		run := func(*cobra.Command, []string) {}
		root := &cobra.Command{Use: "root", Short: "the root", Example: "  root one"}
		root.PersistentFlags().StringP("global", "g", "x", "a `value` for all")
		root.AddGroup(&cobra.Group{ID: "a", Title: "First:"}, &cobra.Group{ID: "b", Title: "Second:"})
		grouped := &cobra.Command{Use: "grouped NAME", Aliases: []string{"g", "gr"}, GroupID: "a", Short: "in a group", Run: run}
		grouped.Flags().Bool("flag", false, "a flag")
		parent := &cobra.Command{Use: "parent", GroupID: "b", Short: "has commands"}
		parent.AddCommand(
			&cobra.Command{Use: "child", Short: "a child", Run: run},
			&cobra.Command{Use: "hidden", Hidden: true, Run: run},
			&cobra.Command{Use: "old", Deprecated: "use child", Run: run})
		topic := &cobra.Command{Use: "topic", Short: "a topic"}
		root.AddCommand(grouped, parent, topic, &cobra.Command{Use: "loose", Short: "in no group", Run: run})
		return root
	}
	ours, cobras := tree(), tree()
	ours.SetUsageFunc(f.PrintUsage)
	var visit func(a, b *cobra.Command)
	visit = func(a, b *cobra.Command) {
		if diff := cmp.Diff(b.UsageString(), a.UsageString()); diff != "" {
			t.Errorf("%s (-cobra +ours)\n%s", a.CommandPath(), diff)
		}
		for i, sub := range a.Commands() {
			visit(sub, b.Commands()[i])
		}
	}
	visit(ours, cobras)
}
