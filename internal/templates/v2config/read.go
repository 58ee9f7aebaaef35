package v2config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// File is the content of a configuration file.
type File struct {
	Values values.Values
	// SchedulerType is SageMaker, Kueue or None, "" when the file leaves it open.
	SchedulerType string
	// Notices are remarks that are not errors: fields that do nothing
	// here, and what was understood in a wrong place.
	Notices []string
}

// several is the environment that v2 gave jobs of several nodes. The file's and the
// flags' own values win, which v2 overwrote:
// docs/compatibility.md.
var several = map[string]string{
	"NCCL_SOCKET_IFNAME":              "^lo,docker0,veth_def_agent",
	"NCCL_IGNORE_DISABLED_P2P":        "1",
	"TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
	"TORCH_DIST_INIT_BARRIER":         "1",
	"CUDA_DEVICE_MAX_CONNECTIONS":     "1",
}

// MultiNodeEnvironment returns the environment variables that v2 set in jobs of several nodes.
func MultiNodeEnvironment() map[string]string { return maps.Clone(several) }

// Under returns the values of the file with flags on top, and with v2's defaults for what both leave open.
func (f File) Under(flags values.Values) values.Values {
	v := flags.Over(f.Values)
	var defaults values.Values
	if !v.AutoResume {
		defaults.RestartPolicy = "Never" // the documented default of files
	}
	if v.NodeCount != nil && *v.NodeCount > 1 {
		defaults.Environment = several
	}
	return v.Over(defaults)
}

// Is reports whether data is a configuration file and not a manifest, by its shape: it has v2's sections and no
// kind. The file may still have faults.
func Is(data []byte) bool {
	t, err := manifest.ParseTree("", data)
	if err != nil {
		return looksLike(data)
	}
	return t.Get("kind").IsNull() && (!t.Get("training_cfg").IsNull() || !t.Get("cluster").IsNull() && !t.Get("env_vars").IsNull())
}

// looksLike judges a file that is not valid YAML by its lines, so that its faults are reported as those of a
// configuration file.
func looksLike(data []byte) bool {
	training, kind := false, false
	for line := range strings.Lines(string(data)) {
		training = training || strings.HasPrefix(line, "training_cfg:")
		kind = kind || strings.HasPrefix(line, "kind:")
	}
	return training && !kind
}

// Read reads a file; path names it in errors, which list every fault with its position
// and have exit code Usage. What flags say need not be in the file.
func Read(path string, data []byte, flags values.Values) (File, error) {
	tree, err := manifest.ParseTree(path, data)
	if err != nil {
		return File{}, err
	}
	r := &reader{root: tree, flags: flags}
	if !tree.IsMap() {
		r.faults.Addf(tree.At(), "a configuration file is a map with training_cfg, cluster, container and env_vars")
		return File{}, r.faults.Err(path)
	}
	r.section("", tree, fields())
	r.finish()
	if err := r.faults.Err(path); err != nil {
		return File{}, err
	}
	return r.file, nil
}

// reader fills a File from a tree.
type reader struct {
	root   manifest.Tree
	flags  values.Values
	file   File
	faults manifest.Faults

	seen map[string]bool // paths that were read, for what is missing

	git  git
	args []argument

	selected bool // the file has a label_selector
}

func (r *reader) notef(where manifest.Position, format string, args ...any) {
	r.file.Notices = append(r.file.Notices, where.String()+": "+fmt.Sprintf(format, args...))
}

// section reads the fields of a map, and refuses those it does not know.
func (r *reader) section(at string, t manifest.Tree, fields []Field) {
	if t.IsNull() {
		return
	}
	if !t.IsMap() {
		r.faults.Addf(t.At(), "%s is %s: must be a map", at, t.Describe())
		return
	}
	for _, e := range t.Entries() {
		path := join(at, e.Key)
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == e.Key })
		if i < 0 {
			r.unknown(at, e, fields)
			continue
		}
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		if !absent(e.Value) {
			r.seen[path] = true
		}
		fields[i].read(r, path, e.Value)
	}
}

func (r *reader) unknown(at string, e manifest.Entry, fields []Field) {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	where := "at the top"
	if at != "" {
		where = "in " + at
	}
	r.faults.Addf(e.At, "no field %q %s%s", manifest.Clip(e.Key), where, manifest.Suggest(e.Key, names))
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// absent tells a value that is not there: empty, or OmegaConf's ??? for one that
// has yet to be given.
func absent(t manifest.Tree) bool {
	s, ok := t.Text()
	return t.IsNull() || ok && s == "???"
}

// text reads a single value, with the file's interpolations resolved.
func (r *reader) text(at string, t manifest.Tree) (string, bool) {
	if absent(t) {
		return "", false
	}
	s, ok := t.Text()
	if !ok {
		r.faults.Addf(t.At(), "%s is %s: must be one value", at, t.Describe())
		return "", false
	}
	return r.resolve(at, t.At(), s), true
}

// itemsOf returns the items of a list, or the one value in place of it; none of null.
func itemsOf(t manifest.Tree) []manifest.Tree {
	switch {
	case t.IsNull():
		return nil
	case t.IsList():
		return t.Items()
	}
	return []manifest.Tree{t}
}

// lines reads a list of text, or one text.
func (r *reader) lines(at string, t manifest.Tree, to *[]string) {
	for i, item := range itemsOf(t) {
		if item.IsNull() {
			continue
		}
		if s, ok := r.text(fmt.Sprintf("%s[%d]", at, i), item); ok {
			*to = append(*to, s)
		}
	}
}

// pairs reads a map of single values; empty ones are left out, as v2 left them out.
func (r *reader) pairs(at string, t manifest.Tree, put func(key, value string, where manifest.Position)) {
	if t.IsNull() {
		return
	}
	if !t.IsMap() {
		r.faults.Addf(t.At(), "%s is %s: must be a map of names and values", at, t.Describe())
		return
	}
	for _, e := range t.Entries() {
		if s, ok := r.text(join(at, e.Key), e.Value); ok {
			put(e.Key, s, e.At)
		}
	}
}
