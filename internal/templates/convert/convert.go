package convert

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fixed"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Conversion describes how FromObjects makes a template.
type Conversion struct {
	// Name and Source are the template's.
	Name, Source string
	// Help is its description.
	Help string
	// Repeat reports that the same people start the same job again. Its queue and the values of its environment
	// stay, and only the name becomes a parameter.
	Repeat bool
	// Origin is the ParametersAnnotation of a repeated job: its parameters stay parameters.
	Origin string
}

// FromObjects turns the objects of a manifest, or a job of a cluster (see Clean), into a template. The defaults
// of its parameters are the values of the job. Rendered with only a name, the template makes the same job;
// FromObjects checks this. If the job is not repeated, the instance type may add what the job leaves open, such
// as the number of processes. notes are for the user.
func FromObjects(objects []map[string]any, c Conversion) (t *parse.Template, notes []string, err error) {
	m := &maker{Conversion: c}
	for _, o := range objects {
		object, _ := jobobject.CopyOf(o).(map[string]any)
		m.objects = append(m.objects, object)
	}
	m.job, m.at = fixed.Target(m.objects)
	view, ok := jobobject.Of(m.job)
	if !ok {
		return nil, nil, errs.Usagef("%s has no job to make a template from", c.Source).
			WithFact("supported", strings.Join(kinds.JobNames(), ", "))
	}
	if m.name = manifest.TextOf(jobobject.Inner(m.job, "metadata")["name"]); m.name == "" {
		return nil, nil, errs.Usagef("the job in %s requires a name", c.Source)
	}
	if len(m.name) > validation.DNS1123SubdomainMaxLength {
		return nil, nil, errs.Usagef("the name of the job in %s is too long: at most %d characters", c.Source, validation.DNS1123SubdomainMaxLength)
	}
	m.pods = podNames(m.name)
	m.prepare(view)
	want, err := m.expected()
	if err != nil {
		return nil, nil, errs.Wrap(err, "cannot make a template from "+c.Source)
	}
	// Placeholders that would change the job, because a rendering fills in more
	// where they are, are left out.
	for skip := 0; ; skip++ {
		t, err = m.build(skip)
		if err != nil {
			return nil, nil, err
		}
		t.Verbatim = true
		r, err := render.Objects(t, values.Values{Name: m.name, Params: m.secrets})
		if err == nil && m.same(want, r.Objects) {
			return t, m.notes, nil
		}
		if skip == len(m.optional) {
			if err == nil {
				err = errs.New("the template would make a different job", "it cannot keep one of the values")
			}
			return nil, nil, errs.Wrap(err, "cannot make a template from "+c.Source)
		}
	}
}

// substitution is a value that becomes a placeholder.
type substitution struct {
	param parse.Param
	put   func(placeholder string)
}

type maker struct {
	Conversion
	objects       []map[string]any
	job           map[string]any
	at            int
	name          string
	substitutions []substitution
	// optional names parameters in the order in which they are given up.
	optional []string
	secrets  map[string]any
	pods     *regexp.Regexp
	notes    []string
}

// prepare removes what belongs to one place only and finds the substitutions.
func (m *maker) prepare(view *jobobject.View) {
	if !m.Repeat {
		for _, o := range m.objects {
			delete(jobobject.Inner(o, "metadata"), "namespace")
			dropLabel(o, kinds.QueueLabel)
		}
	}
	m.substitutions = append(m.substitutions, substitution{parse.Param{Name: setting.Name.Placeholder(), Type: "string", Required: true, Help: "the job's name"}, func(p string) {
		jobobject.Inner(m.job, "metadata")["name"] = p
	}})
	m.findNodes(view)
	m.findCounts(view)
	if m.Repeat {
		m.findOrigin()
		return
	}
	m.findImage(view)
	m.findSecrets(view)
	for _, o := range m.objects {
		view, ok := jobobject.Of(o)
		if !ok {
			continue
		}
		for _, r := range view.Roles() {
			m.findType(r)
			m.findDevices(r)
		}
	}
}

func dropLabel(o map[string]any, name string) {
	all := []map[string]any{o}
	for _, pods := range jobobject.PodTemplates(o) {
		all = append(all, pods.Template)
	}
	for _, m := range all {
		if labels := jobobject.Inner(m, "metadata", "labels"); labels != nil {
			if delete(labels, name); len(labels) == 0 {
				delete(jobobject.Inner(m, "metadata"), "labels")
			}
		}
	}
}

func (m *maker) notef(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(m.notes, n) {
		m.notes = append(m.notes, n)
	}
}

// expected returns what the template must make: what the same manifest without placeholders makes.
func (m *maker) expected() ([]map[string]any, error) {
	text, err := manifest.Marshal(m.objects)
	if err != nil {
		return nil, err
	}
	plain, err := parse.TextAllowing(m.Name, m.Source, text, schema.AllowAll)
	if err != nil {
		return nil, err
	}
	plain.Verbatim = true
	r, err := render.Objects(plain, values.Values{Name: m.name})
	return r.Objects, err
}

