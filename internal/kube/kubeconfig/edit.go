// Package kubeconfig adds entries to the user's kubeconfig. The order and the comments
// of the file stay, and other programs that follow kubectl's lock are kept out.
package kubeconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Entry is a cluster, a user and a context. The cluster and the user have the same name.
type Entry struct {
	Name    string
	Context string
	// Namespace of the context; "" is none.
	Namespace string
	Server    string
	// CA is the certificate authority, base64-encoded PEM.
	CA   string
	Exec Exec
}

// Exec is the credential plugin of a user.
type Exec struct {
	APIVersion string
	Command    string
	Args       []string
	Env        []Variable
}

// Variable is an environment variable of a credential plugin.
type Variable struct{ Name, Value string }

// edit returns the text of a kubeconfig with the entry in it, as the current context. An
// empty text is a new file. A part that exists is changed where it stands.
func edit(text []byte, e Entry) ([]byte, error) {
	doc, err := parse(text)
	if err != nil {
		return nil, err
	}
	root := doc.Content[0]
	if get(root, "apiVersion") == nil {
		set(root, "apiVersion", scalar("v1"))
	}
	if get(root, "kind") == nil {
		set(root, "kind", scalar("Config"))
	}
	cluster, err := item(root, "clusters", e.Name, "cluster")
	if err != nil {
		return nil, err
	}
	set(cluster, "server", scalar(e.Server))
	drop(cluster, "certificate-authority", "insecure-skip-tls-verify")
	setOrDrop(cluster, "certificate-authority-data", e.CA)
	context, err := item(root, "contexts", e.Context, "context")
	if err != nil {
		return nil, err
	}
	set(context, "cluster", scalar(e.Name))
	setOrDrop(context, "namespace", e.Namespace)
	set(context, "user", scalar(e.Name))
	user, err := item(root, "users", e.Name, "user")
	if err != nil {
		return nil, err
	}
	user.Content = nil
	set(user, "exec", e.Exec.node())
	set(root, "current-context", scalar(e.Context))
	return write(doc, text)
}

func (x Exec) node() *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	set(out, "apiVersion", scalar(x.APIVersion))
	args := &yaml.Node{Kind: yaml.SequenceNode}
	for _, a := range x.Args {
		args.Content = append(args.Content, scalar(a))
	}
	set(out, "args", args)
	set(out, "command", scalar(x.Command))
	if len(x.Env) > 0 {
		env := &yaml.Node{Kind: yaml.SequenceNode}
		for _, v := range x.Env {
			one := &yaml.Node{Kind: yaml.MappingNode}
			set(one, "name", scalar(v.Name))
			set(one, "value", scalar(v.Value))
			env.Content = append(env.Content, one)
		}
		set(out, "env", env)
	}
	if !strings.HasSuffix(x.APIVersion, "v1beta1") { // where the AWS CLI leaves them out
		set(out, "interactiveMode", scalar("Never"))
		set(out, "provideClusterInfo", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
	}
	return out
}

// errInvalid is the cause of errors about a file that is not a kubeconfig.
var errInvalid = errors.New("not a kubeconfig")

func invalid(why string, cause error) error {
	return errs.New("not a valid kubeconfig", why).WithCause(errors.Join(errInvalid, cause))
}

// parse reads the one YAML document of a kubeconfig.
func parse(text []byte) (*yaml.Node, error) {
	empty := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	d := yaml.NewDecoder(bytes.NewReader(text))
	doc := &yaml.Node{}
	switch err := d.Decode(doc); {
	case errors.Is(err, io.EOF):
		return empty, nil
	case err != nil:
		return nil, invalid("invalid YAML", err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, invalid("it has more than one YAML document", err)
	}
	switch root := doc.Content[0]; {
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		doc.Content[0] = &yaml.Node{Kind: yaml.MappingNode, HeadComment: root.HeadComment, FootComment: root.FootComment}
	case root.Kind != yaml.MappingNode:
		return nil, invalid("it must be a YAML map with clusters, contexts and users", nil)
	}
	if key := repeated(doc.Content[0]); key != nil {
		return nil, invalid(fmt.Sprintf("line %d has the key %q a second time", key.Line, key.Value), nil)
	}
	if _, err := clientcmd.Load(text); err != nil {
		return nil, invalid(Fault(err), nil)
	}
	return doc, nil
}

// repeated returns a key that a map has twice, nil if there is none. Programs differ in which of the values they use.
func repeated(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if seen[key.Value] {
				return key
			}
			seen[key.Value] = true
		}
	}
	for _, c := range n.Content {
		if key := repeated(c); key != nil {
			return key
		}
	}
	return nil
}

// item returns the body of a named element of a list of the kubeconfig, which it adds if
// there is none: the map below the key body.
func item(root *yaml.Node, list, name, body string) (*yaml.Node, error) {
	items := get(root, list)
	if items == nil || items.Kind == yaml.ScalarNode && items.Tag == "!!null" {
		items = &yaml.Node{Kind: yaml.SequenceNode}
		set(root, list, items)
	}
	if items.Kind != yaml.SequenceNode {
		return nil, invalid(list+" must be a list", nil)
	}
	if len(items.Content) == 0 {
		items.Style = 0 // of [], which is how an empty list is written
	}
	for _, it := range items.Content {
		if n := get(it, "name"); n == nil || n.Value != name {
			continue
		}
		inner := get(it, body)
		if inner == nil || inner.Kind != yaml.MappingNode {
			inner = &yaml.Node{Kind: yaml.MappingNode}
			set(it, body, inner)
		}
		return inner, nil
	}
	inner, it := &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}
	it.Content = []*yaml.Node{scalar(body), inner, scalar("name"), scalar(name)}
	if body > "name" { // kubectl writes the keys in their order
		it.Content = []*yaml.Node{scalar("name"), scalar(name), scalar(body), inner}
	}
	items.Content = append(items.Content, it)
	return inner, nil
}

// get returns the value of a key of a map, or nil.
func get(m *yaml.Node, key string) *yaml.Node {
	if m.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// set changes the value of a key, or adds it at the end.
func set(m *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != key {
			continue
		}
		old := m.Content[i+1]
		if old.Kind == value.Kind && old.Kind == yaml.ScalarNode && old.Value == value.Value && old.Tag != "!!null" {
			return
		}
		value.LineComment, value.HeadComment, value.FootComment = old.LineComment, old.HeadComment, old.FootComment
		m.Content[i+1] = value
		return
	}
	m.Content = append(m.Content, scalar(key), value)
}

// setOrDrop sets a text, or removes the key if the text is empty.
func setOrDrop(m *yaml.Node, key, text string) {
	if text == "" {
		drop(m, key)
		return
	}
	set(m, key, scalar(text))
}

// drop removes keys.
func drop(m *yaml.Node, keys ...string) {
	for _, key := range keys {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if m.Content[i].Value == key {
				m.Content = append(m.Content[:i], m.Content[i+2:]...)
				break
			}
		}
	}
}

// scalar returns a text; the encoder quotes it where YAML would read something else.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

// write encodes the document, with lists as the old text has them.
func write(doc *yaml.Node, old []byte) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if !bytes.Contains(old, []byte("\n  - ")) {
		enc.CompactSeqIndent() // as kubectl and the AWS CLI write them
	}
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return nil, err
	}
	if _, err := clientcmd.Load(b.Bytes()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
