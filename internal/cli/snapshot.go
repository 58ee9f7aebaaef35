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
	if watches(cmd) {
		what += " --watch"
	}
	if line, words, _ := strings.Cut(instead, "   # "); strings.HasPrefix(instead, "hyperpod ") {
		instead = sameScope(line+about(cmd, args)+"   # "+words, f.Global.Namespace, " --snapshot="+factory.ShellWord(path))
	}
	return errs.Usagef("%s needs a cluster: a snapshot is a file, and %s", what, why).WithFact("snapshot", path).
		WithTry(instead, "--sandbox   # in place of the snapshot: a practice cluster on this machine")
}

// beyondFile says why a command line is not for a file, and what to do with the file
// instead: options to add, or a command, to which job and file are added. "" says
// that the file will do.
func beyondFile(cmd *cobra.Command) (why, instead string) {
	path := strings.TrimPrefix(cmd.CommandPath(), "hyperpod ")
	dryRun := slices.Contains([]string{"admission", factory.DryRunClient}, value(cmd, "dry-run"))
	const unchanged = "nothing can be changed in it"
	switch verb, _, _ := strings.Cut(path, " "); {
	case watches(cmd):
		return "it does not change", "hyperpod " + path + "   # without --watch: the state that it holds"
	case path == "wait-job":
		return "a job in it does not go on", "hyperpod explain-job   # why the job waited"
	case path == "exec":
		return "nothing runs in it", "hyperpod list-pods   # the pods that it holds"
	case path == "get-log":
		return "it holds no logs", "hyperpod list-pods   # the pods that it holds, and how they ended"
	case path == "create-template" && value(cmd, "team") == "true":
		return unchanged, "--project   # writes it to ./jobs"
	case path == "start-job" && !dryRun:
		return unchanged, "--dry-run   # says whether the job would run"
	case (verb == "cancel-job" || verb == "patch-job") && !dryRun:
		return unchanged, "--dry-run   # says what would be changed"
	}
	return "", ""
}

// about is the job or team that a command line names, or that it is of all
// namespaces, with a blank before it.
func about(cmd *cobra.Command, args []string) (out string) {
	name := value(cmd, "job-name")
	if name == "" && len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
		name = args[0]
	}
	if name != "" {
		out += " " + factory.ShellWord(name)
	}
	if value(cmd, "all-namespaces") == "true" {
		out += " -A"
	}
	return out
}

// watches reports --watch.
func watches(cmd *cobra.Command) bool { return value(cmd, "watch") == "true" }

// value is the value of a flag, "" where the command has no such flag.
func value(cmd *cobra.Command, flag string) string {
	if f := cmd.Flags().Lookup(flag); f != nil {
		return f.Value.String()
	}
	return ""
}
