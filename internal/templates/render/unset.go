package render

import (
	"path"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// inferred returns the values of placeholders that settings gave without naming them: if a placeholder is all
// of a field and a setting wrote the field, the placeholder has that value. known are the parameters that have
// values already.
func inferred(t *parse.Template, known map[string]any, objects []map[string]any) map[string]any {
	out := map[string]any{}
	for i, doc := range t.Docs {
		if i >= len(objects) {
			break
		}
		manifest.Visit(doc, manifest.Location{}, func(n *manifest.Node, at manifest.Location) {
			m, whole := at.Whole(n.Str())
			if _, has := known[m.Name]; !whole || has || at.Script {
				return
			}
			steps, err := fieldpath.Parse(at.Path)
			if err != nil {
				return
			}
			value, found := fieldpath.Lookup(objects[i], steps)
			if _, again := out[m.Name]; !found || again || manifest.Unfilled(manifest.TextOf(value)) {
				return
			}
			switch value.(type) {
			case nil, map[string]any, []any:
			default:
				out[m.Name] = value
			}
		})
	}
	return out
}

// unset is a placeholder without a value, and the field that has it.
type unset struct{ name, path string }

// unsetPlaceholders finds the placeholders that a program would get as text: in the
// command, the arguments and the environment of containers. Kubernetes replaces only
// $(NAME) there. Not among them are variables of the container, which its program may
// read, the variables of shell scripts, text that the template does not have, such as a
// flag's, and names in allowed.
func unsetPlaceholders(t *parse.Template, objects []map[string]any, known map[string]any, allowed []string) []unset {
	if t.Verbatim {
		return nil
	}
	var out []unset
	for _, o := range objects {
		for _, pods := range jobobject.PodTemplates(o) {
			for _, list := range []string{"initContainers", "containers"} {
				at := manifest.Location{Path: manifest.JoinPath(manifest.JoinPath(pods.At, "spec"), list)}
				containers, _ := jobobject.Inner(pods.Template, "spec")[list].([]any)
				for i, item := range containers {
					c, _ := item.(map[string]any)
					if len(jobobject.MapsIn(c["envFrom"])) > 0 {
						continue // its variables are not known
					}
					for _, word := range programTexts(c) {
						for _, m := range (manifest.Location{Script: true}).Mentions(word.text) {
							_, has := known[m.Name]
							_, parameter := t.Param(m.Name)
							if has || word.shell && !parameter || !slices.Contains(t.Mentioned, m.Name) || jobobject.Named(c["env"], m.Name) != nil || slices.Contains(allowed, m.Name) ||
								slices.ContainsFunc(out, func(u unset) bool { return u.name == m.Name }) {
								continue
							}
							out = append(out, unset{m.Name, at.Item(i).Path + "." + word.field})
						}
					}
				}
			}
		}
	}
	return out
}

// programText is a text for a program.
type programText struct {
	text, field string
	shell       bool // a shell reads it
}

// programTexts returns the words of a container's command and arguments, and the values of its environment.
func programTexts(c map[string]any) (out []programText) {
	shell := false
	var before string
	for _, key := range []string{"command", "args"} {
		list, _ := c[key].([]any)
		for i, w := range list {
			word := manifest.TextOf(w)
			shell = shell || strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") && isShell(before)
			before = lastProgram(before, word)
			out = append(out, programText{word, manifest.Location{Path: key}.Item(i).Path, shell || strings.Contains(word, "\n")})
		}
	}
	env, _ := c["env"].([]any)
	for i, item := range env {
		e, _ := item.(map[string]any)
		out = append(out, programText{manifest.TextOf(e["value"]), manifest.Location{Path: "env"}.Item(i).Path + ".value", false})
	}
	return out
}

// lastProgram returns the last program among the words. Flags after a shell do not replace it.
func lastProgram(before, word string) string {
	if isShell(before) && strings.HasPrefix(word, "-") {
		return before
	}
	return word
}

func isShell(word string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "ksh"}, path.Base(word))
}
