package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

func testFactory(t *testing.T, env map[string]string) (*factory.Factory, output.Buffers) {
	t.Helper()
	io, buffers := output.Test()
	home := t.TempDir()
	return &factory.Factory{IO: io, Now: time.Now, Version: "test", Env: func(k string) string {
		if v, ok := env[k]; ok {
			return v
		}
		if k == "HOME" {
			return home
		}
		return ""
	}}, buffers
}

// Every command says what it is and has consistent flags.
func TestCommandTree(t *testing.T) {
	f, _ := testFactory(t, nil)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short text %q", c.CommandPath(), c.Short)
		}
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if flag.Usage == "" || strings.ToLower(flag.Name) != flag.Name || strings.Contains(flag.Name, "_") {
				t.Errorf("%s --%s: usage %q", c.CommandPath(), flag.Name, flag.Usage)
			}
		})
		if c.Runnable() && c.HasParent() && c.Parent().HasParent() == false && c.GroupID == "" && c.Name() != "help" {
			t.Errorf("%s has no group", c.CommandPath())
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(NewRoot(f))
}

// A flag whose help begins with a file or folder of this machine completes files.
func TestFileFlags(t *testing.T) {
	begins := regexp.MustCompile("^`?(\\w+ )?(file|folder|manifest)\\b`?(.*)")
	f, _ := testFactory(t, nil)
	seen := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if m := begins.FindStringSubmatch(flag.Usage); m == nil || strings.HasPrefix(m[3], " of the pods") {
				return
			}
			seen[flag.Name] = true
			if !factory.IsFile(flag) {
				t.Errorf("%s --%s completes no files; its help: %s", c.CommandPath(), flag.Name, flag.Usage)
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(NewRoot(f))
	for _, name := range []string{"kubeconfig", "directory", "prices", "config-file", "env-file"} {
		if !seen[name] {
			t.Errorf("--%s was not seen: %v", name, seen)
		}
	}
}

func TestErrorsBecomeExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		exit errs.Exit
		text string
	}{
		{"version", errs.OK, ""},
		{"list-jbs", errs.Usage, "hyperpod list-jobs"},
		{"list-jobs --me", errs.Usage, "did you mean:  --mine"},
		{"start-job --time 2h", errs.Usage, "did you mean:  --active-deadline"},
		{"start-job --qos high", errs.Usage, "did you mean:  --priority"},
		{"start-job --gres gpu:8", errs.Usage, "did you mean:  --accelerators"},
		{"start-job --constraint ml.p5.48xlarge", errs.Usage, "did you mean:  --instance-type"},
		{"start-job --cpus-per-task 4", errs.Usage, "did you mean:  --vcpu"},
		{"start-job --array 1-5", errs.Usage, "did you mean:  --sweep"},
		{"start-job --account ml", errs.Usage, "did you mean:  --namespace"},
		{"list-jobs --user ada", errs.Usage, "did you mean:  --mine"},
		{"cancel-job --user ada", errs.Usage, "did you mean:  --mine"},
		{"patch-job resume x", errs.Usage, "hyperpod patch-job unsuspend x"},
		{"patch-job x suspend", errs.Usage, "hyperpod patch-job suspend x"},
		{"list-jobs --nope", errs.Usage, "unknown flag --nope"},
		{"list-jobs extra", errs.Usage, "list-jobs takes no arguments"},
		{"list-jobs --color mauve", errs.Usage, "mauve"},
		{"list-jobs -A", errs.Failure, "no cluster found"},
		{"completion tcsh", errs.Usage, "bash, zsh, fish, powershell"},
		{"start-job --dry-run=maybe", errs.Usage, "Error: invalid --dry-run \"maybe\"\n"},
		{"list-jobs -n=", errs.Usage, "--namespace is empty"},
		{"list-jobs -n= -l=", errs.Usage, "--namespace and --selector are empty"},
		{"list-jobs -o=", errs.Usage, "--output is empty"},
		{"list-jobs\x00--selector= \t", errs.Usage, "--selector is empty"},
		{"cancel-job\x00--yes\x00--selector\x00 ", errs.Usage, "--selector is empty"},
		{"governance plan --cohort a_b", errs.Usage, `invalid --cohort "a_b": must be a name`},
		{"governance plan --own-cohort-prefix -a", errs.Usage, `invalid --own-cohort-prefix "-a": must begin a name`},
		{"get-clusters --region x/", errs.Usage, `invalid --region "x/": must be like us-west-2`},
		{"start-job --name x --instance-type a,b", errs.Usage, `invalid --instance-type "a,b": must be`},
		{"report --project-label a=b", errs.Usage, `invalid --project-label "a=b": must be the key of a label`},
		{"create-cluster -f x --cluster-name a_b", errs.Usage, `invalid --cluster-name "a_b": must be letters`},
		{"create-template t --from pytorch --description \xff", errs.Usage, `invalid --description "\xff": must be UTF-8`},
		{"connect-cluster c --alias a\x1b", errs.Usage, `invalid --alias "a\x1b": must be printable text`},
		{"list-jobs -A=", errs.Usage, "the flag has no value after ="},
		{"list-jobs -n A", errs.Usage, "-A   # all namespaces"},
		{"list-jobs -n Team", errs.Usage, "--namespace team"},
		{"get-job x -n a_b", errs.Usage, `--namespace "a_b" is not a valid namespace`},
		{"start-job --name x --idempotency-key=", errs.Usage, "--idempotency-key is empty"},
		{"start-job --name x --config-file=", errs.Usage, "--config-file is empty"},
		{"start-job --name x --from=", errs.Usage, "--from is empty"},
		{"version -o table", errs.Usage, "json, jsonl, yaml"},
		{"version --output=", errs.Usage, "--output is empty"},
		{"list-jobs --namespace=", errs.Usage, "--namespace is empty"},
		{"list-jobs --state=", errs.Usage, "--state is empty"},
		{"cancel-job --all --selector=", errs.Usage, "--selector is empty"},
		{"start-job --name=", errs.Usage, "--name is empty"},
		{"start-job --name x --queue-name=", errs.Usage, "--queue-name is empty"},
		{"start-job --name x --priority=", errs.Usage, "--priority is empty"},
		{"start-job --name x --label=", errs.Usage, "--label is empty"},
		{"get-log x --pod=", errs.Usage, "--pod is empty"},
		{"list-jobs --request-timeout soon", errs.Usage, "try:  hyperpod list-jobs --help"},
	} {
		f, out := testFactory(t, nil)
		args := strings.Fields(c.args)
		if strings.Contains(c.args, "\x00") { // arguments with blanks
			args = strings.Split(c.args, "\x00")
		}
		if got := Run(context.Background(), f, args); got != c.exit {
			t.Errorf("%s: exit code %d, want %d: %s", c.args, got, c.exit, out.Err)
		}
		if !strings.Contains(out.Err.String(), c.text) {
			t.Errorf("%s: %q is not in %q", c.args, c.text, out.Err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	f, out := testFactory(t, map[string]string{"HYPERPOD_SANDBOX": "lend-three"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := Run(ctx, f, []string{"list-jobs", "-A"}); got != errs.Interrupted {
		t.Errorf("exit code %d: %s", got, out.Err)
	}
}

func TestJoinBoolValues(t *testing.T) {
	for in, want := range map[string]string{
		"start-job --auto-resume true --name x":                                   "start-job --auto-resume=true --name x",
		"start-job --deep-health-check-passed-nodes-only False":                   "start-job --deep-health-check-passed-nodes-only=false",
		"start-job --auto-resume --name true":                                     "start-job --auto-resume --name true",
		"start-job --name true":                                                   "start-job --name true",
		"exec --auto-resume=true -- --auto-resume true":                           "exec --auto-resume=true -- --auto-resume true",
		"start-job --auto-resume true --deep-health-check-passed-nodes-only true": "start-job --auto-resume=true --deep-health-check-passed-nodes-only=true",
	} {
		if got := strings.Join(joinBoolValues(strings.Fields(in)), " "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestOutputFormats: an -o that a command does not have is refused before it looks at
// anything, and its help lists those that it has.
func TestOutputFormats(t *testing.T) {
	formats := formatsOf()
	leaves(t, func(path string, usage string) {
		has := formats[path]
		if listed := strings.Contains(usage, "-o, --output"); listed != (len(has) > 0) {
			t.Errorf("%s --help lists -o: %t", path, listed)
		}
		for _, text := range output.FormatNames() {
			name := output.Name(strings.TrimSuffix(text, "="))
			f, out := testFactory(t, nil)
			exit := Run(context.Background(), f, append(strings.Fields(path)[1:], "-o", text+"x"[:len(text)-len(name)]))
			refused := strings.Contains(out.Err.String(), " does not support -o")
			if refused == slices.Contains(has, name) || refused && exit != errs.Usage {
				t.Errorf("%s -o %s: exit code %d, %s", path, text, exit, out.Err)
			}
		}
		delete(formats, path)
	})
	for path := range formats {
		t.Errorf("there is no command %s", path)
	}
}

// TestOutputFormatsPage: docs/output.md has every command with the formats that it has.
func TestOutputFormatsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "output.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| commands | formats |\n|---|---|\n")
	table, _, ended := strings.Cut(table, "\n\n")
	if !found || !ended {
		t.Fatal("docs/output.md has no table of commands")
	}
	quoted := func(text string) (words []string) {
		for i, part := range strings.Split(text, "`") {
			if i%2 == 1 {
				words = append(words, part)
			}
		}
		return words
	}
	formats := formatsOf()
	var first []string
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		words := quoted(cells[2])
		if first == nil {
			first = words
		}
		if strings.HasPrefix(strings.TrimSpace(cells[2]), "these") {
			words = append(words, first...)
		}
		for _, command := range quoted(cells[1]) {
			path := "hyperpod " + command
			var has []string
			for _, name := range formats[path] {
				if !strings.HasSuffix(string(name), "-file") && name != output.JSONLines { // go with custom-columns, jsonpath and json
					has = append(has, string(name))
				}
			}
			if slices.Sort(has); !slices.Equal(has, slices.Sorted(slices.Values(words))) {
				t.Errorf("%s has %v, the page says %v", command, has, words)
			}
			delete(formats, path)
		}
	}
	for path := range formats {
		t.Errorf("the page does not have %s", path)
	}
}

// TestHelpFits: nothing of a command's help is wider than the terminal, but for
// examples, which are there to be copied, and single words.
func TestHelpFits(t *testing.T) {
	leaves(t, func(path string, usage string) {
		examples := false
		for line := range strings.Lines(usage) {
			line = strings.TrimSuffix(line, "\n")
			examples = strings.HasPrefix(line, "Examples:") || examples && strings.HasPrefix(line, " ")
			if len([]rune(line)) > 80 && !examples && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: %d columns: %s", path, len([]rune(line)), line)
			}
		}
	})
}

// TestHelpReadsEvenly: the paragraphs of a help fill their lines, and lists of commands fit
// into a terminal of 80 columns.
func TestHelpReadsEvenly(t *testing.T) {
	f, _ := testFactory(t, nil)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if columns := len([]rune(c.Short)); c.HasParent() && columns > 54 {
			t.Errorf("%s: the short text has %d columns: %s", c.CommandPath(), columns, c.Short)
		}
		lines := strings.Split(c.Long, "\n")
		for i, line := range lines {
			if len([]rune(line)) > 80 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), len([]rune(line)), line)
			}
			if i+1 == len(lines) || line == "" || lines[i+1] == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(lines[i+1], " ") {
				continue
			}
			if next := strings.Fields(lines[i+1])[0]; len([]rune(line+" "+next)) <= 70 && !strings.HasSuffix(line, ":") {
				t.Errorf("%s: the line is too short: %s", c.CommandPath(), line)
			}
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(NewRoot(f))
}

// leaves calls visit with every command that has none below it and with its help on
// a terminal of 80 columns.
func leaves(t *testing.T, visit func(path, help string)) {
	t.Helper()
	f, _ := testFactory(t, nil)
	f.IO.OutTTY, f.IO.Width = true, 80
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if !c.HasSubCommands() && c.Runnable() {
			visit(c.CommandPath(), c.Long+"\n"+c.UsageString())
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(NewRoot(f))
}

// TestBlankFlags: a blank, such as a shell variable that is not set between quotes, is a value of no flag. It must not choose
// another cluster, namespace or set of jobs than was meant.
func TestBlankFlags(t *testing.T) {
	f, _ := testFactory(t, nil)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		if !c.Runnable() || c.Hidden {
			return
		}
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if flag.Hidden || flag.Value.Type() == "bool" || flag.Name == "grep" || slices.Contains(mayBeEmpty, flag.Name) {
				return
			}
			f, out := testFactory(t, nil)
			args := append(strings.Fields(c.CommandPath())[1:], "--"+flag.Name+"= ")
			if got := Run(context.Background(), f, args); got != errs.Usage || !strings.Contains(out.Err.String(), "--"+flag.Name) {
				t.Errorf("%q: exit code %d: %s", args, got, out.Err)
			}
		})
	}
	visit(NewRoot(f))
}
