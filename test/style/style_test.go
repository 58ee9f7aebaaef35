// Package style searches the texts of the repository for phrases that docs/style.md rules out: string literals, comments
// of names, documents, and the templates that the binary embeds.
package style

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// phrase is an expression that no text uses, and what to write instead.
type phrase struct {
	find    *regexp.Regexp
	instead string
	allowed func(match []string) bool // nil: always a fault
}

// phrases holds expressions with few false positives. Case does not matter.
var phrases = []phrase{
	rule(`\b(is|are|was|were|be|being|been) told\b`, "say who reports what: \"the command prints ...\""),
	rule(`\b(is|are|was|were|be|being) said\b`, "say who reports what: \"reported on stderr\""),
	rule(`\bas (it|they) stands?\b`, "unchanged"),
	rule(`\bfor want of\b`, "no permission to ...; because ... is missing"),
	rule(`\b(whereof|whereby|wherewith|thereby|therefrom|lest|herein)\b`, "two sentences"),
	rule(`\bof which\b`, "two sentences, or \"whose\""),
	rule(`\bto be had\b`, "available"),
	{
		find:    regexp.MustCompile(`(?i)\b([a-z]+) (?:is|are) no ([a-z]+)`),
		instead: "\"is not a ...\", or say what it is",
		allowed: func(m []string) bool {
			return slices.Contains([]string{"there", "neither"}, strings.ToLower(m[1])) ||
				slices.Contains([]string{"longer", "more", "less", "later", "greater", "different"}, strings.ToLower(m[2]))
		},
	},
	rule(`\b(waits|waiting|starting|has waited|runs) since (%|[0-9]+[hms])`, "\"for 2h\", or \"since 07:13\""),
	rule(`\b(comes?|came|coming) to rest\b`, "converge"),
	rule(`\bnone has to\b`, "say what is enough"),
	rule(`\bshown (is|are)\b`, "normal word order"),
	rule(`\bnot below\b`, "at least"),
	rule(`\bwhat is meant\b`, "name it"),
	rule(`\banew\b`, "again"),
	rule(`\b(hold|holds|held|holding) back\b`, "suspended, delayed, pending"),
	rule(`\blets? it go\b`, "resume"),
	rule(`\bgo(es)? on ([a-z]+ing|with)\b`, "continue to, keep"),
	rule(`\bon paper\b`, "simulated"),
	rule(`\basks first\b`, "prompts for confirmation"),
	rule(`\bnothing is known\b`, "unknown"),
	rule(`\brights? to (list|get|read|see|watch|create|delete|patch|use|list)\b`, "permission to"),
	rule(`\b(find|finds|found) (no )?room\b`, "fit"),
	rule(`(?-i:\bvictims?\b)`, "target"),
	rule(`\bas [a-z]+ has it\b`, "like"),
	rule(`\bsa(y|ys|id) so\b`, "say what it reports"),
	rule(`\bdemands? on\b`, "requirement"),
	rule(`\b(is|are|was|were|be) (asked|waited|looked) for\b`, "requested; active voice"),
	rule(`\bbe it\b`, "whether"),
	rule(`\btells whether\b`, "reports whether"),
	rule(`\bunsaid\b`, "the default, in brackets"),
	rule(`\bunless (said|told)\b`, "by default"),
	rule(`\b(lay|lays|laid|laying) ([a-z]+ ){0,3}over\b`, "override, apply to, on top"),
	rule(`\b(that|which|who|and) (is|are) none\b`, "is not a ..., invalid, \"if there is none\""),
	rule(`\b(hold|holds|held|holding) ([a-z]+ ){1,2}back\b`, "suspend, delay"),
	rule(`\bcan be had\b`, "available"),
	rule(`\bhangs? on\b`, "depends on"),
	rule(`\bspeaks? of\b`, "suggests, concerns"),
}

func rule(expr, instead string) phrase {
	return phrase{find: regexp.MustCompile(`(?i)` + expr), instead: instead}
}

type fault struct {
	position, match, instead string
}

