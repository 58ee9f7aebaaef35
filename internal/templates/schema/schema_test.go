package schema

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The own table of a HyperPodPyTorchJob's fields, and the CRD that stands for the
// operator's on the test cluster, have the same fields.
func TestHyperPodShapeAgreesWithTheCRD(t *testing.T) {
	data, err := os.ReadFile("../../../test/cluster/static/hyperpodpytorchjob.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema crdSchema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &crd); err != nil || len(crd.Spec.Versions) != 1 {
		t.Fatal(err, len(crd.Spec.Versions))
	}
	agree(t, "spec", hyperPod(t), crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
}

// hyperPod returns the type of a field of a HyperPodPyTorchJob's spec, of its elements
// where it is a list.
func hyperPod(t *testing.T, path ...string) reflect.Type {
	t.Helper()
	at := shapeOf("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob")
	for _, key := range append([]string{"spec"}, path...) {
		field, ok := fieldOf(deref(at), key)
		if !ok {
			t.Fatalf("no field %s", key)
		}
		if at = deref(field); at.Kind() == reflect.Slice {
			at = at.Elem()
		}
	}
	return at
}

type crdSchema struct {
	Type       string               `json:"type"`
	Properties map[string]crdSchema `json:"properties"`
	Items      *crdSchema           `json:"items"`
}

func agree(t *testing.T, path string, own reflect.Type, s crdSchema) {
	t.Helper()
	own = deref(own)
	switch {
	case own == reflect.TypeFor[corev1.PodTemplateSpec]():
		return
	case own.Kind() == reflect.Slice && s.Items != nil:
		agree(t, path+"[]", own.Elem(), *s.Items)
	case own.Kind() == reflect.Struct:
		names, theirs := fieldNames(own), slices.Sorted(maps.Keys(s.Properties))
		slices.Sort(names)
		if !slices.Equal(names, theirs) {
			t.Errorf("%s: own %q, CRD %q", path, names, theirs)
			return
		}
		for _, n := range names {
			ft, _ := fieldOf(own, n)
			agree(t, path+"."+n, ft, s.Properties[n])
		}
	default:
		want := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int32: "integer", reflect.Int64: "integer", reflect.Interface: s.Type}[own.Kind()]
		if want == "" || s.Type != want {
			t.Errorf("%s: own %s, CRD %q", path, own.Kind(), s.Type)
		}
	}
}

// modelEnv names the environment variable with the path of a checkout of
// aws/sagemaker-hyperpod-cli v3, whose model of a HyperPodPyTorchJob is public.
const modelEnv = "HYPERPOD_TEST_V3"

// TestHyperPodShapeAgreesWithTheModel compares with the official CLI's model.
func TestHyperPodShapeAgreesWithTheModel(t *testing.T) {
	root := os.Getenv(modelEnv)
	if root == "" {
		t.Skip("set " + modelEnv + " to a checkout of aws/sagemaker-hyperpod-cli v3")
	}
	data, err := os.ReadFile(filepath.Join(root, "src/sagemaker/hyperpod/training/config/hyperpod_pytorch_job_unified_config.py"))
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string][]string{}
	class := ""
	field := regexp.MustCompile(`^    ([a-z][A-Za-z]*): `)
	for line := range strings.Lines(string(data)) {
		if name, found := strings.CutPrefix(line, "class "); found {
			class, _, _ = strings.Cut(name, "(")
		} else if m := field.FindStringSubmatch(line); m != nil {
			classes[class] = append(classes[class], m[1])
		}
	}
	for class, own := range map[string]reflect.Type{"_HyperPodPytorchJob": hyperPod(t), "RunPolicy": hyperPod(t, "runPolicy"),
		"RestartPolicy": hyperPod(t, "runPolicy", "restartPolicy"), "LogMonitoringConfiguration": hyperPod(t, "runPolicy", "logMonitoringConfiguration"),
		"ElasticPolicy": hyperPod(t, "elasticPolicy"), "ReplicaSpec": hyperPod(t, "replicaSpecs")} {
		names := fieldNames(own)
		slices.Sort(names)
		slices.Sort(classes[class])
		if !slices.Equal(names, classes[class]) {
			t.Errorf("%s: own %q, the model %q", class, names, classes[class])
		}
	}
}
