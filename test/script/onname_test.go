package script

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// takers are the commands that take a name which another command prints, by the kind
// before the slash ("" for a bare name) and the command that prints it ("" for any).
// "job" stands for the kinds of jobs and their Workloads. NAME is replaced.
var takers = []struct {
	kind, printed string
	commands      []string
}{
	{"job", "", []string{
		"get-job NAME -o name", "explain-job NAME -o name", "list-pods NAME -o name", "wait-job NAME --for deleted --timeout 0 -o name",
		"cancel-job NAME --dry-run -o name", "patch-job suspend NAME --dry-run -o name", "patch-job priority NAME --priority training --dry-run -o name",
		"create-template mine --job NAME --dry-run -o name", "start-job again --from NAME --dry-run=client -o name", "simulate --remove-job NAME -o name", "simulate --priority NAME=10 -o name",
		"get-log NAME --tail 1", "exec NAME -- hostname", "copy-file $WORK/file NAME:/tmp/file -o name",
	}},
	{"clusterqueue", "", []string{"get-quota NAME -o name", "get-queue NAME -o name", "governance rbac NAME", "simulate --remove-team NAME -o name", "simulate --set NAME.weight=1 -o name",
		"simulate --add-team new=NAME -o name", "get-usage -A --team NAME -o name", "report --team NAME"}},
	{"pod", "", []string{"get-log vit-huge --pod NAME --tail 1", "exec vit-huge --pod NAME -- hostname"}},
	{"sandbox", "", []string{"list-jobs -A --sandbox=NAME -o name", "sandbox advance 1s --sandbox=NAME"}},
	{"snapshot", "", []string{"list-jobs -A --snapshot NAME -o name", "get-quota --snapshot NAME -o name"}},
	{"", "list-templates", []string{"get-template NAME -o name", "validate-template NAME"}},
	{"", "get-template", []string{"get-template NAME -o name", "start-job new --template NAME -n hyperpod-ns-interns --image i --entry-script t.py --dry-run=client -o name"}},
	{"", "list-instance-types", []string{"list-instance-types NAME -o name"}},
	{"", "config view", []string{"config get NAME"}},
	{"", "get-clusters", []string{"describe-cluster NAME -o name", "list-cluster-nodes NAME -o name", "list-cluster-events NAME -o name", "get-clusters --clusters NAME -o name"}},
	{"", "describe-cluster", []string{"list-cluster-nodes NAME -o name"}},
	{"", "list-cluster-nodes", []string{"reboot-cluster-nodes ml-prod NAME --dry-run", "list-cluster-events ml-prod --node NAME"}},
}

// TestNamesAreArguments: what a command prints with -o name is an argument of every
// command that takes such a name.
func TestNamesAreArguments(t *testing.T) {
	t.Parallel()
	work, account := t.TempDir(), withAccount(t)
	if _, err := run(t, work, "sandbox", "create", "box"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(work+"/file", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	namespace := map[string]string{"vit-huge": "hyperpod-ns-researchers", "dino-giant": "hyperpod-ns-researchers"}
	all := func(args string) []string {
		fields := strings.Fields(strings.ReplaceAll(args, "$WORK", work))
		if !strings.Contains(args, "--snapshot") && !strings.Contains(args, "--sandbox") {
			fields = slices.Insert(fields, 1, "--sandbox=box")
		}
		return fields
	}
	tried := map[string]bool{}
	for _, d := range documents {
		args, _ := strings.CutPrefix(d.args, "* ")
		fields := strings.Fields(args)
		path := fields[:1]
		if slices.Contains([]string{"sandbox", "config", "governance", "patch-job"}, fields[0]) {
			path = fields[:2]
		}
		help, err := run(t, work, append(slices.Clone(path), "--help")...)
		if _, formats, _ := strings.Cut(help, "output format: "); err != nil || !slices.Contains(strings.Split(strings.Split(formats, "\n")[0], ", "), "name") {
			continue
		}
		with := append(strings.Fields(strings.ReplaceAll(args, "$WORK", work)), "-o", "name")
		if !slices.Contains(clusterless, d.name) && !strings.Contains(args, "--snapshot") {
			with = append(with, "--sandbox=box")
		}
		if d.name == "create-cluster" {
			with = append(with, "--dry-run")
		}
		out, _ := runOn(t, work, account, with...)
		for line := range strings.Lines(out) {
			line = strings.TrimSpace(line)
			kind, _, slash := strings.Cut(line, "/")
			if !slash {
				kind = ""
			}
			kind, _, _ = strings.Cut(kind, ".")
			if _, job := kinds.JobNamed(kind); job && kind != "" && kind != "pod" || kind == "workload" {
				kind = "job"
			}
			for _, taker := range takers {
				if taker.kind != kind || taker.printed != "" && taker.printed != d.name {
					continue
				}
				for _, command := range taker.commands {
					key := d.name + " " + command
					if tried[key] {
						continue
					}
					next := all(strings.ReplaceAll(command, "NAME", line))
					if kind == "job" || kind == "pod" {
						ns := ""
						for name, in := range namespace {
							if strings.Contains(line, name) {
								ns = in
							}
						}
						if ns == "" {
							continue // of another namespace
						}
						next = slices.Insert(next, 1, "-n", ns)
					}
					tried[key] = true
					_, err := runOn(t, work, account, next...)
					var exit *exitError // other codes are answers: pending, a cluster that cannot be read
					if errors.As(err, &exit) && (exit.code == errs.Usage || exit.code == errs.NotFound) {
						t.Errorf("%s prints %s, which the next command refuses:\nhyperpod %s: %v", d.name, line, strings.Join(next, " "), err)
					}
				}
			}
		}
	}
	if len(tried) < 60 {
		t.Errorf("only %d commands were tried", len(tried))
	}
}
