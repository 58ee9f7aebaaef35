package api

import (
	"fmt"
	"net/url"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// selector is what a list or watch asks for.
type selector struct {
	labels labels.Selector
	fields fields.Selector
	name   string // of a watch on one object
}

// Selectable fields beyond metadata.name and metadata.namespace, by kind.
var selectable = map[string][]string{
	"Pod":       {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.podIP", "status.nominatedNodeName"},
	"Event":     {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"},
	"Namespace": {"status.phase"},
	"Node":      {"spec.unschedulable"},
	"Job":       {"status.successful"},
	"Secret":    {"type"},
}

func selectorOf(c *call, q url.Values) (selector, error) {
	s := selector{name: c.name}
	var err error
	if s.labels, err = labels.Parse(q.Get("labelSelector")); err != nil {
		return s, badRequest("unable to parse requirement: " + err.Error())
	}
	if s.fields, err = fields.ParseSelector(q.Get("fieldSelector")); err != nil {
		return s, badRequest(err.Error())
	}
	known := append([]string{"metadata.name", "metadata.namespace"}, selectable[c.res.Kind]...)
	for _, r := range s.fields.Requirements() {
		if !slices.Contains(known, r.Field) {
			return s, badRequest(fmt.Sprintf("field label not supported: %s", r.Field))
		}
	}
	return s, nil
}

func (s selector) matches(o *store.Object) bool {
	if o == nil || s.name != "" && o.Name != s.name {
		return false
	}
	if !s.labels.Matches(labels.Set(o.Labels)) {
		return false
	}
	return s.fields.Empty() || s.fields.Matches(objectFields{o})
}

// objectFields makes an object's fields available to a field selector.
type objectFields struct{ o *store.Object }

func (f objectFields) Has(string) bool { return true }

// Get returns the value of a field as API servers compare it: "" for a missing field,
// "false" for a missing boolean.
func (f objectFields) Get(path string) string {
	switch path {
	case "metadata.name":
		return f.o.Name
	case "metadata.namespace":
		return f.o.Namespace
	case "source":
		if c := object.Text(f.o.Map(), "source", "component"); c != "" {
			return c
		}
		return object.Text(f.o.Map(), "reportingComponent")
	case "status.successful":
		return digits(f.o.Map(), "status", "succeeded")
	case "spec.unschedulable":
		b, _ := object.At(f.o.Map(), "spec", "unschedulable").(bool)
		return fmt.Sprint(b)
	}
	return object.Text(f.o.Map(), splitPath(path)...)
}
