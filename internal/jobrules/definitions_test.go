package jobrules

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

var update = flag.Bool("update", false, "write definitions.json from the modules of the operators")

// source says where the definition of a kind is: a module, and a file in it. Modules that are not in go.mod have a version here.
type source struct {
	kind                  kinds.Job
	module, version, file string
	// apiVersion is the version of the API that is defined, "" for that of the kind.
	apiVersion string
}

// key is the name in definitions.json.
func (s source) key() string {
	if s.apiVersion == "" {
		return s.kind.FullName()
	}
	return s.kind.FullName() + "/" + s.apiVersion
}

var sources = []source{
	{kinds.JobSet, "sigs.k8s.io/jobset", "", "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml", ""},
	{kinds.RayJob, "github.com/ray-project/kuberay/ray-operator", "", "config/crd/bases/ray.io_rayjobs.yaml", ""},
	{kinds.RayCluster, "github.com/ray-project/kuberay/ray-operator", "", "config/crd/bases/ray.io_rayclusters.yaml", ""},
	{kinds.RayService, "github.com/ray-project/kuberay/ray-operator", "", "config/crd/bases/ray.io_rayservices.yaml", ""},
	{kinds.RayJob, "github.com/ray-project/kuberay/ray-operator", "", "config/crd/bases/ray.io_rayjobs.yaml", "v1alpha1"},
	{kinds.RayCluster, "github.com/ray-project/kuberay/ray-operator", "", "config/crd/bases/ray.io_rayclusters.yaml", "v1alpha1"},
	{kinds.RayService, "github.com/ray-project/kuberay/ray-operator", "", "config/crd/bases/ray.io_rayservices.yaml", "v1alpha1"},
	{kinds.PyTorchJob, "github.com/kubeflow/training-operator", "", "manifests/base/crds/kubeflow.org_pytorchjobs.yaml", ""},
	{kinds.TFJob, "github.com/kubeflow/training-operator", "", "manifests/base/crds/kubeflow.org_tfjobs.yaml", ""},
	{kinds.XGBoostJob, "github.com/kubeflow/training-operator", "", "manifests/base/crds/kubeflow.org_xgboostjobs.yaml", ""},
	{kinds.PaddleJob, "github.com/kubeflow/training-operator", "", "manifests/base/crds/kubeflow.org_paddlejobs.yaml", ""},
	{kinds.JAXJob, "github.com/kubeflow/training-operator", "", "manifests/base/crds/kubeflow.org_jaxjobs.yaml", ""},
	{kinds.MPIJob, "github.com/kubeflow/mpi-operator", "", "manifests/base/kubeflow.org_mpijobs.yaml", ""},
	{kinds.TrainJob, "github.com/kubeflow/trainer/v2", "", "manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml", ""},
	{kinds.AppWrapper, "github.com/project-codeflare/appwrapper", "", "config/crd/bases/workload.codeflare.dev_appwrappers.yaml", ""},
	{kinds.LeaderWorkerSet, "sigs.k8s.io/lws", "v0.9.0", "config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml", ""},
	{kinds.SparkApplication, "github.com/kubeflow/spark-operator/v2", "v2.5.1", "config/crd/bases/sparkoperator.k8s.io_sparkapplications.yaml", ""},
}

// filled are required fields that the operators' webhooks set where they are absent, and those of Ray that the next release asks for only
// with some backends. The webhooks of JobSets, LeaderWorkerSets and SparkApplications also write "" for absent names in pods, such as
// those of variables. These names stay required: the API server refuses the pods later.
var filled = map[string][]string{
	"JobSet":          {"spec.failurePolicy.rules.name"},
	"LeaderWorkerSet": {"spec.networkConfig.subdomainPolicy"},
	"RayCluster":      {"spec.gcsFaultToleranceOptions.redisAddress"},
	"RayJob":          {"spec.rayClusterSpec.gcsFaultToleranceOptions.redisAddress"},
	"RayService":      {"spec.rayClusterConfig.gcsFaultToleranceOptions.redisAddress"},
}

// TestDefinitions compares the versions of definitions.json with those that the program is built with.
func TestDefinitions(t *testing.T) {
	versions := required(t)
	if *update {
		write(t, versions)
		return
	}
	for _, s := range sources {
		have, want := loaded().Kinds[s.key()], s.version
		if want == "" {
			want = versions[s.module]
		}
		if have == nil || have.Source != s.module+" "+want {
			t.Errorf("%s is not from %s %s: run go test ./internal/jobrules -update", s.kind.Kind, s.module, want)
		}
	}
}

// TestRulesKnown finds rules of definitions that no function judges, and patterns that Go cannot read.
func TestRulesKnown(t *testing.T) {
	seen := map[string]bool{}
	var walk func(s *structural.Schema)
	walk = func(s *structural.Schema) {
		if s == nil {
			return
		}
		if _, err := regexp.Compile(s.Pattern); err != nil {
			t.Error(err)
		}
		for _, r := range s.Rules {
			seen[r.Rule] = true
			if rules[r.Rule] == nil {
				t.Errorf("no function for the rule %q (%s)", r.Rule, r.Message)
			}
		}
		for _, p := range s.Properties {
			walk(p)
		}
		walk(s.Items)
		walk(s.Additional)
	}
	for _, k := range loaded().Kinds {
		walk(k.Schema)
	}
	for _, s := range loaded().Shared {
		walk(s)
	}
	walk(workspace())
	for text := range rules {
		if !seen[text] {
			t.Errorf("no definition has the rule %q", text)
		}
	}
}

// required returns the versions of the modules in go.mod.
func required(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if words := strings.Fields(line); len(words) > 1 {
			out[words[0]] = words[1]
		}
	}
	return out
}

