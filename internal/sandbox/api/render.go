package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

func splitPath(p string) []string { return strings.Split(p, ".") }

// form is a representation of objects in answers.
type form int

const (
	whole    form = iota // the objects themselves
	metaOnly             // PartialObjectMetadata(List)
	asTable              // Table, for kubectl get
)

type format struct {
	form form
	yaml bool
}

// format returns the first supported media type of the Accept header.
func (c *call) format() (format, error) {
	accept := c.Header.Get("Accept")
	if accept == "" {
		return format{}, nil
	}
	for _, part := range strings.Split(accept, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		f := format{yaml: media == "application/yaml"}
		if !slices.Contains([]string{"application/json", "application/yaml", "application/*", "*/*"}, media) {
			continue
		}
		v1 := params["g"] == metav1.GroupName && params["v"] == "v1"
		switch {
		case params["as"] == "":
			return f, nil
		case params["as"] == "Table" && v1:
			f.form = asTable
			return f, nil
		case (params["as"] == "PartialObjectMetadataList" || params["as"] == "PartialObjectMetadata") && v1:
			f.form = metaOnly
			return f, nil
		}
	}
	return format{}, apierrors.NewGenericServerResponse(http.StatusNotAcceptable, c.Method, schema.GroupResource{}, "",
		"only the following media types are accepted: application/json, application/yaml", 0, true)
}

// metadataOf returns the PartialObjectMetadata of an object.
func metadataOf(o *store.Object) map[string]any {
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": metav1.SchemeGroupVersion.String(), "metadata": o.Map()["metadata"]}
}

// shape returns an object as the JSON value that f asks for.
func (s *Server) shape(c *call, f format, o *store.Object, header bool) any {
	switch f.form {
	case metaOnly:
		return metadataOf(o)
	case asTable:
		return s.tableOf(c, page{meta: listMeta{ResourceVersion: rvOf(o)}, objects: []*store.Object{o}}, header)
	}
	return o.Raw
}

func rvOf(o *store.Object) string { return object.Text(o.Map(), "metadata", "resourceVersion") }

func (s *Server) writeObject(c *call, f format, code int, o *store.Object) error {
	return write(c.w, f, code, s.shape(c, f, o, true))
}

func (s *Server) writeList(c *call, f format, p page) error {
	switch f.form {
	case asTable:
		return write(c.w, f, http.StatusOK, s.tableOf(c, p, true))
	case metaOnly:
		items := make([]any, 0, len(p.objects))
		for _, o := range p.objects {
			items = append(items, metadataOf(o))
		}
		return write(c.w, f, http.StatusOK, map[string]any{
			"kind": "PartialObjectMetadataList", "apiVersion": metav1.SchemeGroupVersion.String(), "metadata": p.meta, "items": items})
	}
	l := rawList{Kind: c.res.Kind + "List", APIVersion: c.res.GroupVersion(), Metadata: p.meta, Items: p.objects}
	if f.yaml {
		return write(c.w, f, http.StatusOK, l)
	}
	head(c.w, "application/json", http.StatusOK)
	return l.write(c.w)
}

// rawList is a list of encoded objects.
type rawList struct {
	Kind       string
	APIVersion string
	Metadata   listMeta
	Items      []*store.Object
}

// write writes the list piece by piece without decoding its items. It ignores errors of
// the connection.
func (l rawList) write(w io.Writer) error {
	head, err := json.Marshal(map[string]any{"kind": l.Kind, "apiVersion": l.APIVersion, "metadata": l.Metadata})
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.Write(head[:len(head)-1])
	b.WriteString(`,"items":[`)
	for i, item := range l.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item.Raw)
	}
	b.WriteString("]}")
	_ = b.Flush()
	return nil
}

func encode(v any) ([]byte, error) {
	switch raw := v.(type) {
	case json.RawMessage:
		return raw, nil
	case rawList:
		var b bytes.Buffer
		err := raw.write(&b)
		return b.Bytes(), err
	}
	return store.Encode(v)
}

func write(w http.ResponseWriter, f format, code int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	kind := "application/json"
	if f.yaml {
		kind = "application/yaml"
		if body, err = yaml.JSONToYAML(body); err != nil {
			return err
		}
	}
	head(w, kind, code)
	_, _ = w.Write(body) // the client is gone: nobody to report it to
	return nil
}

func head(w http.ResponseWriter, kind string, code int) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(code)
}
