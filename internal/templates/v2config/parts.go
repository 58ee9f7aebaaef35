package v2config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func wholeNumber(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil
}

// argument is one text of script_args, not yet split into words.
type argument struct {
	text string
	at   manifest.Position
}

// scriptArgs reads a list of maps (v2's form: key and value are two words), of text
// lines, or one text.
func (r *reader) scriptArgs(at string, t manifest.Tree) {
	for i, item := range itemsOf(t) {
		at := fmt.Sprintf("%s[%d]", at, i)
		switch {
		case item.IsNull():
		case item.IsMap():
			for _, e := range item.Entries() {
				r.args = append(r.args, argument{e.Key, e.At})
				if e.Value.IsNull() {
					continue // a flag without a value; v2 wrote None
				}
				if s, ok := r.text(join(at, e.Key), e.Value); ok {
					r.args = append(r.args, argument{s, e.At})
				}
			}
		default:
			if s, ok := r.text(at, item); ok {
				r.args = append(r.args, argument{s, item.At()})
			}
		}
	}
}

var shellVariable = pattern.Lazy(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// words splits the arguments as v2's shell script did. Variables of env_vars are
// written as Kubernetes fills them in, since no shell sees the arguments now.
func (r *reader) words() []string {
	var out []string
	for _, a := range r.args {
		words, err := shellwords.Split(a.text)
		if err != nil {
			r.faults.Addf(a.at, "training_cfg.script_args: %q has a quote that is not closed", manifest.Clip(a.text))
			continue
		}
		for _, w := range words {
			out = append(out, shellVariable().ReplaceAllStringFunc(w, func(m string) string {
				name := strings.Trim(m, "${}")
				if _, set := r.file.Values.Environment[name]; set {
					return "$(" + name + ")"
				}
				r.notef(a.at, "$%s in script_args stays as it is: env_vars has no %s", name, name)
				return m
			}))
		}
	}
	return out
}

// entries returns a list of maps that need all of their fields: volumes.
func entries(name, help string, volume func(map[string]string) (values.Volume, error), names ...string) Field {
	f := Field{Name: name, Help: help, Type: Entries}
	for _, name := range names {
		f.Below = append(f.Below, Field{Name: name, Type: Text})
	}
	f.read = func(r *reader, at string, t manifest.Tree) { r.entries(at, t, names, volume) }
	return f
}

func (r *reader) entries(at string, t manifest.Tree, names []string, volume func(map[string]string) (values.Volume, error)) {
	if t.IsNull() {
		return
	}
	if !t.IsList() {
		r.faults.Addf(t.At(), "%s is %s: must be a list of {%s}", at, t.Describe(), strings.Join(names, ", "))
		return
	}
	for i, item := range t.Items() {
		at := fmt.Sprintf("%s[%d]", at, i)
		if item.IsNull() {
			continue
		}
		got := map[string]string{}
		var fields []Field
		for _, name := range names {
			fields = append(fields, Field{Name: name, read: func(r *reader, at string, t manifest.Tree) {
				if s, ok := r.text(at, t); ok {
					got[name] = s
				}
			}})
		}
		r.section(at, item, fields)
		var missing []string
		for _, name := range names {
			if got[name] == "" {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			if item.IsMap() {
				r.faults.Addf(item.At(), "%s has no %s: all of %s are needed", at, strings.Join(missing, " and no "), strings.Join(names, ", "))
			}
			continue
		}
		v, err := volume(got)
		if err != nil {
			r.faults.Addf(item.At(), "%s: a name or path is wrong: names are lower-case letters, digits and -, paths are absolute and without :", at)
			continue
		}
		r.file.Values.Volumes = append(r.file.Values.Volumes, v)
	}
}

func selectorFields() []Field {
	return []Field{
		{Name: "required", Help: "Labels that a node must have, with their values.", Type: Labels,
			read: func(r *reader, at string, t manifest.Tree) {
				r.file.Values.LabelSelector.Required = r.labelValues(at, t)
			}},
		{Name: "preferred", Help: "Labels that a node should have, with their values.", Type: Labels,
			read: func(r *reader, at string, t manifest.Tree) {
				r.file.Values.LabelSelector.Preferred = r.labelValues(at, t)
			}},
		{Name: "weights", Help: "The weight, 1 to 100, of each preferred label.", Type: Weights, read: (*reader).weights},
	}
}

// selector reads label_selector: required, preferred and weights.
func (r *reader) selector(at string, t manifest.Tree) {
	if t.IsNull() {
		return
	}
	r.section(at, t, selectorFields())
	if s := r.file.Values.LabelSelector; len(s.Weights) > len(s.Preferred) {
		r.faults.Addf(t.At(), "%s has %d weights for %d preferred labels", at, len(s.Weights), len(s.Preferred))
	}
	r.selected = true
}

func (r *reader) weights(at string, t manifest.Tree) {
	switch {
	case t.IsNull():
		return
	case !t.IsList():
		r.faults.Addf(t.At(), "%s is %s: must be a list of whole numbers", at, t.Describe())
	}
	for i, item := range t.Items() {
		n, ok := item.Int()
		if !ok || n < 1 || n > 100 {
			r.faults.Addf(item.At(), "%s[%d] is %s: must be a whole number from 1 to 100", at, i, item.Describe())
		}
		r.file.Values.LabelSelector.Weights = append(r.file.Values.LabelSelector.Weights, n)
	}
}

func (r *reader) labelValues(at string, t manifest.Tree) map[string][]string {
	if t.IsNull() {
		return nil
	}
	if !t.IsMap() {
		r.faults.Addf(t.At(), "%s is %s: must be a map from a label to its values", at, t.Describe())
		return nil
	}
	out := map[string][]string{}
	for _, e := range t.Entries() {
		var values []string
		r.lines(join(at, e.Key), e.Value, &values)
		if len(values) == 0 {
			r.faults.Addf(e.At, "%s.%s has no value", at, e.Key)
			continue
		}
		out[e.Key] = values
	}
	return out
}

var interpolation = pattern.Lazy(`\$\{([^${}]*)\}`)

// isResolver tells OmegaConf's and the launcher's resolvers from a shell's
// ${NAME:-default}.
func isResolver(name string) bool {
	return strings.HasPrefix(name, "oc.") || slices.Contains([]string{"env", "hydra", "multiply", "divide_ceil", "divide_floor"}, name)
}

// resolve fills in ${a.b}, the value of another field of the file. Other text in
// ${ } stays: it is a shell's.
func (r *reader) resolve(at string, where manifest.Position, s string) string {
	for depth := 0; ; depth++ {
		changed := false
		out := interpolation().ReplaceAllStringFunc(s, func(m string) string {
			name := m[2 : len(m)-1]
			if resolver, _, has := strings.Cut(name, ":"); has && isResolver(resolver) {
				r.faults.Addf(where, "%s: the resolver %q of OmegaConf is not understood: write the value itself", at, manifest.Clip(resolver))
				return ""
			}
			t := r.root
			for _, key := range strings.Split(name, ".") {
				t = t.Get(key)
			}
			text, ok := t.Text()
			if !ok {
				if strings.Contains(name, ".") {
					r.faults.Addf(where, "%s: the file has no value %q", at, manifest.Clip(name))
					return ""
				}
				return m
			}
			changed = true
			return text
		})
		if !changed {
			return out
		}
		if s = out; depth == 10 || len(s) > 1<<16 {
			r.faults.Addf(where, "%s: the interpolations form a cycle", at)
			return ""
		}
	}
}

// git is the repository that is cloned in the pods before the training.
type git struct{ url, branch, commit string }

var gitURL = pattern.Lazy(`^(https?://|codecommit::)[^\s'"\\]+$`)

func gitFields() []Field {
	return []Field{
		text("repo_url_or_path", "URL of the repository, https:// or codecommit::.", func(r *reader) *string { return &r.git.url }),
		text("branch", "Branch to clone.", func(r *reader) *string { return &r.git.branch }),
		text("commit", "Commit to check out.", func(r *reader) *string { return &r.git.commit }),
		{Name: "token", Help: "Refused: everyone who can read the job could read it.", Type: Absent, read: func(r *reader, at string, t manifest.Tree) {
			if !t.IsNull() {
				r.faults.Addf(t.At(), "%s: everyone who can read the job could read it: put it into a Secret and set %s GIT_TOKEN=SECRET:KEY", at, setting.SecretEnvironment)
			}
		}},
		{Name: "update_adapter", Help: "For recipes only.", Type: Off, read: func(r *reader, at string, t manifest.Tree) {
			if b, ok := t.Bool(); !t.IsNull() && (!ok || b) {
				r.faults.Addf(t.At(), "%s reinstalls the adapter of the HyperPod recipes: start recipes with %s", at, setting.Recipe)
			}
		}},
	}
}

func (r *reader) clone(at string, t manifest.Tree) {
	r.section(at, t, gitFields())
	if _, _, err := Checkout(r.git.url, r.git.branch, r.git.commit); err != nil {
		r.faults.Addf(t.At(), "%s: %v", at, err)
	}
}

// gitCheckout is where the clone is; the script runs there, as in v2.
const gitCheckout = "/tmp/checkout"

// Checkout returns the shell lines that clone a repository before the training and
// remove it after; none for no repository. A token, where the environment has
// GIT_TOKEN, goes to git through a credential helper, never into a command line.
func Checkout(url, branch, commit string) (before, after []string, err error) {
	for _, s := range []string{branch, commit} {
		if strings.HasPrefix(s, "-") || strings.ContainsAny(s, "'\"\\ \n") {
			return nil, nil, fmt.Errorf("%q is not a branch or commit", manifest.Clip(s))
		}
	}
	switch {
	case url == "" && branch+commit != "":
		return nil, nil, fmt.Errorf("a branch or commit, and no repo_url_or_path")
	case url == "":
		return nil, nil, nil
	case !gitURL().MatchString(url):
		return nil, nil, fmt.Errorf("repo_url_or_path has to start with https:// or codecommit::, as pods see no folder of this machine")
	}
	helper := ""
	if strings.HasPrefix(url, "http") {
		helper = ` -c credential.helper='!f() { test -z "${GIT_TOKEN:-}" || printf "username=token\npassword=%s\n" "$GIT_TOKEN"; }; f'`
	}
	clone := "git" + helper + " clone"
	if branch != "" {
		clone += " --branch '" + branch + "'"
	}
	before = []string{"rm -rf " + gitCheckout, clone + " '" + url + "' " + gitCheckout, "cd " + gitCheckout}
	if commit != "" {
		before = append(before, "git checkout '"+commit+"'")
	}
	return before, []string{"rm -rf " + gitCheckout}, nil
}
