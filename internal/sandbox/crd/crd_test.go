package crd

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

var update = flag.Bool("update", false, "write the schemas from the definitions of Kueue's module")

// kinds maps a kind to the plural in the name of its definition.
var kinds = map[string]string{"ClusterQueue": "clusterqueues", "LocalQueue": "localqueues", "Cohort": "cohorts", "ResourceFlavor": "resourceflavors",
	"Topology": "topologies", "AdmissionCheck": "admissionchecks", "WorkloadPriorityClass": "workloadpriorityclasses"}

// definition returns the schema of a kind in Kueue's module, without the status and the
// descriptions.
func definition(t *testing.T, kind string) []byte {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "config/components/crd/bases/kueue.x-k8s.io_"+kinds[kind]+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := yaml.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	for _, v := range d["spec"].(map[string]any)["versions"].([]any) {
		v := v.(map[string]any)
		if v["name"] != "v1beta2" {
			continue
		}
		s := v["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		delete(s["properties"].(map[string]any), "status")
		strip(s)
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	t.Fatalf("no v1beta2 of %s", kind)
	return nil
}

// strip removes the descriptions of schemas.
func strip(s map[string]any) {
	delete(s, "description")
	for key, v := range s {
		m, ok := v.(map[string]any)
		switch {
		case !ok:
		case key == "properties":
			for _, p := range m {
				strip(p.(map[string]any))
			}
		case key == "items" || key == "additionalProperties":
			strip(m)
		}
	}
}

func TestSchemasAreKueues(t *testing.T) {
	for kind := range kinds {
		path, want := filepath.Join("schemas", kind+".json"), definition(t, kind)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not the schema of Kueue's module; run the test with -update (%v)", path, err)
		}
	}
}

func TestEveryRuleAndPatternIsKnown(t *testing.T) {
	used := map[string]bool{}
	var walk func(kind string, s *structural.Schema)
	walk = func(kind string, s *structural.Schema) {
		if s == nil {
			return
		}
		if _, err := regexp.Compile(s.Pattern); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for _, r := range s.Rules {
			if used[r.Rule] = true; rules[r.Rule] == nil {
				t.Errorf("%s: no function for %q", kind, r.Rule)
			}
		}
		for _, p := range s.Properties {
			walk(kind, p)
		}
		walk(kind, s.Items)
		walk(kind, s.Additional)
	}
	for kind := range kinds {
		walk(kind, loaded()[kind])
	}
	for r := range rules {
		if !used[r] {
			t.Errorf("no schema has the rule %q", r)
		}
	}
}

// library judges with the code of the API server.
type library struct {
	structural *schema.Structural
	values     validation.SchemaCreateValidator
	rules      *cel.Validator
}

func newLibrary(t *testing.T, kind string) library {
	t.Helper()
	data, err := schemaFiles.ReadFile("schemas/" + kind + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var v1 apiv1.JSONSchemaProps
	if err := json.Unmarshal(data, &v1); err != nil {
		t.Fatal(err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props, nil); err != nil {
		t.Fatal(err)
	}
	s, err := schema.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		t.Fatal(err)
	}
	return library{s, v, cel.NewValidator(s, true, celconfig.PerCallLimit)}
}

func (l library) judge(m, old map[string]any) field.ErrorList {
	all := validation.ValidateCustomResource(nil, m, l.values)
	all = append(all, listtype.ValidateListSetsAndMaps(nil, l.structural, m)...)
	// As in strategy.go of its registry, which is not exported.
	if slices.ContainsFunc(all, blocking) {
		if l.rules != nil {
			all = append(all, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
		return all
	}
	if l.rules == nil {
		return all
	}
	var before any
	if old != nil {
		before = old
	}
	broken, _ := l.rules.Validate(context.Background(), nil, l.structural, m, before, celconfig.RuntimeCELCostBudget)
	return append(all, broken...)
}

// samples are objects that the API server accepts, with every field that has a rule.
var samples = map[string]string{
	"ClusterQueue": `{"metadata":{"name":"a"},"spec":{"cohortName":"all","queueingStrategy":"StrictFIFO","namespaceSelector":{"matchLabels":{"a":"b"}},
		"preemption":{"reclaimWithinCohort":"Any","withinClusterQueue":"LowerPriority","borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":3}},
		"flavorFungibility":{"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor","preference":"BorrowingOverPreemption"},"fairSharing":{"weight":"2"},
		"admissionChecksStrategy":{"admissionChecks":[{"name":"c","onFlavors":["f"]}]},"stopPolicy":"None",
		"resourceGroups":[{"coveredResources":["cpu","memory"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"9","borrowingLimit":"1","lendingLimit":2},{"name":"memory","nominalQuota":"9Gi"}]},
		{"name":"g","resources":[{"name":"cpu","nominalQuota":"9"},{"name":"memory","nominalQuota":"9Gi"}]}]},{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"h","resources":[{"name":"nvidia.com/gpu","nominalQuota":8}]}]}]}}`,
	"LocalQueue":            `{"metadata":{"name":"a"},"spec":{"clusterQueue":"a","stopPolicy":"Hold","fairSharing":{"weight":"2"}}}`,
	"Cohort":                `{"metadata":{"name":"a"},"spec":{"parentName":"b","fairSharing":{"weight":"1"},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"9","borrowingLimit":"1","lendingLimit":"2"}]}]}]}}`,
	"ResourceFlavor":        `{"metadata":{"name":"a"},"spec":{"nodeLabels":{"a":"b","c":"d"},"topologyName":"t","nodeTaints":[{"key":"k","value":"v","effect":"NoSchedule"}],"tolerations":[{"key":"k","operator":"Equal","value":"v","effect":"NoExecute","tolerationSeconds":3},{"operator":"Exists"}]}}`,
	"Topology":              `{"metadata":{"name":"a"},"spec":{"levels":[{"nodeLabel":"block"},{"nodeLabel":"rack"},{"nodeLabel":"kubernetes.io/hostname"}]}}`,
	"AdmissionCheck":        `{"metadata":{"name":"a"},"spec":{"controllerName":"x/y","parameters":{"apiGroup":"g","kind":"K","name":"n"}}}`,
	"WorkloadPriorityClass": `{"metadata":{"name":"a"},"value":3,"description":"x"}`,
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	m := map[string]any{}
	if err := kjson.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// mutate changes a random value below v: removes it, repeats it, or replaces it.
func mutate(r *rand.Rand, v any) any {
	odd := []any{"", "x", "-3", "UPPER_case", "Never", "None", "Exists", "NoExecute", "kubernetes.io/hostname", int64(-1), int64(0), true, []any{}, map[string]any{},
		strings.Repeat("a", 300), "cpu", "f"}
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 || r.IntN(12) == 0 {
			return odd[r.IntN(len(odd))]
		}
		k := keys[r.IntN(len(keys))]
		if r.IntN(4) == 0 {
			delete(v, k)
		} else {
			v[k] = mutate(r, v[k])
		}
		return v
	case []any:
		switch n := len(v); {
		case n == 0 || r.IntN(12) == 0:
			return odd[r.IntN(len(odd))]
		case r.IntN(5) == 0:
			return append(v, v[r.IntN(n)])
		case r.IntN(8) == 0:
			return slices.Delete(v, n-1, n)
		}
		i := r.IntN(len(v))
		v[i] = mutate(r, v[i])
		return v
	}
	return odd[r.IntN(len(odd))]
}

// said returns faults as texts that can be compared: the order of faults and the printed
// value of a rule are not part of the contract. Of objects with a value of a wrong type,
// only that counts: the decoding into Go types refuses them first.
func texts(all field.ErrorList) []string {
	var out []string
	for _, e := range all {
		if e.Type == field.ErrorTypeTypeInvalid {
			return []string{"wrong type"}
		}
		out = append(out, fmt.Sprintf("%s: %s: %s", e.Field, e.Type, e.Detail))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestValidateLikeTheAPIServer(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 600
	}
	refused := 0
	for kind, sample := range samples {
		l, r := newLibrary(t, kind), rand.New(rand.NewPCG(7, uint64(len(kind))))
		accepted := decoded(t, sample)
		Default(kind, accepted)
		if all := l.judge(accepted, nil); len(all) > 0 {
			t.Fatalf("%s: the sample is refused: %v", kind, all)
		}
		for range rounds {
			text := sample
			m := decoded(t, text)
			for range 1 + r.IntN(3) {
				mutate(r, m)
			}
			if _, ok := m["metadata"].(map[string]any); !ok {
				continue // the API server decodes the metadata on its own
			}
			var old map[string]any
			if r.IntN(2) == 0 {
				old = accepted
			}
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			theirs, ours := decoded(t, string(raw)), decoded(t, string(raw))
			defaulting.Default(theirs, l.structural)
			Default(kind, ours)
			if a, b := fmt.Sprint(theirs), fmt.Sprint(ours); a != b {
				t.Fatalf("%s: defaults of %s:\n%s\nwant\n%s", kind, raw, b, a)
			}
			want, have := texts(l.judge(theirs, old)), texts(Validate(kind, ours, old))
			if len(want) > 0 {
				refused++
			}
			if !slices.Equal(have, want) {
				t.Fatalf("%s: %s (changed: %v)\nhave %q\nwant %q", kind, raw, old != nil, have, want)
			}
		}
	}
	if refused < rounds {
		t.Errorf("only %d objects were refused; the test needs more", refused)
	}
}