func write(t *testing.T, versions map[string]string) {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, s := range sources {
		if s.version == "" {
			s.version = versions[s.module]
		}
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(cache)), s.module+"@"+s.version, s.file))
		if err != nil {
			t.Fatalf("%v: run go mod download %s@%s", err, s.module, s.version)
		}
		all[s.key()] = map[string]any{"source": s.module + " " + s.version, "schema": definition(t, data, s.kind.Kind, cmp.Or(s.apiVersion, s.kind.Version))}
	}
	shared := share(t, all)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]any{"kinds": all, "shared": shared}); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`("[a-z0-9./]+":\{"(schema|source)"|"[0-9a-f]{8}":\{)`).ReplaceAllString(out.String(), "\n$1")
	if err := os.WriteFile("definitions.json", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func definition(t *testing.T, data []byte, kind, version string) any {
	t.Helper()
	var d struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	for _, v := range d.Spec.Versions {
		if v.Name == version {
			s := v.Schema.OpenAPIV3Schema
			delete(s["properties"].(map[string]any), "status")
			for _, path := range filled[kind] {
				if version == "v1alpha1" && strings.Contains(path, "gcsFaultToleranceOptions") { // which v1alpha1 does not have
					continue
				}
				forget(t, s, path)
			}
			return reduced(s, nil)
		}
	}
	t.Fatalf("no version %s", version)
	return nil
}

// forget takes a field from the required ones.
func forget(t *testing.T, s map[string]any, path string) {
	t.Helper()
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		if s = asMap(asMap(s["properties"])[k]); s["items"] != nil {
			s = asMap(s["items"])
		}
	}
	names, last := s["required"].([]any), keys[len(keys)-1]
	if !slices.Contains(names, any(last)) {
		t.Fatalf("%s is not required", path)
	}
	s["required"] = slices.DeleteFunc(names, func(n any) bool { return n == last })
}

// reduced returns what a schema demands besides types, which the Go types of the kinds know, nil if nothing. keys are those of the
// list whose items it describes.
func reduced(s map[string]any, keys []any) map[string]any {
	out := map[string]any{}
	for _, k := range []string{"enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"} {
		if s[k] != nil {
			out[k] = s[k]
		}
	}
	if s["pattern"] != nil && s["x-kubernetes-int-or-string"] == nil {
		out["pattern"] = s["pattern"]
	}
	var mapKeys []any
	switch s["x-kubernetes-list-type"] {
	case "map":
		mapKeys = s["x-kubernetes-list-map-keys"].([]any)
		out["x-kubernetes-list-type"], out["x-kubernetes-list-map-keys"] = "map", mapKeys
	case "set":
		out["x-kubernetes-list-type"] = "set"
	}
	var rules []any
	all, _ := s["x-kubernetes-validations"].([]any)
	for _, r := range all { // those about changes are not here
		r := r.(map[string]any)
		switch text := r["rule"].(string); {
		case strings.Contains(text, "oldSelf"):
		case strings.HasPrefix(text, "self in ["):
			var words []any
			for _, w := range regexp.MustCompile(`'([^']*)'`).FindAllStringSubmatch(text, -1) {
				words = append(words, w[1])
			}
			out["enum"] = words
		default:
			rules = append(rules, map[string]any{"rule": r["rule"], "message": r["message"]})
		}
	}
	if rules != nil {
		out["x-kubernetes-validations"] = rules
	}
	properties, inner := asMap(s["properties"]), map[string]any{}
	for name, p := range properties {
		p := asMap(p)
		less := reduced(p, nil)
		if slices.Contains(keys, any(name)) && p["default"] != nil {
			if less == nil {
				less = map[string]any{}
			}
			less["default"] = p["default"]
		}
		if less != nil {
			inner[name] = less
		}
	}
	if len(inner) > 0 {
		out["properties"] = inner
	}
	names, _ := s["required"].([]any)
	var required []any
	for _, name := range names { // a field with a default is never absent
		if p, ok := properties[name.(string)].(map[string]any); !ok || p["default"] == nil {
			required = append(required, name)
		}
	}
	if required != nil {
		out["required"] = required
	}
	if items, ok := s["items"].(map[string]any); ok {
		if less := reduced(items, mapKeys); less != nil {
			out["items"] = less
		}
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok {
		if less := reduced(more, nil); less != nil {
			out["additionalProperties"] = less
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// share moves schemas that occur more than once into a table of their own.
func share(t *testing.T, all map[string]any) map[string]any {
	t.Helper()
	count := map[string]int{}
	id := func(m map[string]any) string {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < 60 {
			return ""
		}
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:4])
	}
	// each calls f for the schemas in another one, and puts what it returns in their place.
	each := func(s map[string]any, f func(map[string]any) map[string]any) {
		for _, k := range []string{"items", "additionalProperties"} {
			if m, ok := s[k].(map[string]any); ok {
				s[k] = f(m)
			}
		}
		properties, _ := s["properties"].(map[string]any)
		for name, p := range properties {
			properties[name] = f(p.(map[string]any))
		}
	}
	var tally func(map[string]any) map[string]any
	tally = func(s map[string]any) map[string]any {
		if key := id(s); key != "" {
			if count[key]++; count[key] > 1 {
				return s
			}
		}
		each(s, tally)
		return s
	}
	shared := map[string]any{}
	var replace func(map[string]any) map[string]any
	replace = func(s map[string]any) map[string]any {
		key := id(s)
		each(s, replace)
		if key == "" || count[key] < 2 {
			return s
		}
		shared[key] = s
		return map[string]any{"ref": key}
	}
	for _, k := range all {
		tally(k.(map[string]any)["schema"].(map[string]any))
	}
	for _, k := range all {
		k := k.(map[string]any)
		k["schema"] = replace(k["schema"].(map[string]any))
	}
	return shared
}
