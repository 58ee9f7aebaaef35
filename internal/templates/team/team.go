// Package team reads and writes the templates that a team keeps in ConfigMaps of
// its namespace. Such a ConfigMap has the label cli.hyperpod/template; its name is
// the template's, and its one value, or the value under template.yaml, is the
// template's text.
package team

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// Prefix, before the name of a template, selects the template of the team even if another one has the same
// name.
const Prefix = "team/"

// Key is the key of the ConfigMap under which Put writes a template.
const Key = "template.yaml"

// maxBytes is what the API server accepts in a ConfigMap's data.
const maxBytes = 1 << 20

type configMap struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metadata          `json:"metadata"`
	Data       map[string]string `json:"data,omitempty"`
	BinaryData map[string]string `json:"binaryData,omitempty"`
}

type metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	UID       string            `json:"uid,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// Source returns the source of a template of the team, for messages.
func Source(namespace, name string) string {
	return fmt.Sprintf("configmap/%s in %s", name, namespace)
}

// Get returns the team's template of that name. It sends one request and needs
// permission to get configmaps. A ConfigMap without the label is an error with exit
// code NotFound, as if it did not exist.
func Get(ctx context.Context, c *kube.Client, namespace, name string) (*parse.Template, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var m configMap
	err := c.Get(ctx, kinds.ConfigMap, namespace, name, &m)
	switch {
	case kube.IsNotFound(err):
		return nil, notFound(namespace, name).WithCause(err)
	case err != nil:
		return nil, err
	}
	if !m.isTemplate() {
		return nil, notTemplate(namespace, name)
	}
	return m.template(namespace, name)
}

func notFound(namespace, name string) *errs.Error {
	return errs.NotFoundf("template %q not found in namespace %s", name, namespace).Suggest(suggest.ListTemplates(namespace))
}

// Namespaces returns the namespaces that have a team's template of that name, sorted. It
// sends one request and needs permission to list configmaps in all namespaces.
func Namespaces(ctx context.Context, c *kube.Client, name string) ([]string, error) {
	page, err := kube.List[configMap](ctx, c, kinds.ConfigMap, "", kube.ListOptions{MetadataOnly: true, LabelSelector: kinds.TemplateLabel, FieldSelector: "metadata.name=" + name})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range page.Items {
		if m.isTemplate() {
			out = append(out, m.Metadata.Namespace)
		}
	}
	slices.Sort(out)
	return out, nil
}

func notTemplate(namespace, name string) *errs.Error {
	return errs.NotFoundf("ConfigMap %s in namespace %s is not a template: it has no label %s", name, namespace, kinds.TemplateLabel).
		Suggest(errs.Other("kubectl", "label", "configmap", name, "-n", namespace, kinds.TemplateLabel+"=true").WithNote("if it is a template"))
}

// Unusable is a ConfigMap with the label whose template cannot be used.
type Unusable = catalogue.Unusable

// List returns the team's templates by name, and the ConfigMaps with the label that are
// not templates. It sends one request and needs permission to list configmaps, which
// the roles of the HyperPod chart do not give to members of a team.
func List(ctx context.Context, c *kube.Client, namespace string) ([]*parse.Template, []Unusable, error) {
	page, err := kube.List[configMap](ctx, c, kinds.ConfigMap, namespace, kube.ListOptions{LabelSelector: kinds.TemplateLabel})
	if err != nil {
		return nil, nil, err
	}
	var out []*parse.Template
	var unusable []Unusable
	for _, m := range page.Items {
		if !m.isTemplate() {
			continue
		}
		t, err := m.template(namespace, m.Metadata.Name)
		if err == nil {
			err = CheckName(m.Metadata.Name)
		}
		if err != nil {
			unusable = append(unusable, Unusable{Source: Source(namespace, m.Metadata.Name), Err: err})
			continue
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *parse.Template) int { return strings.Compare(a.Name, b.Name) })
	return out, unusable, nil
}

// isTemplate reports whether the ConfigMap has the label, with any value except "false".
func (m configMap) isTemplate() bool {
	v, has := m.Metadata.Labels[kinds.TemplateLabel]
	return has && v != "false"
}

func (m configMap) template(namespace, name string) (*parse.Template, error) {
	text, err := m.text()
	if err != nil {
		return nil, errs.Wrap(err, Source(namespace, name)).WithCode(errs.Failure)
	}
	return parse.Text(name, Source(namespace, name), []byte(text))
}

// text returns the text of the template: the value under template.yaml, or the only value.
func (m configMap) text() (string, error) {
	if text, ok := m.Data[Key]; ok {
		return text, nil
	}
	var keys []string
	for k := range m.Data {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	switch {
	case len(keys) == 1:
		return m.Data[keys[0]], nil
	case len(keys) > 1:
		return "", errs.New("", fmt.Sprintf("none of its %d keys is %s", len(keys), Key)).
			WithFact("keys", strings.Join(keys, ", ")).WithAdvice("put the template under the key " + Key)
	case len(m.BinaryData) > 0:
		return "", errs.New("", "the data is binary: a template must be text in UTF-8").
			Suggest(errs.Other("kubectl", "create", "configmap", "NAME", "--from-file="+Key+"=FILE").WithNote("a FILE in UTF-8"))
	}
	return "", errs.New("", "the ConfigMap is empty").WithAdvice("put the template under the key " + Key)
}

// UID returns the UID of the ConfigMap of the team's template. A ConfigMap that is not a
// template is an error, as for Get; one whose template cannot be used is not.
func UID(ctx context.Context, c *kube.Client, namespace, name string) (string, error) {
	var m configMap
	err := c.Get(ctx, kinds.ConfigMap, namespace, name, &m)
	switch {
	case kube.IsNotFound(err):
		return "", notFound(namespace, name).WithCause(err)
	case err != nil:
		return "", err
	case !m.isTemplate():
		return "", notTemplate(namespace, name)
	}
	return m.Metadata.UID, nil
}

// CheckName checks whether a ConfigMap, and therefore a template of the team, can have the name.
func CheckName(name string) error {
	if len(validation.IsDNS1123Subdomain(name)) > 0 || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return errs.Usagef("invalid template name %q: must be lower-case letters, digits, - and ., without .yaml at the end", manifest.Clip(name))
	}
	return nil
}

// Put writes a template. It replaces an existing template only with replace, and never
// another ConfigMap.
func Put(ctx context.Context, c *kube.Client, namespace, name string, text []byte, replace bool) error {
	if err := CheckName(name); err != nil {
		return err
	}
	t, err := parse.Text(name, name, text)
	if err != nil {
		return err
	}
	if err := refuseSecrets(t); err != nil {
		return err
	}
	if len(text) > maxBytes {
		return errs.Usagef("the template has %d KiB: a ConfigMap holds at most %d KiB", len(text)>>10, maxBytes>>10)
	}
	fresh := configMap{APIVersion: "v1", Kind: "ConfigMap", Data: map[string]string{Key: string(text)},
		Metadata: metadata{Name: name, Namespace: namespace, Labels: map[string]string{kinds.TemplateLabel: "true"}}}
	err = c.Create(ctx, kinds.ConfigMap, namespace, fresh, kube.CreateOptions{}, nil)
	if !kube.IsAlreadyExists(err) {
		return err
	}
	var object map[string]any // all of it, as the update replaces all of it
	if err := c.Get(ctx, kinds.ConfigMap, namespace, name, &object); err != nil {
		return err
	}
	meta, _ := object["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	if v, has := labels[kinds.TemplateLabel]; !has || v == "false" {
		return errs.New(fmt.Sprintf("ConfigMap %s exists in namespace %s and is not a template", name, namespace), "it is not changed").WithAdvice("give the template another name")
	}
	if !replace {
		return errs.New(fmt.Sprintf("template %s exists in namespace %s", name, namespace), "it is not changed").
			Suggest(suggest.ReplaceTemplate(), suggest.GetTemplate(namespace, Prefix+name))
	}
	object["data"] = fresh.Data
	delete(object, "binaryData")
	return c.Update(ctx, kinds.ConfigMap, namespace, name, object, kube.ChangeOptions{}, nil)
}
