package templates

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Param is a parameter of a template: a placeholder that a value fills in.
type Param struct {
	Name string
	// Type is string, int, number, bool, quantity or list. It is empty for a
	// placeholder that the template does not declare; its value is then typed as
	// YAML types it.
	Type     string
	Default  any
	Required bool
	Help     string
	Enum     []string
	// Fixed: the value is the default's, and who uses the template cannot change it.
	Fixed bool
	// Declared: the template's header names it. Otherwise it was found where only
	// a parameter makes sense, such as a number, an image or a name.
	Declared bool
	// Flag is the start-job flag that gives the same value, "" if none does.
	Flag string

	line int
	said any // the default as it is written, where that is known
}

// Template is a parsed manifest with its parameters.
type Template struct {
	Name string
	// Source is "embedded" or the file's path.
	Source string
	// Help says in a line what the template is for.
	Help   string
	Params []Param
	// Text is the template as written.
	Text []byte

	docs  []*node
	fixed []fixedPath
	// mentioned holds every name that occurs as a placeholder anywhere, scripts
	// included.
	mentioned []string
}

// Param returns the parameter of that name.
func (t *Template) Param(name string) (Param, bool) {
	for _, p := range t.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// Kinds returns the kinds of the template's objects in order.
func (t *Template) Kinds() []string {
	var out []string
	for _, d := range t.docs {
		out = append(out, d.get("kind").str())
	}
	return out
}

// Parse reads a template. name is how people call it, source where it is from.
// A fault in the file is an error with exit code Usage that lists every fault
// that was found, with its line.
func Parse(name, source string, data []byte) (*Template, error) {
	return parse(name, source, data, 0)
}

// parse is Parse with a bound on the faults (see report).
func parse(name, source string, data []byte, most int) (*Template, error) {
	docs, err := parseDocuments(data)
	if err != nil {
		return nil, broken(source, err)
	}
	t := &Template{Name: name, Source: source, Text: data}
	h, rest, err := readHeader(docs, data)
	faults := flat(err)
	t.Help, t.Params, t.fixed, t.docs = h.help, h.params, h.fixed, flattenLists(rest)
	wrong := t.checkDocuments()
	if wrong != nil && len(faults) == 0 && most == 0 {
		return nil, wrong
	}
	faults = append(faults, flat(wrong)...)
	if wrong == nil {
		faults = append(faults, t.layFixed()...)
	}
	faults = append(faults, t.findPlaceholders()...)
	if faults = append(faults, t.faults(most)...); len(faults) > 0 {
		return nil, broken(source, faults...)
	}
	return t, nil
}

// faults checks the documents against their kinds' fields; most bounds how many
// faults are looked for (see report).
func (t *Template) faults(most int) []error {
	r := &report{most: most}
	for _, d := range t.docs {
		r.foreign(d, place{})
		checkObject(d, r, false)
	}
	return r.faults
}

// flattenLists replaces "kind: List" documents by their items.
func flattenLists(docs []*node) []*node {
	var out []*node
	for _, d := range docs {
		if items := d.get("items"); d.get("kind").str() == "List" && items != nil && items.kind == listNode {
			out = append(out, items.items...)
			continue
		}
		out = append(out, d)
	}
	return out
}

// checkDocuments makes sure that each document is an object with a kind.
func (t *Template) checkDocuments() error {
	if len(t.docs) == 0 {
		return broken(t.Source, faultf(0, "it holds no object"))
	}
	var faults []error
	for _, d := range t.docs {
		if isConfig(d) {
			return errs.Usagef("%s is a configuration file of HyperPod CLI v2, not a manifest", t.Source).WithTry("hyperpod start-job -f " + t.Source)
		}
		switch {
		case d.kind != mapNode:
			// The text itself is not shown: a wrong file may hold secrets.
			faults = append(faults, faultf(d.line, "a manifest is a map with apiVersion and kind, and this is none"))
		case d.get("apiVersion").str() == "":
			faults = append(faults, faultf(d.line, "apiVersion is missing"))
		case d.get("kind").str() == "":
			faults = append(faults, faultf(d.line, "kind is missing"))
		default:
			if f := checkKind(d); f != nil {
				faults = append(faults, f)
			}
		}
	}
	if len(faults) > 0 {
		return broken(t.Source, faults...)
	}
	return nil
}

// isConfig tells a start-job configuration file of the official CLI v2 by its
// two sections.
func isConfig(d *node) bool {
	return d.get("kind") == nil && (d.get("training_cfg") != nil || d.get("cluster") != nil && d.get("env_vars") != nil)
}

// checkKind finds misspelt kinds of the API groups that are known.
func checkKind(d *node) error {
	apiVersion, kind := d.get("apiVersion").str(), d.get("kind").str()
	group := groupOf(apiVersion)
	var known []string
	for _, j := range kinds.Jobs() {
		if j.Group == group && group != "batch" {
			known = append(known, j.Kind)
		}
	}
	if len(known) == 0 || slices.Contains(known, kind) {
		return nil
	}
	near := errs.Near(kind, known)
	same := slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, kind) })
	if len(near) > 0 && (same || len(kind) > 6) { // short kinds of these groups that are not ours exist, such as MXJob
		return faultf(d.get("kind").line, "%s has no kind %s%s", apiVersion, kind, meant(near))
	}
	return nil
}

// jobNode is the document that --set leads into: the job, else the first one.
func (t *Template) jobNode() *node {
	for _, d := range t.docs {
		if _, ok := kinds.JobFor(d.get("apiVersion").str(), d.get("kind").str()); ok {
			return d
		}
	}
	return t.docs[0]
}

// unknownSet is the error for a --set that names neither a parameter nor a path.
func (t *Template) unknownSet(a Assignment) error {
	e := t.unknown(a.Key)
	near := nearPaths(t.jobNode(), a.Key)
	switch flag := flagFor(a.Key); {
	case flag != "":
		e.WithTry(flag + " " + a.Value)
	case len(near) > 0:
		e.WithFact("fields like it", strings.Join(near, ", "))
		e.WithTry("--set " + near[0] + "=" + a.Value)
	default:
		e.WithFact("else", "--set takes the path of any field, such as spec.runPolicy.backoffLimit=3")
	}
	return e
}
