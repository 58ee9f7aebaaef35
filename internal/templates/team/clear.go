package team

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
)

// refuseSecrets refuses a template with secret values as plain text: everyone who can read
// ConfigMaps of the namespace can read it. The error names the fields, not the values.
func refuseSecrets(t *parse.Template) error {
	var found []string
	for _, doc := range t.Docs {
		kind := doc.Get("kind").Str()
		name := kind + " " + doc.Get("metadata").Get("name").Str()
		for _, path := range secretsIn(kind, doc) {
			found = append(found, strings.TrimSpace(name)+": "+path)
		}
	}
	if len(found) == 0 {
		return nil
	}
	e := errs.Usagef("the template has secret values as plain text: everyone who can read the ConfigMaps of the namespace could read them")
	for _, f := range found {
		e.WithFact("field", f)
	}
	return e.WithAdvice("replace each value with a parameter such as ${TOKEN}, or leave the Secret out and create it separately")
}

// option matches a command-line flag that names a secret, and its value.
var option = pattern.Lazy(`(?:^|\s)--?([A-Za-z0-9_.-]+)(?:[=\s]+)(\S+)`)

// secretsIn returns the paths of the plain-text secrets in an object: the data of a Secret, and environment
// variables, annotations and flags whose names suggest secrets.
func secretsIn(kind string, doc *manifest.Node) (paths []string) {
	clear := func(text string, at manifest.Location) bool {
		return text != "" && len(at.Mentions(text)) == 0
	}
	lists := map[string][]string{} // the words of each command, to see an option and its value together
	manifest.Visit(doc, manifest.Location{}, func(n *manifest.Node, at manifest.Location) {
		text := manifest.TextOf(n.Plain())
		switch top, _, _ := strings.Cut(at.Path, "."); {
		case kind == "Secret" && (top == "data" || top == "stringData"):
			if clear(text, at) {
				paths = append(paths, at.Path)
			}
			return
		}
		if _, key, ok := strings.Cut(at.Path, "annotations"); ok && secret.Name(strings.Trim(key, `."[]`)) && clear(text, at) {
			paths = append(paths, at.Path)
			return
		}
		list, index, inList := strings.Cut(at.Path, "[")
		if cut := strings.LastIndex(at.Path, "["); cut >= 0 {
			list, index, inList = at.Path[:cut], at.Path[cut:], true
		}
		field := list[strings.LastIndex(list, ".")+1:]
		if !inList || field != "command" && field != "args" || strings.Contains(index, ".") {
			return
		}
		lists[list] = append(lists[list], text)
		line := text
		if words := lists[list]; len(words) > 1 && strings.HasPrefix(words[len(words)-2], "-") && !strings.Contains(words[len(words)-2], "=") {
			line = words[len(words)-2] + " " + text
		}
		for _, m := range option().FindAllStringSubmatch(line, -1) {
			if secret.Name(m[1]) && !strings.HasPrefix(m[2], "-") && clear(m[2], at) && !strings.Contains(m[2], "$") {
				paths = append(paths, at.Path)
				return
			}
		}
	})
	env(doc, manifest.Location{}, func(at manifest.Location, name, value string) {
		if secret.Name(name) && clear(value, at) && !strings.Contains(value, "$") {
			paths = append(paths, at.Path)
		}
	})
	return paths
}

// env visits the variables of environments that have a value.
func env(n *manifest.Node, at manifest.Location, visit func(at manifest.Location, name, value string)) {
	for _, f := range n.Fields {
		inside := at.Field(f.Key)
		if f.Key == "env" {
			for i, item := range f.Value.Items {
				if value := item.Get("value"); value != nil {
					visit(inside.Item(i).Field("value"), item.Get("name").Str(), manifest.TextOf(value.Plain()))
				}
			}
			continue
		}
		env(f.Value, inside, visit)
	}
	for i, item := range n.Items {
		env(item, at.Item(i), visit)
	}
}
