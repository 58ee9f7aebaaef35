package imports

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// logic are the packages that decide and return values. Words for a person, and
// with them flags and command lines, are made in internal/present and internal/cli.
// What to try is an errs.Suggestion, made by internal/suggest.
var logic = []string{
	"internal/governance", "internal/jobs", "internal/quota", "internal/queue", "internal/templates",
	"internal/state", "internal/kube", "internal/discovery", "internal/snapshot", "internal/kinds",
	"internal/reader", "internal/usage", "internal/metrics", "internal/clusters", "internal/slurm", "internal/upload", "internal/notify",
}

// quiet are the packages that name no flag and no command: logic, and the sandbox, which words
// its notices with internal/present. internal/permissions names commands: they are its subject.
var quiet = append([]string{"internal/sandbox", "internal/words", "internal/tarball"}, logic...)

// foreign are the flags of other programs that a logic package reads or writes in command
// lines: that is its subject. A flag of hyperpod of the same name stands elsewhere.
var foreign = map[string]struct {
	program string
	flags   []string
}{
	"internal/discovery":     {"aws eks get-token and aws-iam-authenticator, in a kubeconfig", []string{"--cluster-name", "--cluster-id"}},
	"internal/sandbox/shell": {"tar", []string{"--no-same-"}},
	"internal/slurm":         {"sbatch, srun and torchrun, in a script", []string{"--exclusive", "--auto-resume", "--container-image", "--nnodes", "--nproc_per_node", "--rdzv_backend", "--rdzv_endpoint", "--rdzv_id"}},
	"internal/slurm/client": {"Slurm's commands", []string{"--noheader", "--all", "--states", "--jobs", "--allocations", "--parsable2", "--allusers",
		"--delimiter", "--format", "--starttime", "--parsable", "--test-only", "--help", "--container-image"}},
	"internal/templates/convert":  {"torchrun", []string{"--nnodes", "--nproc-per-node", "--nproc_per_node", "--rdzv"}},
	"internal/templates/recipe":   {"the launched script (Hydra)", []string{"--config-path", "--config-name"}},
	"internal/templates/team":     {"kubectl create configmap", []string{"--from-file"}},
	"internal/templates/v2config": {"git clone", []string{"--branch"}},
	"internal/templates/validate": {"torchrun", []string{"--nnodes", "--nproc"}},
	"internal/templates/resolve": {"torchrun and accelerate launch", []string{
		"--nnodes", "--nproc_per_node", "--node_rank", "--master_addr", "--master_port", "--rdzv_backend", "--rdzv_endpoint", "--rdzv_id",
		"--num_machines", "--num_processes", "--cpu", "--multi_gpu", "--machine_rank", "--main_process_ip", "--main_process_port"}},
}

// TestLogicNamesNoFlags: no string literal of a logic package names a flag or a command of
// hyperpod. It returns a value instead, see internal/suggest. templates/setting has the
// flags of the settings by their bare names.
func TestLogicNamesNoFlags(t *testing.T) {
	command := commands(t)
	used := map[string]bool{}
	for _, dir := range quiet {
		for _, l := range literals(t, dir) {
			wrong := command.MatchString(l.text)
			for _, m := range flagName.FindAllStringSubmatch(l.text, -1) {
				known := slices.Contains(foreign[l.pkg].flags, m[2])
				wrong = wrong || !known
				used[l.pkg+" "+m[2]] = true
			}
			if wrong {
				t.Errorf("%s/%s: %q names a flag or a command", l.pkg, l.at, l.text)
			}
		}
	}
	for pkg, other := range foreign {
		for _, f := range other.flags {
			if !used[pkg+" "+f] {
				t.Errorf("%s no longer uses %s of %s", pkg, f, other.program)
			}
		}
	}
}

// TestNamesOfFlagsAndCommands holds the search itself: it must find what it looks for.
func TestNamesOfFlagsAndCommands(t *testing.T) {
	command := commands(t)
	for text, want := range map[string]bool{
		"--queue-name": true, "use --queue-name": true, `"--set x=1"`: true, "a (--force)": true, "`--all`": true,
		"hyperpod get-job x": true, "run explain-job": true, "hyperpod sandbox create": true,
		"a -- b": false, "---": false, "nccl--tests": false, "get job": false, "hyperpod": false, "hyperpod-ns-team": false, "sandbox": false,
		"hyperpod.io/get-jobs": false,
	} {
		if got := flagName.MatchString(text) || command.MatchString(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

var flagName = regexp.MustCompile("(^|[\\s\"'`(\\[|/])(--[a-z][a-z0-9_-]*)")

// commands returns an expression for the product's commands, read from the command
// reference: every name with a hyphen, and any command behind the program's name.
func commands(t *testing.T) *regexp.Regexp {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs/commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all, hyphened []string
	for _, m := range regexp.MustCompile(`(?m)^## hyperpod ([a-z-]+)`).FindAllStringSubmatch(string(page), -1) {
		if all = append(all, m[1]); strings.Contains(m[1], "-") {
			hyphened = append(hyphened, m[1])
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) < 15 {
		t.Fatalf("only %d commands in the reference", len(all))
	}
	return regexp.MustCompile(fmt.Sprintf(`\bhyperpod (%s)\b|(^|[\s"'(|])(%s)\b`, strings.Join(all, "|"), strings.Join(hyphened, "|")))
}

// literal is a string literal of a package.
type literal struct{ pkg, at, text string }

// literals returns the string literals of the packages below a folder, without
// tests, import paths and struct tags.
func literals(t *testing.T, dir string) []literal {
	t.Helper()
	var out []literal
	for _, file := range sources(t, dir) {
		tags := map[*ast.BasicLit]bool{}
		ast.Inspect(file.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				tags[n.Tag] = true
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && !tags[n] {
					out = append(out, literal{file.pkg, fmt.Sprintf("%s:%d", file.name, file.at(n).Line), text})
				}
			}
			return true
		})
	}
	if len(out) == 0 {
		t.Fatalf("no string literals below %s", dir)
	}
	return out
}
