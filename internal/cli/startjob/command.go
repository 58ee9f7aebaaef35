package startjob

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// mostCommand is how much of a command line is kept, in bytes.
const mostCommand = 4096

// unsaid are flags that do not belong to what was started. A dry run shows what would
// be sent without it, and what it prints may be applied: that command is no dry run.
var unsaid = []string{"color", "quiet", "debug", "output", "kubeconfig", "context", "request-timeout", "sandbox", "snapshot", "dry-run"}

// told are the flags of text whose values the job remembers: names, places and
// quantities. The text of every other flag may hold a secret.
var told = []string{"name", "job-name", "namespace", "config-file", "template", "job-kind", "from", "recipe",
	"image", "pull-policy", "instance-type", "tasks-per-node", "vcpu", "memory", "vcpu-limit", "memory-limit",
	"accelerator-partition-type", "entry-script", "results-dir", "rdzv-backend", "rdzv-endpoint", "label-selector", "node-selector",
	"toleration", "preferred-topology", "required-topology", "clean-pod-policy", "ttl-after-finished", "active-deadline",
	"service-account-name", "volumes", "persistent-volume-claims", "restart-policy", "scheduler-type", "queue-name", "priority",
	"wait", "idempotency-key"}

// assigning are the flags whose values are K=V: the name is remembered.
var assigning = []string{"environment", "environment-from-secret", "set", "label", "annotation"}

// remembered is a flag's value as the job remembers it, "..." in place of what may
// be a secret. Numbers, switches and times are none.
func remembered(f *pflag.Flag, value string) string {
	switch {
	case slices.Contains(assigning, f.Name):
		return withoutValue(value)
	case !strings.HasPrefix(f.Value.Type(), "string") || slices.Contains(told, f.Name):
		return value
	}
	return "..."
}

// commandLine is the command line as the job remembers it: the flags that were
// given, quoted for a shell, without the values that may be secrets.
func commandLine(cmd *cobra.Command, args []string) string {
	line := strings.Fields(cmd.CommandPath())
	line = append(line, args...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(unsaid, f.Name) {
			return
		}
		name := "--" + f.Name
		if f.Name == "job-name" {
			name = "--name" // as people write it
		}
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
	if len(text) > mostCommand {
		text = strings.ToValidUTF8(text[:mostCommand], "") + " ..."
	}
	return text
}

// withoutValue keeps the name of K=V; a JSON object is left out as a whole.
func withoutValue(v string) string {
	name, _, ok := strings.Cut(v, "=")
	if !ok || strings.HasPrefix(strings.TrimSpace(v), "{") {
		return "..."
	}
	return name + "=..."
}

// resumeNote says where HyperPod's documentation promises no automatic resume: it
// looks after the namespaces kubeflow and hyperpod... only.
func resumeNote(on bool, namespace string) string {
	if !on || namespace == "kubeflow" || strings.HasPrefix(namespace, "hyperpod") {
		return ""
	}
	return "HyperPod resumes jobs in the namespace kubeflow and in those that begin with hyperpod, not in " + namespace
}