// same compares the rendered objects with the expected ones.
func (m *maker) same(want, have []map[string]any) bool {
	if m.Repeat || len(want) != len(have) {
		return reflect.DeepEqual(want, have)
	}
	for i := range want {
		if _, _, _, same := fixed.Contains("", want[i], have[i]); !same {
			return false
		}
	}
	return true
}

// build makes the template without the first skip optional parameters.
func (m *maker) build(skip int) (*parse.Template, error) {
	skipped := map[string]bool{}
	for i := range skip {
		skipped[m.optional[len(m.optional)-1-i]] = true
	}
	before := make([]any, len(m.objects))
	for i, o := range m.objects {
		before[i] = jobobject.CopyOf(o)
	}
	var params []parse.Param
	names := map[string]bool{}
	defaults := map[string]any{}
	for _, h := range m.substitutions {
		p := h.param
		if skipped[p.Name] {
			continue
		}
		if d, has := defaults[p.Name]; has && !reflect.DeepEqual(d, p.Default) {
			continue // two places, two values: only the first is a placeholder
		}
		if !names[p.Name] {
			names[p.Name], defaults[p.Name] = true, p.Default
			p.Declared = true
			params = append(params, p)
		}
	}
	for _, o := range m.objects {
		m.escape(o, names, manifest.Location{})
	}
	for _, h := range m.substitutions {
		if d, has := defaults[h.param.Name]; has && reflect.DeepEqual(d, h.param.Default) {
			h.put("${" + h.param.Name + "}")
		}
	}
	text, err := manifest.Marshal(m.objects)
	for i := range m.objects { // in place, as the substitutions lead into these maps
		restore(m.objects[i], before[i])
	}
	if err != nil {
		return nil, err
	}
	return parse.TextAllowing(m.Name, m.Source, append(parse.HeaderText(m.Help, params, nil), text...), schema.AllowAll)
}

// restore gives every scalar below dst its value in src, which has the same shape.
func restore(dst, src any) {
	switch d := dst.(type) {
	case map[string]any:
		s, _ := src.(map[string]any)
		for k, v := range d {
			switch v.(type) {
			case map[string]any, []any:
				restore(v, s[k])
			default:
				d[k] = s[k]
			}
		}
	case []any:
		s, _ := src.([]any)
		for i, v := range d {
			switch v.(type) {
			case map[string]any, []any:
				restore(v, s[i])
			default:
				d[i] = s[i]
			}
		}
	}
}

// inLabels matches the places where the job's name identifies the job: its labels, and what selects by them.
var inLabels = pattern.Lazy(`(?:^|\.)(?:labels|matchLabels|matchExpressions)[.\[]`)

// escape keeps text that looks like one of the template's placeholders as it is,
// and makes the job's name one: in labels, and in front of the names of pods.
func (m *maker) escape(v any, params map[string]bool, at manifest.Location) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = m.escape(item, params, at.Field(k))
		}
	case []any:
		for i, item := range v {
			v[i] = m.escape(item, params, at.Item(i))
			if i == 0 || !at.Script {
				continue
			}
			// A flag and its number as two words.
			number, _ := v[i].(string)
			if name := countParams[manifest.TextOf(v[i-1])]; params[name] && manifest.IntText().MatchString(number) {
				v[i] = "${" + name + "}"
			}
		}
	case string:
		forms := at.Forms(v)
		s := forms.ReplaceAllStringFunc(v, func(found string) string {
			if params[manifest.Mentioned(forms.FindStringSubmatch(found)).Name] {
				return "$" + found
			}
			return found
		})
		if s == m.name && inLabels().MatchString(at.Path) {
			return "${" + setting.Name.Placeholder() + "}"
		}
		if at.Script {
			s, _ = countsIn(s, params)
		}
		return m.pods.ReplaceAllString(s, "${1}${3}$${"+setting.Name.Placeholder()+"}${2}${4}")
	}
	return v
}

// podNames matches the job's name at the front of a pod's, as in a rendezvous
// address (NAME-worker-0), and as the rendezvous' own name.
func podNames(job string) *regexp.Regexp {
	name := regexp.QuoteMeta(job)
	return regexp.MustCompile(`(\b)` + name + `(-(?:worker|master|launcher|pods?)\b)|(--rdzv[-_]id=)` + name + `(\s|$)`)
}

// Generalize replaces the values of a manifest without placeholders by parameters. It does not keep comments.
func Generalize(t *parse.Template) (*parse.Template, []string, error) {
	objects := make([]map[string]any, len(t.Docs))
	for i, d := range t.Docs {
		o, _ := d.Plain().(map[string]any)
		objects[i] = o
		if _, isJob := jobobject.Of(o); isJob {
			objects[i] = jobobject.Clean(o)
		}
	}
	return FromObjects(objects, Conversion{Name: t.Name, Source: t.Source, Help: t.Help})
}
