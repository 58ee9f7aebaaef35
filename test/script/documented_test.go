package script

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// documented runs the commands that a page shows, unchanged and in their order: lines of code that begin with
// hyperpod (or go run ./cmd/hyperpod), without their comments, redirections, and what follows in a pipe or after &&.
// The words behind the page say what is different, by a part of the line:
//
//	skip:PART      the line is not run (it waits for a person)
//	cut:PART       the part is left out
//	exit:N:PART    the line ends with this exit code, not with 0
//
// What fits no line is an error, so that the list stays true.
func documented(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: documented PAGE [skip:PART|cut:PART|exit:N:PART]...")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", args[0]))
	ts.Check(err)
	given := directives{args: args[1:], used: map[string]bool{}}
	lines := commandLines(string(page))
	if len(lines) == 0 {
		ts.Fatalf("%s shows no command", args[0])
	}
	for _, line := range lines {
		run, want, runs := given.of(ts, line)
		if !runs {
			continue
		}
		words, err := shellwords.Split(beyond.ReplaceAllString(run, ""))
		ts.Check(err)
		got := exitCode(ts, ts.Exec("hyperpod", globbed(ts, words)...))
		if got != want {
			ts.Fatalf("%s: exit code %d, want %d: hyperpod %s", args[0], got, want, run)
		}
	}
	given.check(ts, args[0])
}

// directives are the words that follow a page.
type directives struct {
	args []string
	used map[string]bool
}

// of returns a line as it is run, its exit code, and whether it is run.
func (d directives) of(ts *testscript.TestScript, line string) (run string, exit int, runs bool) {
	if _, skip := d.find(line, "skip"); skip {
		return "", 0, false
	}
	run = line
	if part, cut := d.find(line, "cut"); cut {
		run = strings.Replace(run, part, "", 1)
	}
	if word, other := d.find(line, "exit"); other {
		code, _, _ := strings.Cut(word, ":")
		var err error
		exit, err = strconv.Atoi(code)
		ts.Check(err)
	}
	return run, exit, true
}

// find returns what follows the word that a line has.
func (d directives) find(line, what string) (rest string, found bool) {
	for _, a := range d.args {
		rest, is := strings.CutPrefix(a, what+":")
		part := rest
		if what == "exit" {
			_, part, _ = strings.Cut(rest, ":")
		}
		if is && strings.Contains(line, part) {
			d.used[a] = true
			return rest, true
		}
	}
	return "", false
}

// check reports words that no line has.
func (d directives) check(ts *testscript.TestScript, page string) {
	for _, a := range d.args {
		if !d.used[a] {
			ts.Fatalf("%s has no line for %s", page, a)
		}
	}
}

func exitCode(ts *testscript.TestScript, err error) int {
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// globbed expands file names as a shell does.
func globbed(ts *testscript.TestScript, words []string) []string {
	var out []string
	for _, w := range words {
		files, err := filepath.Glob(ts.MkAbs(w))
		if !strings.Contains(w, "*") || err != nil || len(files) == 0 {
			out = append(out, w)
			continue
		}
		out = append(out, files...)
	}
	return out
}

var (
	shownCommand = regexp.MustCompile(`^(?:    )?(?:go run \./cmd/)?hyperpod (.+)$`)
	remark       = regexp.MustCompile(` {2,}#.*$`)
)

// commandLines returns the arguments of the commands in a page's code.
func commandLines(page string) []string {
	var out []string
	fenced, more := false, false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		text := remark.ReplaceAllString(line, "")
		m := shownCommand.FindStringSubmatch(text)
		switch {
		case more:
			out[len(out)-1] += " " + strings.TrimSpace(text)
		case m != nil:
			out = append(out, m[1])
		default:
			continue
		}
		last := &out[len(out)-1]
		if more = strings.HasSuffix(*last, `\`); more {
			*last = strings.TrimSuffix(*last, `\`)
		}
	}
	return out
}

// serverAddress is where a server of a script is.
var serverAddress = regexp.MustCompile(`https?://127\.0\.0\.1:\d+`)

// shown checks that a page shows a text, such as stderr. The page has another address of the server.
func shown(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shown PAGE FILE")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", args[0]))
	ts.Check(err)
	text := serverAddress.ReplaceAllString(ts.ReadFile(args[1]), "https://ABCD.gr7.us-west-2.eks.amazonaws.com")
	if text == "" || !strings.Contains(string(page), "\n"+text) {
		ts.Fatalf("%s does not show:\n%s", args[0], text)
	}
}
