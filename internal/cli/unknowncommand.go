package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// otherTools leads from commands of other tools to those of this program that do the same, with commas between several. A verb
// and its noun are joined by a dash, and the noun is in the singular. The tools are Slurm, kubectl, kueuectl, the official
// CLIs, gh, docker and the shell.
var otherTools = map[string]string{
	"squeue": "list-jobs", "jobs": "list-jobs", "list": "list-jobs", "ls": "list-jobs", "ps": "list-jobs", "get-jobs": "list-jobs",
	"describe-jobs": "list-jobs", "list-workload": "list-jobs", "get-workload": "list-jobs", "status": "list-jobs, dashboard",
	"scontrol": "get-job", "scontrol-show": "get-job", "describe": "get-job", "describe-job": "get-job", "show": "get-job",
	"show-job": "get-job", "event": "get-job", "get-event": "get-job, list-cluster-events",
	"explain": "explain-job", "why": "explain-job",
	"sbatch": "start-job", "srun": "start-job", "salloc": "start-job", "submit": "start-job", "submit-job": "start-job",
	"create": "start-job", "create-job": "start-job", "run": "start-job", "run-job": "start-job", "apply": "start-job",
	"scancel": "cancel-job", "delete": "cancel-job", "delete-job": "cancel-job", "delete-workload": "cancel-job", "kill": "cancel-job",
	"kill-job": "cancel-job", "stop-job": "cancel-job, patch-job suspend", "stop": "cancel-job, patch-job suspend", "rm": "cancel-job",
	"stop-workload": "patch-job suspend", "suspend": "patch-job suspend", "suspend-job": "patch-job suspend", "pause": "patch-job suspend",
	"pause-job": "patch-job suspend", "hold": "patch-job suspend", "scontrol-hold": "patch-job suspend",
	"resume": "patch-job unsuspend", "resume-job": "patch-job unsuspend", "resume-workload": "patch-job unsuspend", "unsuspend": "patch-job unsuspend",
	"unsuspend-job": "patch-job unsuspend", "release": "patch-job unsuspend", "scontrol-release": "patch-job unsuspend",
	"scontrol-update": "patch-job priority", "edit": "patch-job", "edit-job": "patch-job", "patch": "patch-job", "update-job": "patch-job",
	"pod": "list-pods", "get-pod": "list-pods", "describe-pod": "list-pods",
	"log": "get-log", "get-logs": "get-log", "tail": "get-log",
	"ssh": "exec", "attach": "exec", "shell": "exec", "portforward": "port-forward",
	"sinfo": "list-cluster-nodes", "node": "list-cluster-nodes", "get-node": "list-cluster-nodes", "list-node": "list-cluster-nodes",
	"describe-node": "list-cluster-nodes",
	"sacct":         "get-usage", "usage": "get-usage", "sreport": "report",
	"sshare": "get-quota", "list-quota": "get-quota", "list-clusterqueue": "get-quota", "get-clusterqueue": "get-quota",
	"describe-clusterqueue": "get-quota", "list-resourceflavor": "get-quota", "get-resourceflavor": "get-quota",
	"sprio": "get-queue", "list-queue": "get-queue", "list-localqueue": "get-queue", "get-localqueue": "get-queue",
	"create-clusterqueue": "governance apply", "create-localqueue": "governance apply",
	"top": "dashboard", "monitor": "dashboard", "get-monitoring": "open-console, dashboard",
	"cluster": "get-clusters", "list-cluster": "get-clusters",
	"login": "connect-cluster", "connect": "connect-cluster", "set-cluster-context": "connect-cluster", "update-kubeconfig": "connect-cluster",
	"get-cluster-context": "config view", "config-get-context": "config view", "config-current-context": "config view",
	"config-use-context": "config set", "config-set-context": "config set",
	"whoami": "doctor", "auth": "doctor", "auth-whoami": "doctor", "auth-can-i": "doctor",
	"init": "create-template", "configure": "create-template", "list-accelerator-partition-type": "list-instance-types",
}

