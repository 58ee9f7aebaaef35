package decode

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// Scheme knows the kinds of objects that Kueue decides on, in all versions they are served in.
// It is built on first use: a process that never decodes does not pay for it.
var Scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, nodev1.AddToScheme, resourcev1.AddToScheme, schedulingv1.AddToScheme,
		kueuev1beta1.AddToScheme, kueue.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // two kinds registered under one name: a programming error
		}
	}
	return s
})

// decoder converts every version of Kueue's kinds to the hub version v1beta2.
var decoder = sync.OnceValue(func() runtime.Decoder {
	codecs := serializer.NewCodecFactory(Scheme())
	return codecs.UniversalDecoder(kueue.SchemeGroupVersion, corev1.SchemeGroupVersion, schedulingv1.SchemeGroupVersion, nodev1.SchemeGroupVersion, resourcev1.SchemeGroupVersion)
})

// Objects reads a stream of YAML or JSON documents and returns the objects in order. It converts Kueue's v1beta1
// kinds to v1beta2, flattens lists, and skips kinds that Kueue does not decide on (a ConfigMap, a Deployment).
// The error names the document and its fault.
func Objects(data []byte) ([]client.Object, error) { return decode(data, decoder(), false) }

// decoding is how a stream is decoded.
type decoding struct {
	decoder runtime.Decoder
	known   bool // only known kinds are accepted
}

func decode(data []byte, with runtime.Decoder, known bool) ([]client.Object, error) {
	d := decoding{with, known}
	var out []client.Object
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		objs, err := d.one(doc, 0)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		out = append(out, objs...)
	}
}

// strictDecoder is decoder for what people write: a field that does not exist is an error.
var strictDecoder = sync.OnceValue(func() runtime.Decoder {
	codecs := serializer.NewCodecFactory(Scheme(), serializer.EnableStrict)
	return codecs.UniversalDecoder(kueue.SchemeGroupVersion, corev1.SchemeGroupVersion, schedulingv1.SchemeGroupVersion, nodev1.SchemeGroupVersion, resourcev1.SchemeGroupVersion)
})

// Strict is [Objects] for files that people write: an unknown field or kind is an error.
func Strict(data []byte) ([]client.Object, error) { return decode(data, strictDecoder(), true) }

// Known is [Strict] without the fields that this version does not know. unknown is the error of Strict about them.
func Known(data []byte) (out []client.Object, unknown, err error) {
	if out, unknown = Strict(data); unknown == nil {
		return out, nil, nil
	}
	out, err = decode(data, decoder(), true)
	return out, unknown, err
}

// maxNested limits how deep lists are nested: each one is decoded again for every list around it.
const maxNested = 10

// one decodes a document. nested is the number of lists around it.
func (d decoding) one(doc []byte, nested int) ([]client.Object, error) {
	js, err := utilyaml.ToJSON(doc)
	if err == nil && !json.Valid(js) { // YAML that begins with a brace
		js, err = yaml.YAMLToJSON(doc)
	}
	if err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(js), []byte("null")) {
		return nil, nil
	}
	obj, _, err := d.decoder.Decode(js, nil, nil)
	if err != nil {
		switch {
		case d.known:
			return nil, plain(err, js)
		case runtime.IsNotRegisteredError(err):
			return nil, nil
		}
		return nil, err
	}
	if meta.IsListType(obj) {
		return d.list(obj, nested)
	}
	if o, ok := obj.(client.Object); ok {
		return []client.Object{o}, nil
	}
	return nil, nil
}

// plain words an error of the decoder about a document. The document itself is not shown: a wrong file may hold secrets.
func plain(err error, js []byte) error {
	var head struct{ APIVersion, Kind any }
	_ = json.Unmarshal(js, &head)
	kind, _ := head.Kind.(string)
	version, _ := head.APIVersion.(string)
	var other *json.UnmarshalTypeError
	switch {
	case runtime.IsNotRegisteredError(err):
		return fmt.Errorf("kind %s of %s is not one of Kueue's", kind, version)
	case kind == "":
		return errors.New("kind is missing")
	case version == "":
		return errors.New("apiVersion is missing")
	case errors.As(err, &other):
		return fmt.Errorf("%s has the wrong type: %s", cmp.Or(other.Field, kind), other.Value)
	}
	return err
}

// called returns the kind and the name of an object in parentheses, as far as it has them.
func called(js []byte) string {
	var head struct {
		Kind     any
		Metadata struct{ Name any }
	}
	_ = json.Unmarshal(js, &head) // what has another type is left out
	kind, _ := head.Kind.(string)
	name, _ := head.Metadata.Name.(string)
	if text := strings.TrimSpace(kind + " " + name); text != "" {
		return " (" + text + ")"
	}
	return ""
}

func (d decoding) list(list runtime.Object, nested int) ([]client.Object, error) {
	if nested == maxNested {
		return nil, fmt.Errorf("lists are nested more than %d deep", maxNested)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	var out []client.Object
	for i, item := range items {
		if raw, ok := item.(*runtime.Unknown); ok {
			objs, err := d.one(raw.Raw, nested+1)
			if err != nil {
				return nil, fmt.Errorf("items[%d]%s: %w", i, called(raw.Raw), err)
			}
			out = append(out, objs...)
			continue
		}
		if o, ok := item.(client.Object); ok {
			out = append(out, o)
		}
	}
	return out, nil
}
