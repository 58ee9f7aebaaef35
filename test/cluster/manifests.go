package cluster

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Object is a Kubernetes object as decoded JSON.
type Object = map[string]any

//go:embed static/stages.yaml
var kwokStages string

//go:embed static/hyperpodpytorchjob.yaml
var hyperPodPyTorchJobCRD []byte

//go:embed static/notebook.yaml
var notebookCRD []byte

var documentEnd = regexp.MustCompile(`(?m)^---\s*$`)

// parseObjects reads a multi-document YAML.
func parseObjects(text []byte) ([]Object, error) {
	var objects []Object
	for i, part := range documentEnd.Split(string(text), -1) {
		var o Object
		if err := yaml.Unmarshal([]byte(part), &o); err != nil {
			return nil, fmt.Errorf("document %d is not YAML: %w", i+1, err)
		}
		if len(o) > 0 {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// field reads a string at a path of o, "" when it is not there.
func field(o Object, path ...string) string {
	for _, key := range path[:len(path)-1] {
		o, _ = o[key].(Object)
	}
	s, _ := o[path[len(path)-1]].(string)
	return s
}

func isDefinition(o Object) bool { return field(o, "kind") == "CustomResourceDefinition" }

// shipped is what a component's project ships, adapted to processes in place of pods.
type shipped struct {
	objects     []Object
	apiServices []Object // made when their server answers: a failed first look is remembered for long
	config      Object   // Kueue's configuration
}

// load reads the rendered manifests of c.
func (b *Bed) load(c Component) (*shipped, error) {
	text, err := os.ReadFile(b.binaries.manifests[c])
	if err != nil {
		return nil, fmt.Errorf("the manifests of %s are gone from the cache: %w; delete the cache folder and build again", c, err)
	}
	var objects []Object
	if err := json.Unmarshal(text, &objects); err != nil {
		return nil, fmt.Errorf("the manifests of %s in the cache are damaged: %w; delete the cache folder and build again", c, err)
	}
	s := &shipped{}
	for _, o := range objects {
		switch kind, name := field(o, "kind"), field(o, "metadata", "name"); {
		case kind == "Deployment":
			// The process takes its place.
		case kind == "Service":
			// Without a selector the controller-manager leaves the EndpointSlices to us.
			if spec, ok := o["spec"].(Object); ok {
				delete(spec, "selector")
			}
			s.objects = append(s.objects, o)
		case kind == "CustomResourceDefinition" && c == TrainingOperator && name == "mpijobs.kubeflow.org":
			// The same CRD in an older version; the mpi-operator brings the one in use.
		case kind == "Secret":
			// Filled with certificates when the process is set up.
		case kind == "APIService":
			s.apiServices = append(s.apiServices, o)
		case kind == "ConfigMap" && name == "kueue-manager-config":
			if err := yaml.Unmarshal([]byte(field(o, "data", "controller_manager_config.yaml")), &s.config); err != nil {
				return nil, fmt.Errorf("the shipped configuration of Kueue: %w", err)
			}
			s.objects = append(s.objects, o)
		case kind == "CustomResourceDefinition":
			dropDescriptions(o)
			s.objects = append(s.objects, o)
		default:
			s.objects = append(s.objects, o)
		}
	}
	return s, nil
}

// dropDescriptions takes the texts out of a schema: three quarters of a CRD's bytes, which the API server
// copies many times while it starts, and nothing here reads. A property that is called description stays.
func dropDescriptions(schema any) {
	switch v := schema.(type) {
	case Object:
		if _, isText := v["description"].(string); isText {
			delete(v, "description")
		}
		for _, inner := range v {
			dropDescriptions(inner)
		}
	case []any:
		for _, inner := range v {
			dropDescriptions(inner)
		}
	}
}

// setConfig puts the configuration that Kueue runs with into its ConfigMap, for
// those who read it there.
func (s *shipped) setConfig(config []byte) {
	for _, o := range s.objects {
		if field(o, "kind") == "ConfigMap" && field(o, "metadata", "name") == "kueue-manager-config" {
			o["data"] = Object{"controller_manager_config.yaml": string(config)}
		}
	}
}

// kubeflowFrameworks are the training kinds that Kueue knows but no longer manages by default.
var kubeflowFrameworks = []string{
	"kubeflow.org/pytorchjob", "kubeflow.org/tfjob", "kubeflow.org/xgboostjob", "kubeflow.org/paddlejob", "kubeflow.org/jaxjob",
}

// kueueConfig is the shipped configuration with all Kubeflow kinds on, fair sharing and devices as asked for, and without leader election.
func kueueConfig(shipped Object, o Options) ([]byte, error) {
	leader, ok1 := shipped["leaderElection"].(Object)
	integrations, ok2 := shipped["integrations"].(Object)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("the shipped configuration of Kueue has no leaderElection or integrations; adjust kueueConfig")
	}
	leader["leaderElect"] = false
	frameworks, _ := integrations["frameworks"].([]any)
	wanted := kubeflowFrameworks
	if o.AllKinds {
		wanted = append(slices.Clone(wanted), "sparkoperator.k8s.io/sparkapplication")
	}
	for _, f := range wanted {
		if !slices.Contains(frameworks, any(f)) {
			frameworks = append(frameworks, f)
		}
	}
	integrations["frameworks"] = frameworks
	if len(o.DeviceClasses) > 0 {
		var mappings []any
		for _, class := range slices.Sorted(maps.Keys(o.DeviceClasses)) {
			mappings = append(mappings, Object{"name": o.DeviceClasses[class], "deviceClassNames": []any{class}})
		}
		resources, _ := shipped["resources"].(Object)
		if resources == nil {
			resources = Object{}
			shipped["resources"] = resources
		}
		resources["deviceClassMappings"] = mappings
	}
	if o.UseHalfLife > 0 {
		shipped["admissionFairSharing"] = Object{"usageHalfLifeTime": o.UseHalfLife.String(), "usageSamplingInterval": "1s"}
	}
	delete(shipped, "fairSharing")
	if o.NoFairSharing {
		return yaml.Marshal(shipped)
	}
	sharing := Object{"preemptionStrategies": []any{"LessThanOrEqualToFinalShare", "LessThanInitialShare"}}
	if strings.HasSuffix(field(shipped, "apiVersion"), "/v1beta1") {
		sharing["enable"] = true
	}
	shipped["fairSharing"] = sharing
	return yaml.Marshal(shipped)
}

// Apply applies multi-document YAML (or a stream of JSON objects) server-side.
func (b *Bed) Apply(ctx context.Context, manifest []byte) error {
	_, err := b.kubectl(ctx, b.Kubeconfig, manifest, "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}

// ApplyObjects applies the objects server-side.
func (b *Bed) ApplyObjects(ctx context.Context, objects ...Object) error {
	if len(objects) == 0 {
		return nil
	}
	stream, err := jsonStream(objects)
	if err != nil {
		return err
	}
	return b.Apply(ctx, stream)
}

// install creates the objects in an empty cluster: namespaces first, then all at once, which is far
// faster than kubectl with its one request at a time.
func (b *Bed) install(ctx context.Context, objects []Object) error {
	var namespaces, rest []Object
	for _, o := range objects {
		if field(o, "kind") == "Namespace" {
			namespaces = append(namespaces, o)
		} else {
			rest = append(rest, o)
		}
	}
	for _, group := range [][]Object{namespaces, rest} {
		var creates []func() error
		for _, o := range group {
			creates = append(creates, func() error { return b.post(ctx, collection(o), o, nil) })
		}
		if err := parallel(creates...); err != nil {
			return err
		}
	}
	return nil
}

// waitServed waits until every version of the CRDs among objects is in discovery; operators give up,
// or leave kinds out, when they start earlier.
func (b *Bed) waitServed(ctx context.Context, objects []Object) error {
	return b.poll(ctx, "the operators' kinds to be served", func(ctx context.Context) error {
		served := map[string]bool{} // what discovery says, by group/version/plural
		asked := map[string]bool{}
		for _, o := range objects {
			if !isDefinition(o) {
				continue
			}
			var crd struct {
				Spec struct {
					Group    string
					Names    struct{ Plural string }
					Versions []struct {
						Name   string
						Served bool
					}
				}
			}
			if err := convert(o, &crd); err != nil {
				return err
			}
			for _, v := range crd.Spec.Versions {
				groupVersion := crd.Spec.Group + "/" + v.Name
				if !asked[groupVersion] {
					asked[groupVersion] = true
					var list struct{ Resources []struct{ Name string } }
					if err := b.Get(ctx, "/apis/"+groupVersion, &list); err != nil {
						return err
					}
					for _, r := range list.Resources {
						served[groupVersion+"/"+r.Name] = true
					}
				}
				if key := groupVersion + "/" + crd.Spec.Names.Plural; v.Served && !served[key] {
					return fmt.Errorf("%s is not served yet", key)
				}
			}
		}
		return nil
	})
}

// convert reads one JSON shape as another.
func convert(from, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// collection is the path that objects of o's kind are created at, by the naming rule that all
// kinds in the operators' manifests follow.
func collection(o Object) string {
	path := "/apis/" + field(o, "apiVersion")
	if field(o, "apiVersion") == "v1" {
		path = "/api/v1"
	}
	if namespace := field(o, "metadata", "namespace"); namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + strings.ToLower(field(o, "kind")) + "s"
}

func jsonStream(objects []Object) ([]byte, error) {
	var stream bytes.Buffer
	enc := json.NewEncoder(&stream)
	for _, o := range objects {
		if err := enc.Encode(o); err != nil {
			return nil, fmt.Errorf("cannot encode %s %s: %w", field(o, "kind"), field(o, "metadata", "name"), err)
		}
	}
	return stream.Bytes(), nil
}
