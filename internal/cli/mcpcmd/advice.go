package mcpcmd

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
)

// The kinds of suggestions to a model, in place of those to a person.
const (
	addArguments = "Arguments" // to add to the call that failed
	callTool     = "Tool"      // a tool to call
)

// advised returns the notes of a command for a model: flags become the arguments of the tool, and commands become tools. What
// has no counterpart in a tool is left out of the suggestions.
func (t *toolbox) advised(c command, notes string) string {
	var out []string
	for line := range strings.SplitSeq(notes, "\n") {
		var d errs.Document
		if m := pasted().FindStringSubmatch(line); m != nil {
			if tool, ok := t.advisedLine(c, m[2]); ok {
				out = append(out, m[1]+tool)
			}
		} else if !strings.HasPrefix(line, `{"Schema":"`+errs.Schema+`"`) || json.Unmarshal([]byte(line), &d) != nil {
			out = append(out, c.inArguments(line))
		} else if text, err := output.JSONLine(t.advisedError(c, d)); err == nil {
			out = append(out, strings.TrimSuffix(string(text), "\n"))
		}
	}
	return strings.Join(out, "\n")
}

// pasted finds a command line for people below a note.
var pasted = pattern.Lazy(`^( +(?:try:)? *)hyperpod (.*)$`)

// advisedLine is advised for a command line with its note.
func (t *toolbox) advisedLine(c command, line string) (string, bool) {
	line, note, noted := strings.Cut(line, "   # ")
	words, err := shellwords.Split(line)
	if err != nil {
		return "", false
	}
	s, ok := t.advisedSuggestion(c, errs.SuggestionDocument{Kind: "Command", Args: words, Note: note})
	if noted {
		s.Line += "   # " + s.Note
	}
	return s.Line, ok
}

// advisedError is advised for an error.
func (t *toolbox) advisedError(c command, d errs.Document) errs.Document {
	d.What, d.Why = c.ofInput(c.inArguments(d.What)), c.inArguments(d.Why)
	d.Message = (&errs.Error{What: d.What, Why: d.Why}).Error()
	for i, f := range d.Facts {
		if !slices.Contains(fromOutside, f.Label) {
			d.Facts[i] = errs.Fact{Label: c.ofInput(f.Label), Text: c.inArguments(f.Text)}
		}
	}
	suggestions := []errs.SuggestionDocument{}
	for _, s := range d.Suggestions {
		if s, ok := t.advisedSuggestion(c, s); ok {
			suggestions = append(suggestions, s)
		}
	}
	d.Suggestions = suggestions
	return d
}

// fromOutside are the labels of facts that repeat the words of a server (docs/style.md).
var fromOutside = []string{"message", "reason", "found"}

// advisedSuggestion is advised for a suggestion. ok is false where no tool does it.
func (t *toolbox) advisedSuggestion(c command, s errs.SuggestionDocument) (out errs.SuggestionDocument, ok bool) {
	out.Note = c.inArguments(s.Note)
	switch s.Kind {
	case "Options":
		given, ok := c.given(s.Args)
		out.Kind, out.Line = addArguments, line(given)
		out.Args = []string{out.Line}
		return out, ok && len(given) > 0
	case "Command":
		for _, tool := range append([]command{c}, commands()...) {
			if !t.has(tool) {
				continue
			}
			if given, ok := tool.called(s.Args, tool.name == c.name || tool.write != ""); ok {
				out.Kind, out.Line = callTool, tool.name+" "+line(given)
				out.Args = []string{tool.name, line(given)}
				return out, true
			}
		}
	}
	return out, false
}

// called returns the arguments with which a tool does what a command line does. own means that the line may lack the flags that
// the tool adds itself.
func (c command) called(line []string, own bool) (map[string]any, bool) {
	words := strings.Fields(c.line)
	fixed := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
	for _, n := range []int{len(words), fixed} {
		if n < 0 || n < len(words) && !own || len(line) < n || !slices.Equal(line[:n], words[:n]) {
			continue
		}
		if given, ok := c.given(line[n:]); ok && c.complete(given) {
			return given, true
		}
	}
	return nil, false
}

