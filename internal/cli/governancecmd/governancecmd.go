// Package governancecmd is `hyperpod governance`: teams, quota and policy in one file.
package governancecmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/present/policytext"
)

// NewCmd returns the command with its subcommands.
func NewCmd(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "governance",
		Short: "Manage teams, quota and policy as one file",
		Long: `Keep teams, quota and policy in one YAML file, in the terms of SageMaker
HyperPod task governance: compute allocations and cluster policy.

docs/governance.md describes the file.`,
		Args: factory.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExport(f, nil), newCheck(f, nil), newPlan(f, nil), newApply(f, nil), newAudit(f, nil), newRBAC(f, nil))
	return cmd
}

// takeFile returns a take for factory.RunE that sets path to the only argument, or keeps
// that of --file.
func takeFile(command string, path *string) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 1 && *path == "":
			*path = args[0]
		case len(args) > 0:
			return errs.Usagef("governance %s takes one file", command).Suggest(errs.Run("governance", command, "-f", args[0]))
		case *path == "":
			return errs.Usagef("a governance file is required").Suggest(errs.Run("governance", command, "-f", "FILE"), errs.Run("governance", "export").WithNote("writes the file of a cluster"))
		}
		return nil
	}
}

// parse reads a document that has no faults in its text.
func parse(ctx context.Context, f *factory.Factory, path string) (*policy.Document, policy.Positions, error) {
	data, err := f.ReadNamed(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if decode(data) != nil {
		return nil, nil, errs.Usagef("%s is a saved plan, not a governance file", path).Suggest(errs.Run("governance", "apply", "--plan", path))
	}
	doc, at, faults := policy.Parse(data)
	if len(faults) == 0 {
		return doc, at, nil
	}
	e := errs.Usagef("%s is not a valid governance file", path)
	for i, fault := range faults {
		if i == 10 {
			break
		}
		e.WithFact(position(path, fault.Line, fault.Column), policytext.Fault(fault))
	}
	if faults[0].Kind == policy.Manifest {
		return nil, nil, e.Suggest(errs.Run("simulate", "-f", path).WithNote("accepts Kueue objects"), errs.Run("governance", "export").WithNote("writes the governance file of a cluster"))
	}
	return nil, nil, e.Suggest(errs.Run("governance", "check", "-f", path).WithNote("lists all mistakes"))
}
