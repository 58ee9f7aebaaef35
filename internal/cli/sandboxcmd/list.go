package sandboxcmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/offline"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// Row is a sandbox.
type Row struct {
	Name, Scenario string
	Time           string
	File           string
}

// Document is what -o json prints.
type Document struct {
	Sandboxes []Row `json:"sandboxes"`
}

func newList(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sandboxes on this machine",
		Args:  factory.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return runList(f) },
	}
}

func runList(f *factory.Factory) error {
	dir, err := f.SandboxDir()
	if err != nil {
		return err
	}
	boxes, err := sandbox.List(dir, offline.Options(f))
	if err != nil {
		return err
	}
	format, err := f.Format()
	if err != nil {
		return err
	}
	doc := Document{make([]Row, 0, len(boxes))}
	table := output.Table{Columns: []output.Column{{Title: "NAME", Keep: true}, {Title: "SCENARIO"}, {Title: "TIME"}, {Title: "FILE", Wide: true}},
		Empty: "no sandboxes on this machine (create one: hyperpod sandbox create NAME)"}
	var names []string
	for _, b := range boxes {
		at := b.Now.UTC().Format(time.RFC3339)
		if b.Err != nil {
			f.Notef("warning: %v", b.Err)
		}
		doc.Sandboxes = append(doc.Sandboxes, Row{b.Name, b.Scenario, at, b.Path})
		table.Rows = append(table.Rows, output.T(b.Name, b.Scenario, at, b.Path))
		names = append(names, "sandbox/"+b.Name)
	}
	return output.Print(f.IO, format, doc, func() output.Table { return table }, func() []string { return names })
}