// given returns the arguments that the words of a command line stand for. ok is false if one of them is not for this tool.
func (c command) given(list []string) (out map[string]any, ok bool) {
	out = map[string]any{}
	var positional []argument
	for _, a := range c.args {
		if a.flag == "" {
			positional = append(positional, a)
		}
	}
	for len(list) > 0 {
		word, value, has := strings.Cut(list[0], "=")
		list = list[1:]
		if ofServer[word] {
			continue
		}
		a, isFlag := c.argument(word)
		switch {
		case !isFlag && (strings.HasPrefix(word, "-") || len(positional) == 0):
			return nil, false
		case !isFlag:
			if has {
				word += "=" + value
			}
			a, value, positional = positional[0], word, positional[1:]
		case a.kind == "boolean":
			if out[a.name] = true; has {
				out[a.name] = value == "true"
			}
			continue
		case !has:
			if len(list) == 0 {
				return nil, false
			}
			value, list = list[0], list[1:]
		}
		if a.flag == stdin {
			value = fileText
		}
		switch a.kind {
		case "integer":
			n, err := strconv.Atoi(strings.TrimSuffix(value, a.unit))
			if err != nil {
				return nil, false
			}
			out[a.name] = n
		case "array":
			before, _ := out[a.name].([]string)
			out[a.name] = append(before, value)
		default:
			out[a.name] = value
		}
	}
	return out, true
}

// fileText stands for the text of a file.
const fileText = "TEXT"

// complete reports whether arguments have all that a tool requires. For the text of a file, it adds a word in capitals, like
// those in other suggestions.
func (c command) complete(given map[string]any) bool {
	for _, a := range c.args {
		if a.required && a.flag == stdin {
			given[a.name] = fileText
		}
		if _, ok := given[a.name]; a.required && !ok {
			return false
		}
	}
	return true
}

// ofServer are flags that the server has got itself, and that suggestions repeat. Those with a value have it behind a "=".
var ofServer = map[string]bool{"--sandbox": true, "--snapshot": true, "--kubeconfig": true, "--context": true}

// argument returns the argument behind a flag: --namespace or -n.
func (c command) argument(flag string) (argument, bool) {
	for _, a := range c.args {
		isFile := a.flag == stdin && c.takesFile()
		switch {
		case a.flag != "" && a.flag != stdin && flag == "--"+a.flag, a.short != "" && flag == "-"+a.short, isFile && (flag == "--config-file" || flag == "-f"):
			return a, true
		}
	}
	return argument{}, false
}

// flags finds the flags in a text, and what stands in quotes, where they are somebody's words.
var flags = pattern.Lazy(`"[^"]*"|(^|[\s(,;:'=])(--[a-z][a-z0-9-]*|-[A-Za-z])\b`)

// inArguments returns a text with the names of arguments in place of flags.
func (c command) inArguments(text string) string {
	return flags().ReplaceAllStringFunc(text, func(found string) string {
		at := strings.IndexByte(found, '-')
		if at < 0 || found[0] == '"' {
			return found
		}
		a, ok := c.argument(found[at:])
		if !ok {
			return found
		}
		return found[:at] + a.name
	})
}

// wideHint finds what the notes of a table say about -o wide, with the flags behind it, and what stands in quotes.
var wideHint = pattern.Lazy(`"[^"\n]*"| \((?:see )?-o wide(?:: [^()\n]*|, ([^()\n]*))?\)`)

// ofTable returns a table without its hints at -o wide, which no argument stands for. The flags beside it become arguments.
func (c command) ofTable(text string) string {
	return wideHint().ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '"' {
			return found
		}
		if rest := wideHint().FindStringSubmatch(found)[1]; rest != "" {
			return " (see " + c.inArguments(rest) + ")"
		}
		return ""
	})
}

// ofInput returns a text that begins with the name of stdin, which is "-", with that of the argument.
func (c command) ofInput(text string) string {
	for _, a := range c.args {
		if a.flag == stdin && (text == "-" || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "-:")) {
			return a.name + text[1:]
		}
	}
	return text
}

// line returns arguments as JSON.
func line(given map[string]any) string {
	text, _ := json.Marshal(given) // of strings, numbers and booleans
	return string(text)
}

// refusal returns an error about a call as the tool's answer.
func (t *toolbox) refusal(err error) answer {
	text, _ := output.JSONLine(errs.DocumentOf(err, false))
	return answer{texts: []string{strings.TrimSuffix(string(text), "\n")}, failed: true}
}
