package templates

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
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

	docs  []*manifest.Node
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
		out = append(out, d.Get("kind").Str())
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
	docs, err := manifest.Parse(data)
	if err != nil {
		return nil, manifest.Broken(source, err)
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
		return nil, manifest.Broken(source, faults...)
	}
	return t, nil
}

// faults checks the documents against their kinds' fields; most bounds how many
// faults are looked for (see report).
func (t *Template) faults(most int) []error {
	r := &schema.Report{Most: most}
	for _, d := range t.docs {
		r.Foreign(d, manifest.Place{})
		schema.Check(d, r, false)
	}
	return r.Faults
}

// flattenLists replaces "kind: List" documents by their items.
func flattenLists(docs []*manifest.Node) []*manifest.Node {
	var out []*manifest.Node
	for _, d := range docs {
		if items := d.Get("items"); d.Get("kind").Str() == "List" && items != nil && items.Kind == manifest.ListNode {
			out = append(out, items.Items...)
			continue
		}
		out = append(out, d)
	}
	return out
}

// checkDocuments makes sure that each document is an object with a kind.
func (t *Template) checkDocuments() error {
	if len(t.docs) == 0 {
		return manifest.Broken(t.Source, manifest.Faultf(0, "it holds no object"))
	}
	var faults []error
	for _, d := range t.docs {
		if isConfig(d) {
			return errs.Usagef("%s is a configuration file of HyperPod CLI v2, not a manifest", t.Source).WithTry("hyperpod start-job -f " + t.Source)
		}
		switch {
		case d.Kind != manifest.MapNode:
			// The text itself is not shown: a wrong file may hold secrets.
			faults = append(faults, manifest.Faultf(d.Line, "a manifest is a map with apiVersion and kind, and this is none"))
		case d.Get("apiVersion").Str() == "":
			faults = append(faults, manifest.Faultf(d.Line, "apiVersion is missing"))
		case d.Get("kind").Str() == "":
			faults = append(faults, manifest.Faultf(d.Line, "kind is missing"))
		default:
			if f := checkKind(d); f != nil {
				faults = append(faults, f)
			}
		}
	}
	if len(faults) > 0 {
		return manifest.Broken(t.Source, faults...)
	}
	return nil
}

// isConfig tells a start-job configuration file of the official CLI v2 by its
// two sections.
func isConfig(d *manifest.Node) bool {
	return d.Get("kind") == nil && (d.Get("training_cfg") != nil || d.Get("cluster") != nil && d.Get("env_vars") != nil)
}

// checkKind finds misspelt kinds of the API groups that are known.
func checkKind(d *manifest.Node) error {
	apiVersion, kind := d.Get("apiVersion").Str(), d.Get("kind").Str()
	group := manifest.GroupOf(apiVersion)
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
		return manifest.Faultf(d.Get("kind").Line, "%s has no kind %s%s", apiVersion, kind, manifest.Meant(near))
	}
	return nil
}

// jobNode is the document that --set leads into: the job, else the first one.
func (t *Template) jobNode() *manifest.Node {
	for _, d := range t.docs {
		if _, ok := kinds.JobFor(d.Get("apiVersion").Str(), d.Get("kind").Str()); ok {
			return d
		}
	}
	return t.docs[0]
}

// unknownSet is the error for a --set that names neither a parameter nor a path.
func (t *Template) unknownSet(a Assignment) error {
	e := t.unknown(a.Key)
	near := schema.NearPaths(t.jobNode(), a.Key)
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
