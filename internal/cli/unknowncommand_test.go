package cli

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// A command of another tool, or a verb and a noun apart, leads to the command that does the same.
func TestCommandsOfOtherTools(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"squeue --me", "list-jobs"},
		{"sprio", "get-queue"},
		{"srun --pty bash", "start-job"},
		{"get jobs -A", "list-jobs"},
		{"get pytorchjobs", "list-jobs"},
		{"get pytorchjob x", "get-job"},
		{"get pods", "list-pods"},
		{"get nodes", "list-cluster-nodes"},
		{"-n a get nodes", "list-cluster-nodes"},
		{"describe job x", "get-job"},
		{"describe hyp-pytorch-job --job-name x", "get-job"},
		{"list hyp-pytorch-job", "list-jobs"},
		{"create hyp-pytorch-job --job-name x", "start-job"},
		{"delete pytorchjob/x", "cancel-job"},
		{"describe cluster c", "describe-cluster"},
		{"list clusterqueue", "get-quota"},
		{"list localqueue", "get-queue"},
		{"list workload", "list-jobs"},
		{"stop workload x", "patch-job suspend"},
		{"resume workload x", "patch-job unsuspend"},
		{"scontrol hold x", "patch-job suspend"},
		{"scontrol show job x", "get-job"},
		{"set-cluster-context --cluster-name x", "connect-cluster"},
		{"get-cluster-context", "config view"},
		{"list-accelerator-partition-type", "list-instance-types"},
		{"apply -f x.yaml", "start-job"},
		{"kill x", "cancel-job"},
		{"ssh x", "exec"},
		{"whoami", "doctor"},
		{"top", "dashboard"},
		{"get-monitoring", "open-console"},
		{"events", "get-job"},
		{"config use-context x", "config set"},
		{"config get-contexts", "config view"},
		{"seff 12", "get-usage"},
		{"sstat 12", "get-usage"},
		{"scontrol requeue x", "start-job"},
		{"rollout restart x", "start-job"},
		{"get cq", "get-quota"},
		{"list cohort", "get-quota"},
		{"get lq -n a", "get-queue"},
		{"get wl", "list-jobs"},
		{"pending-workloads cq x", "get-queue"},
		{"drain node-1", "simulate"},
		{"get-operator-logs hyp-pytorch-job", "doctor"},
	} {
		f, out := testFactory(t, nil)
		if got := Run(context.Background(), f, strings.Fields(c.typed)); got != errs.Usage {
			t.Errorf("%s: exit code %d", c.typed, got)
		}
		text := out.Err.String()
		if !strings.Contains(text, "unknown command") {
			t.Errorf("%s: %s", c.typed, text)
		}
		if !strings.Contains(text, "hyperpod "+c.want+" ") && !strings.Contains(text, "hyperpod "+c.want+"\n") {
			t.Errorf("%s: no %s in %s", c.typed, c.want, text)
		}
		if strings.Contains(text, "hyperpod agents") {
			t.Errorf("%s: a topic is not a command: %s", c.typed, text)
		}
	}
}

// A word with quotes is read as it is typed.
func TestUnknownCommandInQuotes(t *testing.T) {
	for _, word := range []string{`a" "`, `"`, `a"b" for "hyperpod config`, `\`} {
		f, out := testFactory(t, nil)
		if got := Run(context.Background(), f, []string{word}); got != errs.Usage || !strings.Contains(out.Err.String(), "unknown command") {
			t.Errorf("%s: exit code %d, %s", word, got, out.Err.String())
		}
	}
}

// Each suggestion is a command that exists, and a command of another tool is in one row.
func TestOtherToolsLeadToCommands(t *testing.T) {
	f, _ := testFactory(t, nil)
	root := NewRoot(f)
	seen := map[string]bool{}
	for _, o := range otherTools() {
		for _, typed := range o.typed {
			if seen[typed] {
				t.Errorf("%s is in two rows", typed)
			}
			seen[typed] = true
		}
		for _, target := range o.use {
			words := strings.Fields(target)
			c, rest, err := root.Find(words)
			if err != nil || c == root || len(rest) > 0 && !slices.Contains(c.ValidArgs, rest[0]) {
				t.Errorf("%q: %s: %v", o.typed, target, err)
			}
		}
	}
}
