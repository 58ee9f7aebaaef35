package startjob

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// maxCommand is the number of bytes of a command line that a job remembers.
const maxCommand = 4096

// omitted are the flags that do not define the job. --dry-run is one of them: the manifest that a client dry run prints
// can be applied, and that creates the job.
var omitted = []string{"color", "quiet", "debug", "output", "kubeconfig", "context", "request-timeout", "error-format", "output-version", "sandbox", "snapshot", "max-age", "dry-run", "yes"}

// plain are the text flags whose values the job remembers: names, paths and quantities. The text of any other flag may hold
// a secret.
var plain = []string{"name", "namespace", "config-file", "template", "job-kind", "from", "recipe",
	"image", "pull-policy", "instance-type", "tasks-per-node", "vcpu", "memory", "vcpu-limit", "memory-limit",
	"accelerator-partition-type", "entry-script", "results-dir", "rdzv-backend", "rdzv-endpoint", "label-selector", "node-selector",
	"toleration", "preferred-topology", "required-topology", "clean-pod-policy", "ttl-after-finished", "active-deadline",
	"service-account-name", "volumes", "persistent-volume-claims", "restart-policy", "scheduler-type", "queue-name", "priority",
	"wait", "on-interrupt", "idempotency-key", "scheduler", "sweep"}

// assigning are the flags whose values are K=V. The job remembers K.
var assigning = []string{"environment", "environment-from-secret", "set", "label", "annotation"}

// remembered returns the value of a flag for the job to remember, with "..." for what may be a secret. Numbers, switches
// and times are never secrets.
func remembered(f *pflag.Flag, value string) string {
	switch {
	case slices.Contains(assigning, f.Name):
		return withoutValue(value)
	case !strings.HasPrefix(f.Value.Type(), "string") || slices.Contains(plain, f.Name):
		return value
	}
	return "..."
}

// commandLine returns the command line for the job to remember: the given flags, quoted for a shell, without values that
// may be secrets.
func commandLine(cmd *cobra.Command, args []string) string {
	line := strings.Fields(cmd.CommandPath())
	line = append(line, args...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(omitted, f.Name) {
			return
		}
		name := "--" + f.Name
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch v = remembered(f, v); {
			case f.NoOptDefVal == "":
				line = append(line, name, v)
			case v == f.NoOptDefVal:
				line = append(line, name)
			default: // a word after it would be an argument
				line = append(line, name+"="+v)
			}
		}
	})
	text := words.ShellWords(line)
	if len(text) > maxCommand {
		text = strings.ToValidUTF8(text[:maxCommand], "") + " ..."
	}
	return text
}

// withoutValue keeps the name of K=V. A JSON object becomes "...".
func withoutValue(v string) string {
	name, _, ok := strings.Cut(v, "=")
	if !ok || strings.HasPrefix(strings.TrimSpace(v), "{") {
		return "..."
	}
	return name + "=..."
}
