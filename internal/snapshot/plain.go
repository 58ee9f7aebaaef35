package snapshot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// plain reads Kubernetes objects as people and kubectl write them: documents or
// lists, YAML or JSON, Kueue's of any served version. Kinds that no command looks
// at are left out. The newest time in them is taken for now.
func plain(data []byte, file os.FileInfo, maxYAML int64) (*Snapshot, error) {
	p := &plainFile{
		raw: map[string][]json.RawMessage{}, seen: map[string]map[store.Key]json.RawMessage{}, namespaces: map[string]bool{},
		latest: time.Time{}, maxYAML: maxYAML, known: known(),
	}
	if err := p.documents(data); err != nil {
		return nil, err
	}
	if len(p.objects) == 0 {
		return nil, p.nothing()
	}
	if p.latest.IsZero() {
		p.latest = file.ModTime()
	}
	return p.snapshot()
}

// plainFile is a file of plain objects being read.
type plainFile struct {
	objects    []plainObject
	raw        map[string][]json.RawMessage
	seen       map[string]map[store.Key]json.RawMessage
	namespaces map[string]bool
	latest     time.Time
	maxYAML    int64 // bytes
	known      map[groupKind]kinds.Resource
	api        string
	other      []string // kinds that were left out
}

type plainObject struct {
	resource kinds.Resource
	body     map[string]any
}

func (p *plainFile) documents(data []byte) error {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		return p.stream(trimmed)
	}
	if int64(len(data)) > p.maxYAML {
		return unusable(fmt.Sprintf("it is not a snapshot, and as YAML of Kubernetes objects it is too large (%s; at most %s)", megabytes(int64(len(data))), megabytes(p.maxYAML))).
			Suggest(suggest.SaveSnapshot("FILE"), errs.Other("kubectl", "get", "clusterqueues,cohorts,resourceflavors,localqueues,workloads", "-A", "-o", "json"))
	}
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var js []byte
		if err == nil {
			js, err = yaml.YAMLToJSON(doc)
		}
		if err != nil {
			return p.unreadable(fmt.Sprintf("document %d", n), err)
		}
		if err := p.document(fmt.Sprintf("document %d", n), js); err != nil {
			return err
		}
	}
}