func TestPhrases(t *testing.T) {
	note := func(position, text string) {
		for _, f := range faults(position, text) {
			t.Errorf("%s: %q; write: %s", f.position, f.match, f.instead)
		}
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch name = filepath.ToSlash(name); {
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "style" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return filepath.SkipDir
		case entry.IsDir() || name == "docs/style.md" || name == "docs/commands.md":
			return nil
		case strings.HasSuffix(name, ".go"):
			return goTexts(path, name, note)
		case strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".yaml"):
			return paragraphs(path, name, note)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// faults returns the phrases in one text. A line break counts as a space.
func faults(position, text string) []fault {
	text = strings.Join(strings.Fields(text), " ")
	var out []fault
	for _, p := range phrases {
		for _, m := range p.find.FindAllStringSubmatch(text, -1) {
			if p.allowed == nil || !p.allowed(m) {
				out = append(out, fault{position, m[0], p.instead})
			}
		}
	}
	return out
}

// goTexts notes the string literals of a file, adjacent ones joined, and the comments of its names.
func goTexts(path, name string, note func(position, text string)) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	at := func(n ast.Node) string { return name + ":" + strconv.Itoa(fset.Position(n.Pos()).Line) }
	comment := func(groups ...*ast.CommentGroup) {
		for _, group := range groups {
			if group != nil {
				_, text, _ := strings.Cut(group.Text(), " ") // the first word is the name
				note(at(group), text)
			}
		}
	}
	comment(file.Doc)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if text, ok := literal(n); ok {
				note(at(n), text)
				return false
			}
		case *ast.BasicLit:
			if text, ok := literal(n); ok {
				note(at(n), text)
			}
		case *ast.FuncDecl:
			comment(n.Doc)
		case *ast.GenDecl:
			comment(n.Doc)
		case *ast.TypeSpec:
			comment(n.Doc, n.Comment)
		case *ast.ValueSpec:
			comment(n.Doc, n.Comment)
		case *ast.Field:
			comment(n.Doc, n.Comment)
		}
		return true
	})
	return nil
}

// literal returns the text of a string literal, or of literals joined by +.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, both := literal(e.Y)
		return left + right, ok && both && e.Op == token.ADD
	}
	return "", false
}

// screen is a block of output. Like docs/commands.md it is generated from texts in the code.
var screen = regexp.MustCompile("(?s)```console\n.*?\n```")

// paragraphs notes the paragraphs of a document.
func paragraphs(path, name string, note func(position, text string)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text = screen.ReplaceAllFunc(text, func(block []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(block, []byte("\n"))) })
	line := 1
	for p := range bytes.SplitSeq(text, []byte("\n\n")) {
		note(name+":"+strconv.Itoa(line), string(p))
		line += bytes.Count(p, []byte("\n")) + 2
	}
	return nil
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]int{
		"a job that is\n  told to wait":           1,
		"there is no job":                         0,
		"the job is no longer there":              0,
		"an empty list is no error":               1,
		"llama-7b has been waiting since 07:13":   0,
		"llama-7b waits since %s, for want of it": 2,
		"the victim of a loop":                    1,
	} {
		if got := faults("f:1", text); len(got) != want {
			t.Errorf("%q: %d faults, want %d: %v", text, len(got), want, got)
		}
	}
}

// TestFactLabels: a fact of an error has one of the labels of docs/style.md where it
// lists names or has somebody else's words.
func TestFactLabels(t *testing.T) {
	instead := map[string]string{"near": "did you mean", "similar": "did you mean", "similar fields": "did you mean", "it has": "available",
		"has": "available, or found", "it takes": "must be", "server says": "message", "it says": "message", "because": "reason", "the AWS SDK says": "message",
		"understood": "supported", "it can check": "supported", "it holds": "found"}
	label := regexp.MustCompile(`WithFact\("([^"]*)"`)
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range label.FindAllSubmatch(data, -1) {
			if better := instead[string(m[1])]; better != "" {
				t.Errorf("%s: label %q; write: %s", path, m[1], better)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
