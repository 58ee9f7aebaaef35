package script

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// adviceVariable names the folder in which the commands of scripts record the lines that name flags.
const adviceVariable = "HYPERPOD_TEST_ADVICE"

// advised are the lines of one command that name flags.
type advised struct {
	CommandLine []string
	Lines       []string
}

// recordAdvice lets a command of a script keep what it prints for people; end records the lines that name flags.
func recordAdvice() (option func(*factory.Factory), end func()) {
	dir := os.Getenv(adviceVariable)
	if dir == "" {
		return func(*factory.Factory) {}, func() {}
	}
	var of *factory.Factory
	out, err := &recorder{}, &recorder{}
	option = func(f *factory.Factory) {
		of = f
		out.to, err.to = f.IO.Out, f.IO.Err
		f.IO.Out, f.IO.Err = out, err
	}
	end = func() {
		if slices.Contains(os.Args, "--help") || slices.Contains(os.Args, "-h") || of == nil || of.Global.Debug {
			return
		}
		a := advised{CommandLine: os.Args[1:]}
		for line := range strings.Lines(err.kept.String()) {
			if namedFlag.MatchString(line) || namedFormat.MatchString(line) {
				a.Lines = append(a.Lines, line)
			}
		}
		for line := range strings.Lines(out.kept.String()) {
			if namedFormat.MatchString(line) { // a note below a table
				a.Lines = append(a.Lines, line)
			}
		}
		if len(a.Lines) == 0 {
			return
		}
		file, err := os.CreateTemp(dir, "*.json")
		if err != nil {
			panic(err)
		}
		defer file.Close()
		if err := json.NewEncoder(file).Encode(a); err != nil {
			panic(err)
		}
	}
	return option, end
}

var (
	namedFlag   = regexp.MustCompile(`(?:^|[\s(,;:])--([a-z][a-z0-9-]+)`)
	namedFormat = regexp.MustCompile(`\((?:see )?-o ([a-z]+)`)
)

// checkAdvice holds every line that names a flag or a format, in errors, notices and notes of tables: the command that printed it has
// the flag, or a command that the line names.
func checkAdvice(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	stdio, _ := output.Test()
	root := cli.NewRoot(&factory.Factory{IO: stdio, Env: func(string) string { return "" }, Now: time.Now})
	seen := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var a advised
		if err := json.Unmarshal(data, &a); err != nil {
			t.Fatal(err)
		}
		for _, line := range a.Lines {
			if fault := unknownIn(root, a.CommandLine, line); fault != "" && !seen[fault+line] {
				seen[fault+line] = true
				t.Errorf("hyperpod %s\n  prints: %s  and has no %s", strings.Join(a.CommandLine, " "), line, fault)
			}
		}
	}
}

// others are lines with flags of other programs: their commands, the program of a job, and the header of a script of Slurm.
var others = regexp.MustCompile(`\b(kubectl|aws|git|terraform|scontrol|squeue|srun|sbatch|the command sets)\b|^ +line [0-9]+:[0-9]+:`)

// unknownIn returns the first flag or format in a line that neither its command has nor one that the line names, "" for none.
func unknownIn(root *cobra.Command, commandLine []string, line string) string {
	if others.MatchString(line) {
		return ""
	}
	var commands []*cobra.Command
	if c, _, err := root.Find(commandLine); err == nil {
		commands = append(commands, c)
	}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if regexp.MustCompile(`\b` + sub.Name() + `\b`).MatchString(line) {
				commands = append(commands, sub)
			}
			visit(sub)
		}
	}
	visit(root)
	for _, m := range namedFlag.FindAllStringSubmatch(line, -1) {
		typed := slices.ContainsFunc(commandLine, func(w string) bool { return strings.Contains(w, "--"+m[1]) })
		if !typed && !slices.ContainsFunc(commands, func(c *cobra.Command) bool { c.InitDefaultHelpFlag(); return c.Flag(m[1]) != nil }) {
			return "--" + m[1]
		}
	}
	for _, m := range namedFormat.FindAllStringSubmatch(line, -1) {
		has := func(c *cobra.Command) bool {
			f := c.Flag("output")
			return f != nil && slices.Contains(strings.FieldsFunc(f.Usage, func(r rune) bool { return strings.ContainsRune(" :,", r) }), m[1])
		}
		if !slices.ContainsFunc(commands, has) {
			return "-o " + m[1]
		}
	}
	return ""
}

// TestUnknownInAdvice: the test of advice can fail.
func TestUnknownInAdvice(t *testing.T) {
	stdio, _ := output.Test()
	root := cli.NewRoot(&factory.Factory{IO: stdio, Env: func(string) string { return "" }, Now: time.Now})
	for _, c := range []struct{ command, line, want string }{
		{"list-jobs -A", "hidden columns: AGE (see -o wide)", ""},
		{"version", "hidden columns: AGE (see -o wide)", "-o wide"},
		{"list-jobs", "try --namespace NAME, or --al", "--al"},
		{"list-jobs", "try:  kubectl scale --replicas 1", ""},
		{"list-jobs --al", "unknown flag --al", ""},
		{"list-jobs", "run hyperpod governance apply --prune", ""},
		{"list-jobs", "run hyperpod governance check --prune", "--prune"},
	} {
		if got := unknownIn(root, strings.Fields(c.command), c.line); got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.command, c.line, got, c.want)
		}
	}
}