// stream reads JSON documents that follow one another. Most files are one document, which is read without a copy.
func (p *plainFile) stream(data []byte) error {
	if json.Valid(data) {
		return p.document("document 1", data)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for n := 1; ; n++ {
		var doc json.RawMessage
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		where := fmt.Sprintf("document %d", n)
		if err != nil {
			return p.unreadable(where, err)
		}
		if err := p.document(where, doc); err != nil {
			return err
		}
	}
}

func (p *plainFile) unreadable(where string, err error) error {
	why := "it is neither a snapshot nor Kubernetes objects in YAML or JSON"
	if len(p.objects) > 0 {
		why = where + " is not YAML or JSON"
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		why = where + " is cut short"
	}
	return unusable(why).Suggest(suggest.SaveSnapshot("FILE").WithNote("saves one")).WithCause(err)
}

// document reads one document: an object, a list of objects, or nothing.
func (p *plainFile) document(where string, js []byte) error {
	var head struct {
		APIVersion string  `json:"apiVersion"`
		Kind       string  `json:"kind"`
		Items      present `json:"items"`
	}
	if bytes.Equal(bytes.TrimSpace(js), []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(js, &head); err != nil {
		return p.unreadable(where, err)
	}
	if strings.HasPrefix(head.Kind, "hyperpod-") {
		p.other = append(p.other, head.Kind)
		return nil
	}
	if !strings.HasSuffix(head.Kind, "List") || !bool(head.Items) {
		return p.object(where, js, "", "")
	}
	// The items of a typed list need not say their kind.
	kind, version := strings.TrimSuffix(head.Kind, "List"), head.APIVersion
	return p.items(where, js, func(where string, item []byte) error { return p.object(where, item, version, kind) })
}

// present reports whether JSON has a list.
type present bool

// UnmarshalJSON accepts a list, and null as none.
func (p *present) UnmarshalJSON(js []byte) error {
	*p = js[0] == '['
	if !*p && string(js) != "null" {
		return errors.New("items is not a list")
	}
	return nil
}

// items calls a function for each item of a list. They share one buffer: a list of a whole cluster is large.
func (p *plainFile) items(where string, js []byte, each func(where string, item []byte) error) error {
	dec := json.NewDecoder(bytes.NewReader(js))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var key json.Token
		if key, err = dec.Token(); err != nil {
			break
		}
		var item json.RawMessage
		if name, _ := key.(string); !strings.EqualFold(name, "items") {
			err = dec.Decode(&item)
			continue
		}
		_, err = dec.Token()
		for i := 0; err == nil && dec.More(); i++ {
			if err = dec.Decode(&item); err == nil {
				if err := each(fmt.Sprintf("%s, items[%d]", where, i), item); err != nil {
					return err
				}
			}
		}
		if err == nil {
			_, err = dec.Token()
		}
	}
	if err != nil {
		return p.unreadable(where, err)
	}
	return nil
}

func (p *plainFile) object(where string, js []byte, version, kind string) error {
	var m map[string]any
	if err := kube.Decode(js, &m); err != nil {
		return p.unreadable(where, err)
	}
	if object.Text(m, "kind") == "" && kind != "" {
		m["apiVersion"], m["kind"] = version, kind
	}
	p.when(m)
	r, ok := p.resourceOf(m)
	if !ok {
		if k := object.Text(m, "kind"); k != "" {
			p.other = append(p.other, k)
		}
		return nil
	}
	name := object.Text(m, "metadata", "name")
	if name == "" {
		return unusable(fmt.Sprintf("%s is a %s without a name", where, r.Kind))
	}
	if r.Group == kinds.KueueGroup {
		p.api = object.Text(m, "apiVersion")[len(kinds.KueueGroup)+1:]
	}
	content := m
	if r.Group != kinds.KueueGroup {
		content = redact(r, m) // in what is left out nothing can be wrong
	}
	if bad := misfit(r, content); bad != "" {
		return unusable(fmt.Sprintf("%s: %s: %s", where, named(r, m), bad))
	}
	list := []map[string]any{m}
	if err := convert(r, r, list); err != nil {
		return err
	}
	kept := redact(r, list[0])
	if !r.Namespaced {
		delete(object.Child(kept, "metadata"), "namespace")
	} else {
		if object.Text(kept, "metadata", "namespace") == "" {
			object.Set(kept, "default", "metadata", "namespace")
		}
		p.namespaces[object.Text(kept, "metadata", "namespace")] = true
	}
	p.objects = append(p.objects, plainObject{r, kept})
	return nil
}

// groupKind is a kind without its version.
type groupKind struct{ group, kind string }

// known returns the kinds whose objects a snapshot can have.
func known() map[groupKind]kinds.Resource {
	out := map[groupKind]kinds.Resource{}
	for _, r := range kinds.All() {
		if _, ok := allowed()[r.FullName()]; ok {
			out[groupKind{r.Group, r.Kind}] = r
		}
	}
	return out
}

// resourceOf finds a captured kind, whatever its version.
func (p *plainFile) resourceOf(m map[string]any) (kinds.Resource, bool) {
	group, _, found := strings.Cut(object.Text(m, "apiVersion"), "/")
	if !found {
		group = ""
	}
	r, ok := p.known[groupKind{group, object.Text(m, "kind")}]
	if !ok {
		return r, false
	}
	only := managers(r)
	queued := selector(r) != "" && object.Text(m, "metadata", "labels", kinds.QueueLabel) != ""
	return r, only == "" || only == object.Text(m, "metadata", "name") || queued
}

// when notes the newest time in an object that lies in its past.
func (p *plainFile) when(v any) {
	switch t := v.(type) {
	case map[string]any:
		for k, member := range t {
			switch k {
			case "creationTimestamp", "lastTransitionTime", "lastUpdateTime", "lastHeartbeatTime", "lastProbeTime", "startTime",
				"completionTime", "startedAt", "finishedAt", "time":
				if at, ok := object.Time(member); ok && at.After(p.latest) {
					p.latest = at
				}
			default:
				p.when(member)
			}
		}
	case []any:
		for _, item := range t {
			p.when(item)
		}
	}
}

func (p *plainFile) nothing() error {
	e := unusable("it is neither a snapshot nor Kubernetes objects that hyperpod reads")
	slices.Sort(p.other)
	switch other := slices.Compact(p.other); {
	case slices.Contains(other, "hyperpod-sandbox"):
		return unusable("it is a sandbox").Suggest(suggest.NamedSandbox("NAME"))
	case len(other) > 0:
		e.WithFact("found", strings.Join(other[:min(len(other), 10)], ", "))
	}
	return e.Suggest(suggest.SaveSnapshot("FILE").WithNote("saves one"))
}
