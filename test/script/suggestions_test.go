package script

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// recordVariable names the folder in which the commands of scripts record what they
// suggest.
const recordVariable = "HYPERPOD_TEST_SUGGESTIONS"

// suggested is one suggestion of one command line.
type suggested struct {
	CommandLine []string
	errs.Suggestion
}

// recordSuggestions lets a command of a script record each suggestion that it prints.
func recordSuggestions(f *factory.Factory) {
	dir := os.Getenv(recordVariable)
	if dir == "" {
		return
	}
	f.Suggested = func(s errs.Suggestion) {
		file, err := os.CreateTemp(dir, "*.json")
		if err != nil {
			panic(err)
		}
		defer file.Close()
		if err := json.NewEncoder(file).Encode(suggested{os.Args[1:], s}); err != nil {
			panic(err)
		}
	}
}

// checkSuggestions holds every suggestion of every script: a command that is suggested
// parses and has valid options, and so does the command that failed with options that are
// suggested. Words in capitals stand for a value.
func checkSuggestions(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(data)] {
			continue
		}
		seen[string(data)] = true
		var s suggested
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		if fault := s.fault(t); fault != "" {
			t.Errorf("hyperpod %s\n  suggests: %s\n  which fails: %s", strings.Join(s.CommandLine, " "), s.String(), fault)
		}
	}
}

// fault returns why the suggestion does not work, "" where it does. Options that are
// suggested are added to the command that failed. They replace the same options, and those
// that a failure names.
func (s suggested) fault(t *testing.T) string {
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case joined && value == "N":
			args[i] = name + "=1"
		case a == "N" || a == "VALUE":
			args[i] = "1"
		case a == "REGION":
			args[i] = "us-west-2"
		case placeholder.MatchString(a):
			args[i] = strings.ToLower(a)
		default:
			args[i] = a
		}
	}
	switch s.Kind {
	case errs.OtherProgram:
		return ""
	case errs.RunCommand:
		return validate(t, args)
	}
	before := validate(t, s.CommandLine)
	mine, rest := own(s.CommandLine), behind(s.CommandLine)
	again := validate(t, slices.Concat(mine, args, rest))
	for _, line := range [][]string{mine, without(mine, strings.Join(args, " ")), without(mine, before), without(mine, again)} {
		if fault := validate(t, slices.Concat(line, args, rest)); fault == "" || before != "" && fault != before {
			return ""
		}
	}
	return again
}

// placeholder finds a word that stands for a value.
var placeholder = regexp.MustCompile(`^[A-Z]{2,}$`)

// own are the words of a command line before a "--", behind are the others.
func own(line []string) []string {
	if i := slices.Index(line, "--"); i >= 0 {
		return line[:i]
	}
	return line
}

func behind(line []string) []string { return line[len(own(line)):] }

// shorthands are the long names of options.
var shorthands = map[string]string{"-f": "--config-file", "-n": "--namespace", "-A": "--all-namespaces", "-l": "--selector"}

// without returns a command line without the options, with their values, and the arguments
// that a text names. The command itself stays.
func without(line []string, text string) (out []string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" =:,\"()", r) })
	for i := 0; i < len(line); i++ {
		name, _, joined := strings.Cut(line[i], "=")
		long := cmp.Or(shorthands[name], name)
		if i == 0 || !slices.Contains(words, long) && !slices.Contains(words, name) {
			out = append(out, line[i])
			continue
		}
		if strings.HasPrefix(name, "-") && !joined && i+1 < len(line) && !strings.HasPrefix(line[i+1], "-") {
			i++
		}
	}
	return out
}

// validate returns why a command line cannot be run, "" where it can.
func validate(t *testing.T, args []string) string {
	stdio, _ := output.Test()
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"HOME": home}[name] }
	f := &factory.Factory{IO: stdio, Env: env, Now: time.Now, Version: "v0.0.0-test"}
	err := cli.Validate(context.Background(), f, slices.Clone(args)) // in a cleanup, the test's own context has ended
	if err == nil {
		return ""
	}
	return err.Error()
}
