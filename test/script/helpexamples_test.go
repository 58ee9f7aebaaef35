package script

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// helpExamples runs the examples of every command's help in a shell, each on its own copy of the script's sandboxes, and answers
// prompts with yes. The words are those of documented.
func helpExamples(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: helpexamples [skip:PART|cut:PART|exit:N:PART]...")
	}
	ts.Check(ts.Exec("hyperpod", "help", "--json"))
	var help struct {
		Commands []struct {
			Examples []string
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &help))
	var failed []string
	run := 0
	words, state := directives{args: args, used: map[string]bool{}}, ts.Getenv("XDG_STATE_HOME")
	for _, c := range help.Commands {
		for _, example := range c.Examples {
			line, want, runs := words.of(ts, example)
			if !runs {
				continue
			}
			own := filepath.Join(ts.Getenv("WORK"), "state-"+strconv.Itoa(run))
			ts.Check(os.CopyFS(own, os.DirFS(state)))
			ts.Setenv("XDG_STATE_HOME", own)
			got := exitCode(ts, ts.Exec("sh", "-c", line))
			if got == 2 && strings.Contains(ts.ReadFile("stderr"), "cannot prompt for confirmation") { // a person answers
				got = exitCode(ts, ts.Exec("sh", "-c", line+" --yes"))
			}
			run++
			if got != want {
				failed = append(failed, fmt.Sprintf("exit code %d, want %d: %s\n%s", got, want, line, ts.ReadFile("stderr")))
			}
		}
	}
	if run < 100 {
		failed = append(failed, fmt.Sprintf("only %d examples", run))
	}
	if len(failed) > 0 {
		ts.Fatalf("examples of the help:\n%s", strings.Join(failed, "\n"))
	}
	words.check(ts, "the help")
}
