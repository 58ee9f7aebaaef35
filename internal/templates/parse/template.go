package parse

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// Param is a parameter of a template: a value replaces its placeholders.
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

	Line, Column int
	written      any // the default as it is written, where that is known
}

// Embedded is the Source of the templates that come with the program.
const Embedded = "embedded"

// Part is a file whose text is part of a template's.
type Part struct {
	Source string
	Line   int // of the template's text before the first one of the file
}

// Template is a parsed manifest with its parameters.
type Template struct {
	Name string
	// Source is Embedded or the file's path.
	Source string
	// Help says in a line what the template is for.
	Help   string
	Params []Param
	// Verbatim: commands, arguments and environment values without a parameter are meant as
	// they are written. The template was made from a job that ran.
	Verbatim bool
	// Plain: the text has no header. It is a manifest of the user's own.
	Plain bool
	// Allow decides about fields that the known types of the kinds lack.
	Allow schema.Allow
	// Text is the template as written.
	Text []byte
	// Parts are the files whose texts make up the text, in their order; nil for one file.
	Parts []Part

	Docs  []*manifest.Node
	Fixed []FixedPath
	// starts are the positions of all documents, also of those that cannot be read, in their order.
	starts []manifest.Position
	// mentioned holds every name that occurs as a placeholder anywhere, scripts
	// included.
	Mentioned []string
}

// Param returns the parameter with a name.
func (t *Template) Param(name string) (Param, bool) {
	for _, p := range t.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// Place returns the file and the position there of a position in the template's text.
func (t *Template) Place(at manifest.Position) (source string, there manifest.Position) {
	source, there = t.Source, at
	for _, p := range t.Parts {
		if at.Line > p.Line {
			source, there.Line = p.Source, at.Line-p.Line
		}
	}
	return source, there
}

// Only returns a template of some of the documents. It shares them with t.
func (t *Template) Only(docs ...int) *Template {
	out := *t
	out.Docs = make([]*manifest.Node, len(docs))
	for i, n := range docs {
		out.Docs[i] = t.Docs[n]
	}
	return &out
}

// Kinds returns the kinds of the template's objects in order.
func (t *Template) Kinds() []string {
	var out []string
	for _, d := range t.Docs {
		out = append(out, d.Get("kind").Str())
	}
	return out
}

// Text reads a template. name is what people call it, source is where it comes from. If the text has faults,
// the error has exit code Usage and lists every fault with its line; BrokenText returns the text of such a
// template.
func Text(name, source string, data []byte) (*Template, error) {
	return TextAllowing(name, source, data, nil)
}

// TextAllowing is Text for a template whose objects may have fields that the known types of their kinds lack.
func TextAllowing(name, source string, data []byte, allow schema.Allow) (*Template, error) {
	t, _, err := Read(name, source, data, Screenful, allow)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Read is Text with at most so many faults in the error. With an error, it also returns what could be read:
// parts with a fault are Faulty or left out. complete reports whether no document is left out.
func Read(name, source string, data []byte, most int, allow schema.Allow) (t *Template, complete bool, err error) {
	t = &Template{Name: name, Source: source, Text: data, Allow: allow}
	docs, faults := manifest.ParseAll(data)
	h, rest, wrong := readHeader(docs, data)
	faults = append(faults, wrong...)
	t.Plain = len(rest) == len(docs) && h.help == "" && len(h.params) == 0 && len(h.fixed) == 0
	t.Help, t.Params, t.Fixed, t.Docs = h.help, h.params, h.fixed, flattenLists(rest)
	t.starts = startsOf(docs, t.Docs)
	for _, d := range t.Docs {
		if isConfig(d) {
			err := broken(t, []error{manifest.Faultf(d.Line, "this is a configuration file of HyperPod CLI v2, not a manifest").Col(d.Column)}, most)
			return nil, false, err.Suggest(suggest.StartFromFile(source))
		}
	}
	if len(t.Docs) == 0 && len(faults) == 0 {
		faults = append(faults, manifest.Faultf(0, "the file has no objects"))
	}
	all := len(t.Docs)
	faults = append(faults, t.checkDocuments()...)
	if complete = len(t.Docs) == all; complete && all > 0 {
		faults = append(faults, t.applyFixed()...)
	}
	faults = append(faults, t.findPlaceholders()...)
	if faults = tidy(append(faults, t.faults(most)...)); len(faults) > 0 {
		err = broken(t, faults, most)
	}
	return t, complete, err
}

// faults checks the documents against the fields of their kinds, and stops one fault after most.
func (t *Template) faults(most int) []error {
	r := &schema.Report{Most: most + 1, Allow: t.Allow}
	for _, d := range t.Docs {
		r.Foreign(d, manifest.Location{})
		schema.Check(d, r, false)
	}
	return r.Faults
}

// flattenLists replaces documents of kind List, and of lists of one kind such as JobList, by their items.
func flattenLists(docs []*manifest.Node) []*manifest.Node {
	var out []*manifest.Node
	for _, d := range docs {
		if items := d.Get("items"); strings.HasSuffix(d.Get("kind").Str(), "List") && items != nil && items.Kind == manifest.ListNode {
			out = append(out, flattenLists(items.Items)...)
			continue
		}
		out = append(out, d)
	}
	return out
}

// checkDocuments checks that each document is an object with a kind. It leaves out documents that are not, and
// corrects a misspelt kind.
func (t *Template) checkDocuments() (faults []error) {
	kept := t.Docs[:0:0]
	for _, d := range t.Docs {
		faultf := func(format string, args ...any) {
			faults = append(faults, manifest.Faultf(d.Line, format, args...).Col(d.Column))
		}
		version, kind := d.Get("apiVersion").Str(), d.Get("kind").Str()
		switch {
		case d.Get("apiVersion").IsFaulty(), d.Get("kind").IsFaulty():
			continue
		case d.Kind != manifest.MapNode:
			// The text itself is not shown: a wrong file may hold secrets.
			if !d.Faulty {
				faultf("a manifest must be a map with apiVersion and kind")
			}
			continue
		case kind == "List" && d.Get("items") != nil && d.Get("items").Kind == manifest.MapNode:
			faults = append(faults, manifest.Faultf(d.Get("items").Line, "items of a List must be a list").Col(d.Get("items").Column))
			continue
		case version == "" && kind == "":
			switch {
			case isGovernance(d):
				faultf("this is a governance file, not a manifest")
			case !d.Faulty:
				faultf("apiVersion and kind are missing")
			}
			continue
		case kind == "":
			faultf("kind is missing")
			continue
		case version == "":
			known := schema.VersionOf(kind)
			if known == "" {
				faultf("apiVersion is missing")
				continue
			}
			faultf("apiVersion is missing: use %[2]s for a %[1]s", kind, known)
			d.Put("apiVersion", known)
		default:
			if near := misspelt(version, kind); len(near) > 0 {
				n := d.Get("kind")
				faults = append(faults, manifest.Faultf(n.Line, "%s has no kind %s%s", version, kind, manifest.DidYouMean(near)).Col(n.Column))
				d.Put("kind", near[0])
			}
		}
		kept = append(kept, d)
	}
	t.Docs = kept
	return faults
}

// isConfig reports whether the document is a configuration file of the official CLI v2, by its two sections.
func isConfig(d *manifest.Node) bool {
	return d.Get("kind") == nil && (d.Get("training_cfg") != nil || d.Get("cluster") != nil && d.Get("env_vars") != nil)
}

// isGovernance reports a governance file: it has teams and no kind.
func isGovernance(d *manifest.Node) bool {
	return d.Get("kind") == nil && d.Get("teams") != nil
}

// misspelt returns the known kinds whose names are near a misspelt kind.
func misspelt(apiVersion, kind string) []string {
	group := manifest.GroupOf(apiVersion)
	var known []string
	for _, j := range kinds.Jobs() {
		if j.Group == group && group != "batch" {
			known = append(known, j.Kind)
		}
	}
	if slices.Contains(known, kind) {
		return nil
	}
	same := slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, kind) })
	if !same && len(kind) <= 6 { // short kinds of these groups that are not ours exist, such as MXJob
		return nil
	}
	return slices.DeleteFunc(errs.Near(kind, known), func(k string) bool { return extends(kind, k) })
}

