package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// refuseSnapshot refuses a command line that wants more of a snapshot than a file can
// give, before anything is read.
func refuseSnapshot(f *factory.Factory, cmd *cobra.Command, args []string) error {
	why, instead := beyondFile(cmd)
	if why == "" {
		return nil
	}
	path, err := f.SnapshotPath()
	if err != nil || path == "" {
		return err
	}
	what := strings.TrimPrefix(cmd.CommandPath(), "hyperpod ")
	switch {
	case watches(cmd):
		what += " --watch"
	case what == "mcp":
		what += " --allow"
	}
	if instead.Kind == errs.RunCommand {
		instead = instead.WithArgs(about(cmd, args)...)
	}
	return errs.Usagef("%s needs a cluster: %s", what, why).WithFact("snapshot", path).
		Suggest(instead, errs.Option("--sandbox").WithNote("in place of the snapshot: a practice cluster on this machine"))
}

// beyondFile says why a command line is not for a file, and what to do with the file
// instead: options to add, or a command, to which job and file are added. "" says
// that the file will do.
func beyondFile(cmd *cobra.Command) (why string, instead errs.Suggestion) {
	path := strings.TrimPrefix(cmd.CommandPath(), "hyperpod ")
	dryRun := slices.Contains([]string{"admission", factory.DryRunClient}, value(cmd, "dry-run"))
	const unchanged = "a snapshot is read-only"
	switch verb, _, _ := strings.Cut(path, " "); {
	case watches(cmd):
		return "a snapshot does not change", errs.Run(path).WithNote("without --watch: the state in the snapshot")
	case path == "record":
		return "a snapshot does not change", errs.Run("report").WithNote("reports about the snapshot")
	case path == "wait-job":
		return "jobs in a snapshot do not progress", errs.Run("explain-job").WithNote("why the job waited")
	case path == "mcp" && value(cmd, "allow") != "[]":
		return unchanged, errs.Run("mcp").WithNote("without --allow: the tools that read")
	case path == "exec", path == "port-forward", path == "copy-file":
		return "a snapshot has no running pods", errs.Run("list-pods").WithNote("the pods in the snapshot")
	case path == "get-log":
		return "a snapshot has no logs", errs.Run("list-pods").WithNote("the pods in the snapshot, and how they ended")
	case path == "create-template" && value(cmd, "team") == "true":
		return unchanged, errs.Option("--project").WithNote("writes it to ./jobs")
	case path == "start-job" && !dryRun:
		return unchanged, errs.Option("--dry-run").WithNote("shows whether the job would run")
	case path == "governance apply":
		plan := errs.Run("governance", "plan")
		if file := value(cmd, "file"); file != "" {
			plan = plan.WithArgs("-f", file)
		}
		return unchanged, plan.WithNote("shows what would change")
	case path == "governance rbac" && value(cmd, "apply") == "true":
		return unchanged, errs.Run("governance", "rbac").WithNote("prints the Roles")
	case path == "governance rbac" && value(cmd, "verify") == "true":
		return "a snapshot has no permissions", errs.Run("governance", "rbac").WithNote("prints the Roles")
	case (verb == "cancel-job" || path == "delete-template" || verb == "patch-job") && !dryRun:
		return unchanged, errs.Option("--dry-run").WithNote("shows what would change")
	}
	return "", errs.Suggestion{}
}

// about returns the job or team that a command line names, or that it is of all
// namespaces.
func about(cmd *cobra.Command, args []string) (out []string) {
	name := value(cmd, "name")
	if name == "" && len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
		name = args[0]
	}
	if name != "" {
		out = append(out, name)
	}
	if value(cmd, "all-namespaces") == "true" {
		out = append(out, "-A")
	}
	return out
}

// watches reports --watch.
func watches(cmd *cobra.Command) bool { return value(cmd, "watch") == "true" }

// value returns the value of a flag, "" where the command has no such flag.
func value(cmd *cobra.Command, flag string) string {
	if f := cmd.Flags().Lookup(flag); f != nil {
		return f.Value.String()
	}
	return ""
}