// asUsage turns cobra's complaint about an unknown command, the one error that
// has no hook of its own, into a usage error with the command that does the same, or near names.
func asUsage(root *cobra.Command, args []string, err error) error {
	if err == nil || errors.As(err, new(*errs.Error)) || !strings.HasPrefix(err.Error(), "unknown command") {
		return err
	}
	what, _, _ := strings.Cut(err.Error(), "\n")
	e := errs.Usagef("%s", what).WithCause(err)
	word, path, ok := unknownIn(what)
	if !ok {
		return e.Suggest(errs.Run("--help"))
	}
	parent, _, unknown := root.Find(strings.Fields(path)[1:])
	if unknown != nil {
		parent = root
	}
	return e.Suggest(insteadOf(parent, word, after(args, word))...)
}

// unknownIn returns the word and the path of its parent from cobra's text: unknown command "WORD" for "PARENT", with Go's quotes.
func unknownIn(text string) (word, parent string, ok bool) {
	rest, found := strings.CutPrefix(text, "unknown command ")
	quoted, err := strconv.QuotedPrefix(rest)
	if !found || err != nil {
		return "", "", false
	}
	rest, found = strings.CutPrefix(rest[len(quoted):], " for ")
	of, err := strconv.QuotedPrefix(rest)
	if !found || err != nil {
		return "", "", false
	}
	word, _ = strconv.Unquote(quoted) // QuotedPrefix has checked both
	parent, _ = strconv.Unquote(of)
	return word, parent, parent != ""
}

// after returns the arguments behind a word.
func after(args []string, word string) []string {
	return args[slices.Index(args, word)+1:]
}

// insteadOf returns the commands to suggest in place of an unknown one. rest are the arguments that follow it.
func insteadOf(parent *cobra.Command, word string, rest []string) (out []errs.Suggestion) {
	path := strings.Fields(parent.CommandPath())[1:]
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() && c.Runnable() {
			names = append(names, c.Name())
		}
	}
	if known := commandOf(append(slices.Clone(path), word), rest, names); known != "" {
		for _, c := range strings.Split(known, ", ") {
			out = append(out, runOf(append(strings.Fields(c), "--help")...))
		}
		return out
	}
	for _, n := range errs.Near(word, names) {
		out = append(out, runOf(append(slices.Clone(path), n)...))
	}
	return append(out, runOf(append(path, "--help")...))
}

func runOf(words ...string) errs.Suggestion { return errs.Run(words[0], words[1:]...) }

// commandOf returns the command that does what another tool's command does, "" if it is not known. A verb with the noun that
// follows it comes before the verb alone. words are those that were typed, names the commands that exist.
func commandOf(words, rest, names []string) string {
	verb := strings.Join(words, "-")
	for _, noun := range nounsOf(verb, rest) {
		if slices.Contains(names, verb+"-"+noun) {
			return verb + "-" + noun
		}
		if known := otherTools[verb+"-"+noun]; known != "" {
			return known
		}
	}
	if known := otherTools[verb]; known != "" {
		return known
	}
	return otherTools[strings.TrimSuffix(verb, "s")]
}

// nounsOf returns the words for what a verb of another tool is about: the next argument as it is typed, in the singular and in the
// plural, and job or jobs for a kind of job. In kubectl, get with a kind alone is a list.
func nounsOf(verb string, rest []string) []string {
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return nil
	}
	noun, name, _ := strings.Cut(strings.ToLower(rest[0]), "/")
	nouns := []string{noun, strings.TrimSuffix(noun, "s"), noun + "s"}
	if _, isKind := kinds.JobNamed(noun); !isKind && !strings.HasPrefix(noun, "hyp-") {
		return nouns
	}
	if one := name != "" || len(rest) > 1 && !strings.HasPrefix(rest[1], "-"); verb == "get" && !one {
		return append(nouns, "jobs")
	}
	return append(nouns, "job")
}