// extends reports a kind that is another one with a word more, such as PodTemplate: no misspelling.
func extends(kind, known string) bool {
	return len(kind) > len(known)+2 && strings.Contains(strings.ToLower(kind), strings.ToLower(known))
}

// JobNode returns the document that --set changes: the job, or the first document.
func (t *Template) JobNode() *manifest.Node {
	return t.Docs[max(0, t.Job())]
}

// Job returns the place of the job among the documents, -1 where there is none.
func (t *Template) Job() int {
	all := kinds.Main(len(t.Docs), func(i int) (string, string) { return t.Docs[i].Get("apiVersion").Str(), t.Docs[i].Get("kind").Str() })
	if len(all) == 0 {
		return -1
	}
	return all[0]
}

// UnknownSet returns the error for a --set that names neither a parameter nor a path.
func (t *Template) UnknownSet(a fieldpath.Assignment) error {
	e := t.Unknown(a.Key)
	near := schema.NearPaths(t.JobNode(), a.Key)
	switch flag := setting.FlagOfPlaceholder(a.Key); {
	case flag != "":
		e.Suggest(errs.Option(flag, a.Value))
	case len(near) > 0:
		e.WithFact("did you mean", strings.Join(near, ", "))
		e.Suggest(setting.Set.Option(near[0] + "=" + a.Value))
	default:
		e.WithFact("or", setting.Set.Flag()+" takes the path of any field, such as spec.runPolicy.backoffLimit=3")
	}
	return e
}
