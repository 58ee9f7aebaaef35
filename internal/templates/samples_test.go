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
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// samplesEnv names the environment variable with the path of a checkout of
// aws-samples/awsome-distributed-training.
const samplesEnv = "HYPERPOD_TEST_SAMPLES"

var sampleKind = regexp.MustCompile(`(?m)^\s*kind: *"?(PyTorchJob|MPIJob|HyperPodPyTorchJob)\b`)

// TestSamples renders every job sample of the public collection and compares
// with what `envsubst < sample | kubectl apply` would create.
func TestSamples(t *testing.T) {
	root := os.Getenv(samplesEnv)
	if root == "" {
		t.Skip("set " + samplesEnv + " to a checkout of aws-samples/awsome-distributed-training")
	}
	found := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.Ext(path), ".yaml") && !strings.Contains(filepath.Ext(path), "template") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !sampleKind.Match(data) {
			return err
		}
		found++
		rel, err := filepath.Rel(root, path)
		t.Run(rel, func(t *testing.T) { sameAsEnvsubst(t, rel, data) })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("only %d samples in %s", found, root)
	}
	t.Logf("%d samples", found)
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
	case name == "NAMESPACE":
		return "kubeflow"
	case name == "FI_PROVIDER":
		return "efa"
	case strings.HasSuffix(name, "INSTANCE_TYPE"):
		return "ml.p5.48xlarge"
	case strings.HasPrefix(name, "NUM_") || strings.Contains(name, "_PER_NODE") || strings.HasSuffix(name, "NODES") || strings.HasSuffix(name, "_SIZE"):
		return "2"
	}
	return "value-of-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

var sampleVariable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// envsubst replaces variables with GNU's program where there is one, else as it does.
func envsubst(t *testing.T, data []byte, env []string) []byte {
	path, err := exec.LookPath("envsubst")
	if err != nil {
		return sampleVariable.ReplaceAllFunc(data, func(m []byte) []byte { return []byte(sampleValue(strings.Trim(string(m), "${}"))) })
	}
	cmd := exec.CommandContext(t.Context(), path)
	cmd.Stdin, cmd.Env = bytes.NewReader(data), env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameAsEnvsubst(t *testing.T, name string, data []byte) {
	tm, err := Parse("sample", name, data)
	if err != nil {
		if strings.Contains(errs.Text(err, true), foreignText) {
			t.Skipf("refused: %s", strings.TrimSpace(errs.Text(err, false)))
		}
		t.Fatal(errs.Text(err, true))
	}
	params, env := map[string]any{}, []string{}
	for _, m := range sampleVariable.FindAllStringSubmatch(string(data), -1) {
		v := m[1] + m[2]
		env = append(env, v+"="+sampleValue(v))
		if tm.knows(v) {
			params[v] = sampleValue(v)
		}
	}
	substituted := envsubst(t, data, env)
	r, err := tm.Render(Values{Params: params})
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	var want []any
	plain := strings.TrimPrefix(strings.ReplaceAll(string(substituted), "\r\n", "\n"), "\ufeff")
	for _, doc := range regexp.MustCompile(`(?m)^---\s*$`).Split(plain, -1) {
		var o any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		if o != nil {
			want = append(want, o)
		}
	}
	var got []any
	data, _ = json.Marshal(r.Objects)
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	diff := differences("", settled(got), settled(want), nil)
	for _, d := range diff {
		t.Error(d)
	}
	for _, n := range r.Notices {
		t.Log("notice:", n)
	}
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
		for _, k := range sortedKeys(keys) {
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
	if reflect.DeepEqual(got, want) || strings.Contains(at, ".resources.") && sameAmount(got, want) {
		return out
	}
	return append(out, fmt.Sprintf("%s: rendered %v, envsubst has %v", at, got, want))
}

func sameAmount(a, b any) bool {
	x, err1 := resource.ParseQuantity(fmt.Sprint(a))
	y, err2 := resource.ParseQuantity(fmt.Sprint(b))
	return err1 == nil && err2 == nil && x.Cmp(y) == 0
}
