package templates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// samplesEnv names the environment variable with the path of a checkout of
// aws-samples/awsome-distributed-training.
const samplesEnv = "HYPERPOD_TEST_SAMPLES"

var sampleKind = regexp.MustCompile(`(?m)^\s*kind: *["']?(PyTorchJob|MPIJob|HyperPodPyTorchJob)\b`)

// TestSamples renders every job sample of the public collection, whatever its file
// is called, and compares with what `envsubst < sample | kubectl apply` would create.
// docs/compatibility.md has the figures.
func TestSamples(t *testing.T) {
	root := os.Getenv(samplesEnv)
	if root == "" {
		t.Skip("set " + samplesEnv + " to a checkout of aws-samples/awsome-distributed-training")
	}
	var same, refused []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(root, ".git")+"/") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !sampleKind.Match(data) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		t.Run(rel, func(t *testing.T) {
			if sameAsEnvsubst(t, rel, data) {
				same = append(same, rel)
			} else {
				refused = append(refused, rel)
			}
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(same) < 20 {
		t.Errorf("only %d samples in %s", len(same), root)
	}
	t.Logf("%d samples mean the same as with envsubst, %d are refused by name:\n%s", len(same), len(refused), strings.Join(refused, "\n"))
}

// TestSampleShapes does the same with the odd shapes that samples have: empty
// quantities, comments with $, anchors, quoted placeholders, several documents.
func TestSampleShapes(t *testing.T) {
	files, err := filepath.Glob("testdata/samples/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(err, files)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) { sameAsEnvsubst(t, path, data) })
		t.Run(filepath.Base(path)+" with CRLF and BOM", func(t *testing.T) {
			sameAsEnvsubst(t, path, []byte("\ufeff"+strings.ReplaceAll(string(data), "\n", "\r\n")))
		})
	}
}

// sampleValue is what a variable of a sample is set to.
func sampleValue(name string) string {
	switch {
	case name == "GPU_RESOURCE":
		return "nvidia.com/gpu"
	case name == "NAMESPACE":
		return "kubeflow"
	case name == "FI_PROVIDER":
		return "efa"
	case strings.HasSuffix(name, "INSTANCE_TYPE"):
		return "ml.p5.48xlarge"
	case strings.HasSuffix(name, "_REQUEST"), strings.HasSuffix(name, "_LIMIT"), strings.HasSuffix(name, "SHM"):
		return "4Gi"
	case strings.HasSuffix(name, "_GPUS"), strings.HasSuffix(name, "_REPLICAS"), strings.HasSuffix(name, "_RETRY"):
		return "2"
	case strings.HasPrefix(name, "NUM_") || strings.Contains(name, "_PER_NODE") || strings.HasSuffix(name, "NODES") || strings.HasSuffix(name, "_SIZE"):
		return "2"
	}
	return "value-of-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

var sampleVariable = regexp.MustCompile(`\$?\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// sampleVariables are the names of a sample's variables. $$NAME is none: it is the
// container's, and Kubernetes makes $NAME of it.
func sampleVariables(data []byte) (names []string) {
	for _, m := range sampleVariable.FindAllStringSubmatch(string(data), -1) {
		if name := m[1] + m[2]; !strings.HasPrefix(m[0], "$$") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// envsubst replaces variables with GNU's program where there is one, else as it
// does. $$NAME stays for the container, as in the variant of the program that the
// samples with such names ask for.
func envsubst(t *testing.T, data []byte) []byte {
	names := sampleVariables(data)
	path, err := exec.LookPath("envsubst")
	if err != nil {
		return sampleVariable.ReplaceAllFunc(data, func(m []byte) []byte {
			if name := strings.Trim(string(m), "${}"); !bytes.HasPrefix(m, []byte("$$")) && slices.Contains(names, name) {
				return []byte(sampleValue(name))
			}
			return m
		})
	}
	const kept = "\ue0ff"
	list := "$none"
	cmd := exec.CommandContext(t.Context(), path)
	for _, n := range names {
		list += " $" + n
		cmd.Env = append(cmd.Env, n+"="+sampleValue(n))
	}
	cmd.Args = append(cmd.Args, list)
	cmd.Stdin = bytes.NewReader(bytes.ReplaceAll(data, []byte("$$"), []byte(kept)))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(out, []byte(kept), []byte("$$"))
}

// refusals are what a sample may be refused for: it becomes a manifest only after another program has run, or
// the operator refuses it too.
var refusals = []string{manifest.ForeignText, "which the Kubeflow training operator asks for"}

// sameAsEnvsubst compares; false means that the sample is refused, rightly.
func sameAsEnvsubst(t *testing.T, name string, data []byte) bool {
	t.Helper()
	rightly := func(err error) bool {
		text := errs.Text(err, false)
		if !slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(text, r) }) {
			t.Fatal(errs.Text(err, true))
		}
		t.Logf("refused: %s", strings.TrimSpace(text))
		return false
	}
	tm, err := parse.Text("sample", name, data)
	if err != nil {
		if _, wrong := yamlDocuments(envsubst(t, data)); wrong != nil {
			t.Logf("refused: no YAML with envsubst either (%v): %s", wrong, strings.TrimSpace(errs.Text(err, false)))
			return false
		}
		return rightly(err)
	}
	params := map[string]any{}
	for _, name := range sampleVariables(data) {
		if tm.Knows(name) {
			params[name] = sampleValue(name)
		}
	}
	r, err := render.Objects(tm, values.Values{Params: params})
	if err != nil {
		return rightly(err)
	}
	want, err := yamlDocuments(envsubst(t, data))
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	rendered, _ := json.Marshal(r.Objects)
	if err := json.Unmarshal(rendered, &got); err != nil {
		t.Fatal(err)
	}
	diff := differences("", settled(got), settled(want), nil)
	for _, d := range diff {
		t.Error(d)
	}
	for _, n := range r.Notices {
		t.Log("notice:", n)
	}
	if _, faults, _ := render.Check("sample", name, data); len(faults) > 0 {
		t.Errorf("faults of what renders: %+v", faults)
	}
	return true
}

// yamlDocuments reads a manifest as kubectl does.
func yamlDocuments(text []byte) ([]any, error) {
	var out []any
	plain := strings.TrimPrefix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\ufeff")
	for _, doc := range regexp.MustCompile(`(?m)^---\s*$`).Split(plain, -1) {
		var o any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			return nil, err
		}
		if o != nil {
			out = append(out, o)
		}
	}
	return out, nil
}

// settled removes what is known to differ: our own annotation, and empty values,
// which the API server drops.
func settled(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, c := range v {
			if c = settled(c); c == nil || k == kinds.TemplateAnnotation {
				delete(v, k)
			} else if m, ok := c.(map[string]any); ok && len(m) == 0 && k == "annotations" {
				delete(v, k)
			} else {
				v[k] = c
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = settled(v[i])
		}
	}
	return v
}

// differences lists the paths at which two values differ. Quantities are
// compared as amounts.
func differences(at string, got, want any, out []string) []string {
	gm, ok1 := got.(map[string]any)
	wm, ok2 := want.(map[string]any)
	if ok1 && ok2 {
		keys := map[string]bool{}
		for k := range gm {
			keys[k] = true
		}
		for k := range wm {
			keys[k] = true
		}
		for _, k := range manifest.SortedKeys(keys) {
			out = differences(at+"."+k, gm[k], wm[k], out)
		}
		return out
	}
	gl, ok1 := got.([]any)
	wl, ok2 := want.([]any)
	if ok1 && ok2 && len(gl) == len(wl) {
		for i := range gl {
			out = differences(fmt.Sprintf("%s[%d]", at, i), gl[i], wl[i], out)
		}
		return out
	}
	// Kubernetes makes $ of $$ in commands, arguments and environments.
	if g, ok := got.(string); ok {
		got = strings.ReplaceAll(g, "$$", "$")
	}
	if w, ok := want.(string); ok {
		want = strings.ReplaceAll(w, "$$", "$")
	}
	if reflect.DeepEqual(got, want) || (strings.Contains(at, ".resources.") || strings.HasSuffix(at, ".sizeLimit")) && sameAmount(got, want) {
		return out
	}
	return append(out, fmt.Sprintf("%s: rendered %v, envsubst has %v", at, got, want))
}

func sameAmount(a, b any) bool {
	x, err1 := resource.ParseQuantity(fmt.Sprint(a))
	y, err2 := resource.ParseQuantity(fmt.Sprint(b))
	return err1 == nil && err2 == nil && x.Cmp(y) == 0
}
