package openapi

import (
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/openapi/openapitest"
)

// The documents of API servers have the fields of their kinds, and no others. These are of Kubernetes 1.26, which lacks what came
// later.
func TestDocumentsOfAServer(t *testing.T) {
	paths, err := openapitest.NewEmbeddedFileClient().Paths()
	if err != nil {
		t.Fatal(err)
	}
	for path, kinds := range map[string][]any{
		"api/v1": {corev1.Pod{}, corev1.Service{}}, "apis/apps/v1": {appsv1.Deployment{}, appsv1.StatefulSet{}}, "apis/batch/v1": {batchv1.Job{}, batchv1.CronJob{}},
	} {
		data, err := paths[path].Schema("application/json")
		if err != nil {
			t.Fatal(err)
		}
		d, err := Read(data)
		if err != nil {
			t.Fatal(err)
		}
		group, _, found := strings.Cut(strings.TrimPrefix(path, "apis/"), "/")
		if path == "api/v1" || !found {
			group = ""
		}
		for _, object := range kinds {
			kind := reflect.TypeOf(object)
			fields, absent := 0, 0
			walk(kind, nil, func(field []string) {
				fields++
				if has, known := d.Has(group, "v1", kind.Name(), field); !known {
					t.Fatalf("%s is not known", kind.Name())
				} else if !has {
					absent++ // the document is of an older version
				}
				wrong := append(append([]string{}, field[:len(field)-1]...), field[len(field)-1]+"X")
				if has, _ := d.Has(group, "v1", kind.Name(), wrong); has {
					t.Errorf("%s has %v", kind.Name(), wrong)
				}
			})
			if has, _ := d.Has("batch", "v1", "Job", []string{"spec", "backoffLimitPerIndex"}); has {
				t.Error("the document has a field of a later version")
			}
			if fields < 50 || absent*5 > fields {
				t.Errorf("%s: the document lacks %d of %d fields", kind.Name(), absent, fields)
			}
		}
	}
}

// walk calls f for the paths of the fields of a type.
func walk(t reflect.Type, path []string, f func([]string)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		walk(t.Elem(), append(path[:len(path):len(path)], "0"), f)
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case strings.Contains(options, "inline"):
				walk(field.Type, path, f)
			case name != "" && name != "-":
				at := append(path[:len(path):len(path)], name)
				f(at)
				walk(field.Type, at, f)
			}
		}
	}
}
