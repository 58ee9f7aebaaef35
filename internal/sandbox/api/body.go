package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// maxBody is the largest request body, as on an API server.
const maxBody = 3 << 20

func (c *call) readBody() ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.Body, maxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
		}
		return nil, apierrors.NewGenericServerResponse(http.StatusRequestTimeout, c.Method, c.res.groupResource(), c.name, "the request body is incomplete", 0, true)
	}
	return body, nil
}

// object reads the body as one object in JSON, YAML or protobuf.
func (c *call) object() (map[string]any, error) {
	body, err := c.readBody()
	if err != nil {
		return nil, err
	}
	media, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	switch media {
	case "", "application/json":
	case protobufMedia:
		return fromProtobuf(body)
	case "application/yaml":
		if body, err = yaml.YAMLToJSON(body); err != nil {
			return nil, badRequest("error decoding YAML: " + err.Error())
		}
	default:
		return nil, unsupportedMedia("application/json", "application/yaml", protobufMedia)
	}
	return decodeObject(body)
}

func decodeObject(body []byte) (map[string]any, error) {
	var m map[string]any
	if err := kjson.Unmarshal(body, &m); err != nil {
		return nil, badRequest("the body of the request could not be decoded: " + err.Error())
	}
	if m == nil {
		return nil, badRequest("the body of the request is empty")
	}
	return m, nil
}

// identify checks that the body is an object of the URL's kind and namespace, and sets
// the fields that the body leaves out.
func (c *call) identify(m map[string]any) error {
	kind, version := object.Text(m, "kind"), object.Text(m, "apiVersion")
	if kind == "" {
		kind = c.res.Kind
	}
	if version == "" {
		version = c.res.GroupVersion()
	}
	if version != c.res.GroupVersion() {
		return badRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", version, c.res.GroupVersion()))
	}
	if kind != c.res.Kind {
		return badRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: no kind match", kind, version, c.res.Kind))
	}
	m["kind"], m["apiVersion"] = kind, version
	if v, there := m["metadata"]; there {
		if _, ok := v.(map[string]any); !ok && v != nil {
			return badRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: metadata is not an object", kind, version, kind))
		}
	}
	meta := object.Child(m, "metadata")
	ns, _ := meta["namespace"].(string)
	switch {
	case !c.res.Namespaced:
		delete(meta, "namespace")
	case ns == "":
		meta["namespace"] = c.namespace
	case ns != c.namespace:
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}
