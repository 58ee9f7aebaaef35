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
type unset struct {
	name, path string
	// allowed: the user allows it, or the container has variables from objects that are not known.
	allowed bool
}

// unsetPlaceholders finds the placeholders that a program would get as text: in the
// command, the arguments and the environment of containers. Kubernetes replaces only
// $(NAME) there. Not among them are variables of the container, which its program may
// read, the variables of shell scripts, and text that the template does not have, such as
// a flag's. A name is listed once, and not as allowed if it is an error elsewhere.
func unsetPlaceholders(t *parse.Template, objects []map[string]any, known map[string]any, allowed []string) []unset {
	if t.Verbatim {
		return nil
	}
	var out []unset
	add := func(u unset) {
		i := slices.IndexFunc(out, func(o unset) bool { return o.name == u.name })
		switch {
		case i < 0:
			out = append(out, u)
		case out[i].allowed && !u.allowed:
			out[i] = u
		}
	}
	for _, o := range objects {
		for _, pods := range jobobject.PodTemplates(o) {
			for _, list := range []string{"initContainers", "containers"} {
				at := manifest.Location{Path: manifest.JoinPath(manifest.JoinPath(pods.At, "spec"), list)}
				containers, _ := jobobject.Inner(pods.Template, "spec")[list].([]any)
				for i, item := range containers {
					c, _ := item.(map[string]any)
					more := len(jobobject.MapsIn(c["envFrom"])) > 0
					for _, word := range programTexts(c) {
						for _, m := range (manifest.Location{Script: true}).Mentions(word.text) {
							_, has := known[m.Name]
							_, parameter := t.Param(m.Name)
							if has || word.shell && !parameter || !slices.Contains(t.Mentioned, m.Name) || jobobject.Named(c["env"], m.Name) != nil {
								continue
							}
							add(unset{m.Name, at.Item(i).Path + "." + word.field, more || slices.Contains(allowed, m.Name)})
						}
					}
				}
			}
		}
	}
	return out
}

// splitAllowed divides placeholders into errors and those that are allowed.
func splitAllowed(all []unset) (wrong, allowed []unset) {
	for _, u := range all {
		if u.allowed {
			allowed = append(allowed, u)
		} else {
			wrong = append(wrong, u)
		}
	}
	return wrong, allowed
}

// programText is a text for a program.
type programText struct {
	text, field string
	shell       bool // a shell reads it
}

// programTexts returns the words of a container's command and arguments, and the values of its environment.
func programTexts(c map[string]any) (out []programText) {
	var words commandWords
	for _, key := range []string{"command", "args"} {
		list, _ := c[key].([]any)
		for i, w := range list {
			word := manifest.TextOf(w)
			out = append(out, programText{word, manifest.Location{Path: key}.Item(i).Path, words.script(word) || strings.Contains(word, "\n")})
		}
	}
	env, _ := c["env"].([]any)
	for i, item := range env {
		e, _ := item.(map[string]any)
		out = append(out, programText{manifest.TextOf(e["value"]), manifest.Location{Path: "env"}.Item(i).Path + ".value", false})
	}
	return out
}

// commandWords reads the words of a command one after the other.
type commandWords struct {
	shell   bool // the last program is a shell, and its options are not over
	command bool // the shell has -c
	value   bool // the next word is the value of an option
}

// script reports whether a word is the script of a shell: the first word after -c and the
// options (POSIX, "sh").
func (w *commandWords) script(word string) bool {
	switch {
	case isShell(word):
		*w = commandWords{shell: true}
	case !w.shell:
	case w.value:
		w.value = false
	case strings.HasPrefix(word, "--"):
	case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
		w.command = w.command || word[0] == '-' && strings.Contains(word, "c")
		w.value = strings.HasSuffix(strings.ToLower(word), "o")
	default:
		w.shell = false
		return w.command
	}
	return false
}

func isShell(word string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "ksh"}, path.Base(word))
}
