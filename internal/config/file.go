package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// file is a configuration file: the mapping at its top, comments included.
type file struct {
	path string
	doc  yaml.Node
	// comments are the lines of a file that has nothing else.
	comments string
}

// readFile reads and parses a file. A missing one is an os.IsNotExist error.
func readFile(path string) (*file, error) {
	data, err := bounded.File(path, bounded.Settings)
	switch {
	case os.IsNotExist(err):
		return &file{path: path}, err
	case errors.As(err, new(*bounded.TooLarge)):
		return nil, errs.Usagef("cannot read the configuration %s: it is %v", path, err)
	case err != nil:
		return nil, errs.New("cannot read the configuration", errs.FileReason(err)).WithFact("file", path).WithCause(err)
	}
	f := &file{path: path}
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&f.doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, f.wrong(0, "", strings.TrimPrefix(err.Error(), "yaml: "), err)
	}
	if f.top() == nil {
		f.comments = commentsOf(string(data))
	}
	if top := f.top(); top != nil && top.Kind != yaml.MappingNode {
		return nil, f.wrong(top.Line, "", "must be a mapping of \"key: value\"", nil)
	}
	return f, nil
}

// lineBreaks end a line, and so a comment, in YAML.
const lineBreaks = "\r\n\u0085\u2028\u2029"

func commentsOf(data string) string {
	var b strings.Builder
	for line := range strings.FieldsFuncSeq(data, func(r rune) bool { return strings.ContainsRune(lineBreaks, r) }) {
		if strings.HasPrefix(line, "#") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// top returns the mapping, or nil in an empty file.
func (f *file) top() *yaml.Node {
	if len(f.doc.Content) == 0 || f.doc.Content[0].Tag == "!!null" {
		return nil
	}
	return f.doc.Content[0]
}

func (f *file) wrong(line int, key, why string, cause error) *errs.Error {
	what := f.path
	if line > 0 {
		what = fmt.Sprintf("%s:%d", f.path, line)
	}
	if key != "" {
		why = key + ": " + why
	}
	return &errs.Error{What: what, Why: why, Code: errs.Usage, Cause: cause}
}

// values returns the settings in the file and warnings about unknown keys.
func (f *file) values() (map[string]string, []string, error) {
	out := map[string]string{}
	var warnings []string
	top := f.top()
	if top == nil {
		return out, nil, nil
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, node := top.Content[i], top.Content[i+1]
		s, err := settingNamed(key.Value)
		if err != nil {
			w := fmt.Sprintf("%s:%d: setting %q not found", f.path, key.Line, key.Value)
			if near := errs.Near(key.Value, Keys()); len(near) > 0 {
				w += ", did you mean " + strings.Join(near, " or ") + "?"
			}
			warnings = append(warnings, w)
			continue
		}
		if _, twice := out[s.key]; twice {
			return nil, nil, f.wrong(key.Line, s.key, "is set twice", nil)
		}
		text, err := s.fromNode(node)
		if err != nil {
			bad := s.invalid(s.key, node.Value, err)
			bad.What = fmt.Sprintf("%s:%d: %s", f.path, node.Line, bad.What)
			if !errors.As(err, new(*badValue)) {
				bad.WithFact("found", err.Error())
			}
			return nil, nil, bad
		}
		out[s.key] = text
	}
	return out, warnings, nil
}

// fromNode returns a setting's value in the file. The YAML type must fit: a number cannot be a format, and
// "yes" in quotes cannot be a boolean.
func (s setting) fromNode(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.MappingNode:
		return "", errors.New("a mapping")
	case n.Kind == yaml.SequenceNode:
		return "", errors.New("a list")
	case n.Tag == "!!null":
		return s.standard, nil
	}
	if !s.accepts(n) {
		return "", errors.New(typeName(n.Tag))
	}
	return s.normal(n.Value)
}

// accepts reports whether a value's YAML type fits. A duration may be a number, because a better error then
// names the missing unit, or 0. Plain yes and no are booleans for people, though no longer for YAML.
func (s setting) accepts(n *yaml.Node) bool {
	switch {
	case n.Tag == s.tag:
		return true
	case s.key == keyRequestTimeout:
		return n.Tag == "!!int"
	case s.tag == "!!bool" && n.Tag == "!!str" && n.Style == 0:
		_, err := boolean(n.Value)
		return err == nil
	}
	return false
}

func typeName(tag string) string {
	switch tag {
	case "!!str":
		return "text"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	}
	return strings.TrimPrefix(tag, "!!")
}

// Set writes a setting to the configuration file that env chooses. The rest of the file stays, including
// comments. It returns the path of the file. An empty value is invalid: see Unset.
func Set(env func(string) string, key, value string) (path string, err error) {
	s, err := settingNamed(key)
	if err != nil {
		return "", err
	}
	given := value
	if value == "" { // unset, not set to nothing
		return "", s.invalid(key, given, nil)
	}
	if value, err = s.normal(given); err != nil {
		return "", s.invalid(key, given, err)
	}
	return edit(env, func(f *file) bool { return f.set(s, value) })
}

// Unset removes a setting from the configuration file, if it is there.
func Unset(env func(string) string, key string) (path string, err error) {
	s, err := settingNamed(key)
	if err != nil {
		return "", err
	}
	return edit(env, func(f *file) bool { return f.unset(s.key) })
}

func edit(env func(string) string, change func(*file) bool) (string, error) {
	path, _, err := location(env)
	if err != nil {
		return "", err
	}
	f, err := readFile(path)
	if err != nil && !os.IsNotExist(err) {
		return path, err
	}
	if !change(f) {
		return path, nil
	}
	b := bytes.NewBufferString(f.comments)
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	if err := e.Encode(&f.doc); err != nil {
		return path, errs.Wrap(err, "cannot write the configuration")
	}
	if err := replace(path, b.Bytes()); err != nil {
		return path, errs.New("cannot write the configuration", errs.FileReason(err)).WithFact("file", path).WithCause(err)
	}
	return path, nil
}

// set changes the document and reports whether it differs now.
func (f *file) set(s setting, value string) bool {
	if f.top() == nil {
		f.doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}}
	}
	top := f.top()
	if i := index(top, s.key); i >= 0 {
		old := top.Content[i+1]
		if old.Kind == yaml.ScalarNode && old.Tag == s.tag && old.Value == value {
			return false
		}
		top.Content[i+1] = &yaml.Node{Kind: yaml.ScalarNode, Tag: s.tag, Value: value, LineComment: old.LineComment}
		return true
	}
	top.Content = append(top.Content,
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.key},
		&yaml.Node{Kind: yaml.ScalarNode, Tag: s.tag, Value: value})
	return true
}

func (f *file) unset(key string) bool {
	top := f.top()
	if top == nil {
		return false
	}
	i := index(top, key)
	if i < 0 {
		return false
	}
	top.Content = slices.Delete(top.Content, i, i+2)
	return true
}

func index(top *yaml.Node, key string) int {
	for i := 0; i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// replace writes a file so that a reader sees the old or the new one, never a
// part. A symbolic link stays one: its target is replaced.
func replace(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	_, err := atomicfile.Write(path, func(f *os.File) error {
		_, err := f.Write(data)
		return errors.Join(err, f.Chmod(mode))
	})
	return err
}
