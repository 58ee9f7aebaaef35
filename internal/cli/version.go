package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// VersionDocument is what version -o json prints.
type VersionDocument struct {
	Version, GoVersion, Platform, KueueRules string
}

func newVersion(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of hyperpod and of its Kueue rules",
		Args:  factory.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			d := VersionDocument{f.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, versions.BuiltIn}
			if f.Global.Output == "" {
				_, err := fmt.Fprintf(f.IO.Out, "hyperpod %s (%s, %s, Kueue %s rules)\n", d.Version, d.GoVersion, d.Platform, d.KueueRules)
				return err
			}
			format, err := f.Format()
			if err != nil {
				return err
			}
			return output.Print(f.IO, format, d, nil, nil)
		},
	}
}
