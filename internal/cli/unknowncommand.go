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

// otherTool is commands of other tools, and the commands of this program that do the same.
type otherTool struct{ typed, use []string }

// otherTools returns the commands of Slurm, kubectl, kueuectl, the official CLIs, gh, docker and the shell. A verb and its noun are
// joined by a dash, and the noun is in the singular.
func otherTools() []otherTool {
	return []otherTool{
		{typed: []string{"squeue", "jobs", "list", "ls", "ps", "get-jobs", "describe-jobs", "list-workload", "get-workload", "list-wl", "get-wl"}, use: []string{"list-jobs"}},
		{typed: []string{"status"}, use: []string{"list-jobs", "dashboard"}},
		{typed: []string{"scontrol", "scontrol-show", "describe", "describe-job", "show", "show-job", "event"}, use: []string{"get-job"}},
		{typed: []string{"get-event"}, use: []string{"get-job", "list-cluster-events"}},
		{typed: []string{"explain", "why"}, use: []string{"explain-job"}},
		{typed: []string{
			"sbatch", "srun", "salloc",
			"submit", "submit-job", "create", "create-job", "run", "run-job", "apply",
			"restart", "restart-job", "rollout-restart", "rerun", "scontrol-requeue",
		}, use: []string{"start-job"}},
		{typed: []string{"scancel", "delete", "delete-job", "delete-workload", "kill", "kill-job", "rm"}, use: []string{"cancel-job"}},
		{typed: []string{"stop-job", "stop"}, use: []string{"cancel-job", "patch-job suspend"}},
		{typed: []string{"stop-workload", "suspend", "suspend-job", "pause", "pause-job", "hold", "scontrol-hold"}, use: []string{"patch-job suspend"}},
		{typed: []string{
			"resume", "resume-job", "resume-workload", "unsuspend", "unsuspend-job",
			"release", "scontrol-release",
		}, use: []string{"patch-job unsuspend"}},
		{typed: []string{"scontrol-update"}, use: []string{"patch-job priority"}},
		{typed: []string{"edit", "edit-job", "patch", "update-job"}, use: []string{"patch-job"}},
		{typed: []string{"pod", "get-pod", "describe-pod"}, use: []string{"list-pods"}},
		{typed: []string{"log", "get-logs", "tail"}, use: []string{"get-log"}},
		{typed: []string{"ssh", "attach", "shell"}, use: []string{"exec"}},
		{typed: []string{"portforward"}, use: []string{"port-forward"}},
		{typed: []string{"sinfo", "node", "get-node", "list-node", "describe-node"}, use: []string{"list-cluster-nodes"}},
		{typed: []string{"sacct", "seff", "sstat", "usage"}, use: []string{"get-usage"}},
		{typed: []string{"sreport"}, use: []string{"report"}},
		{typed: []string{
			"sshare", "list-quota", "list-clusterqueue", "get-clusterqueue", "describe-clusterqueue",
			"list-resourceflavor", "get-resourceflavor", "list-cohort", "get-cohort", "list-cq", "get-cq", "list-rf", "get-rf",
		}, use: []string{"get-quota"}},
		{typed: []string{"sprio", "list-queue", "list-localqueue", "get-localqueue", "list-lq", "get-lq", "pending-workload"}, use: []string{"get-queue"}},
		{typed: []string{"create-clusterqueue", "create-localqueue"}, use: []string{"governance apply"}},
		{typed: []string{"cordon", "drain"}, use: []string{"simulate"}},
		{typed: []string{"top", "monitor"}, use: []string{"dashboard"}},
		{typed: []string{"get-monitoring"}, use: []string{"open-console", "dashboard"}},
		{typed: []string{"cluster", "list-cluster"}, use: []string{"get-clusters"}},
		{typed: []string{"login", "connect", "set-cluster-context", "update-kubeconfig"}, use: []string{"connect-cluster"}},
		{typed: []string{"get-cluster-context", "config-get-context", "config-current-context"}, use: []string{"config view"}},
		{typed: []string{"config-use-context", "config-set-context"}, use: []string{"config set"}},
		{typed: []string{"whoami", "auth", "auth-whoami", "auth-can-i", "get-operator-logs"}, use: []string{"doctor"}},
		{typed: []string{"init", "configure"}, use: []string{"create-template"}},
		{typed: []string{"list-accelerator-partition-type"}, use: []string{"list-instance-types"}},
	}
}

// useInstead returns the commands to use in place of another tool's, nil if it is not known.
func useInstead(typed string) []string {
	for _, o := range otherTools() {
		if slices.Contains(o.typed, typed) {
			return o.use
		}
	}
	return nil
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
	if known := commandsFor(append(slices.Clone(path), word), rest, names); len(known) > 0 {
		for _, c := range known {
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

// commandsFor returns the commands that do what another tool's command does, nil if it is not known. A verb with the noun that
// follows it comes before the verb alone. words are those that were typed, names the commands that exist.
func commandsFor(words, rest, names []string) []string {
	verb := strings.Join(words, "-")
	for _, noun := range nounsOf(verb, rest) {
		if slices.Contains(names, verb+"-"+noun) {
			return []string{verb + "-" + noun}
		}
		if known := useInstead(verb + "-" + noun); known != nil {
			return known
		}
	}
	if known := useInstead(verb); known != nil {
		return known
	}
	return useInstead(strings.TrimSuffix(verb, "s"))
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
