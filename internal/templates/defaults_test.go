package templates

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// ${NAME:-DEFAULT} is a parameter with a default where no program reads the text,
// and the shell's where one does.
func TestDefaultsInPlaceholders(t *testing.T) {
	text := "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: '${job:-j}'}\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: ${NODE_COUNT:-2}\n      template:\n        spec:\n" +
		"          nodeSelector: {zone: ${zone-a}, \"${key:-pool}\": x}\n          containers:\n          - name: pytorch\n            image: ${repo:-example.com/i}:${tag:-1.10}\n" +
		"            command: [bash, -c, 'run ${lr:-0.1} ${tag:-2} ${OWN:-3}']\n            env: [{name: OWN, value: x}, {name: LR, value: '${lr:-0.1}'}]\n            resources: {limits: {nvidia.com/gpu: ${gpus:-1}}}\n"
	tm := mustParse(t, text)
	var names []string
	for _, p := range tm.Params {
		names = append(names, p.Name)
		if p.Required || p.Default == nil {
			t.Errorf("%s: required %v, default %v", p.Name, p.Required, p.Default)
		}
	}
	if want := []string{"job", "NODE_COUNT", "zone", "repo", "tag", "gpus", "key"}; !slices.Equal(names, want) {
		t.Errorf("parameters %q, want %q", names, want)
	}
	const script = workerContainer + ".command[2]"
	for _, c := range []struct {
		v    values.Values
		want map[string]any
	}{
		{values.Values{}, map[string]any{"metadata.name": "j", "spec.pytorchReplicaSpecs.Worker.replicas": int64(2), workerContainer + ".image": "example.com/i:1.10",
			workerPod + ".nodeSelector": map[string]any{"zone": "a", "pool": "x"}, workerContainer + `.resources.limits["nvidia.com/gpu"]`: int64(1),
			script: "run ${lr:-0.1} ${tag:-2} ${OWN:-3}", workerContainer + ".env[1].value": "${lr:-0.1}"}},
		{values.Values{Name: "n", NodeCount: values.Int(3), Params: map[string]any{"tag": "2.0", "zone": "", "repo": "", "gpus": 4}}, map[string]any{"metadata.name": "n", "spec.pytorchReplicaSpecs.Worker.replicas": int64(3),
			workerContainer + ".image": "example.com/i:2.0", workerPod + ".nodeSelector.zone": "", workerContainer + `.resources.limits["nvidia.com/gpu"]`: int64(4), script: "run ${lr:-0.1} ${tag:-2} ${OWN:-3}"}},
	} {
		r := mustRender(t, tm, c.v)
		for path, want := range c.want {
			if got := at(t, r.Objects[0], path); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: %s is %#v, want %#v", c.v, path, got, want)
			}
		}
		// The shell's own is named where it has a parameter's name.
		if n := strings.Join(r.Notices, "\n"); !strings.Contains(n, "${tag:-2} in "+script+" is left to the shell") || strings.Contains(n, "OWN") {
			t.Errorf("notices %q", r.Notices)
		}
	}
	// The header's word counts.
	head := "parameters: {tag: {type: string, default: 7}, repo: {type: string}, zone: {required: true}}\n---\n"
	if _, err := render.Objects(mustParse(t, head+text), values.Values{}); err == nil || !strings.Contains(errs.Text(err, false), "requires a value for zone") {
		t.Errorf("a required parameter: %v", err)
	}
	if got := at(t, mustRender(t, mustParse(t, head+text), values.Values{Params: map[string]any{"zone": "b"}}).Objects[0], workerContainer+".image"); got != "example.com/i:7" {
		t.Errorf("declared: image %v", got)
	}
	for bad, want := range map[string]string{
		"name: ${x:-a}${x:-b}":          "line 3:18: ${x:-a} and ${x:-b} give one parameter two defaults",
		"name: '${x:?say it}'":          "line 3:18: ${x:?say it} is shell syntax",
		"name: \"${x:-$y}\"":            "line 3:18: ${x:-$y} is shell syntax",
		"name: a\n  namespace: ${x//a}": "line 4:14: ${x//a} is shell syntax",
	} {
		_, err := parse.Text("t", "t", []byte("apiVersion: example.com/v1\nkind: Thing\nmetadata: {"+strings.ReplaceAll(bad, "\n ", ",\n ")+"}\n"))
		if err == nil || !strings.Contains(errs.Text(err, false), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
	typed := "parameters: {x: {type: int}}\n---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nn: ${x:-one}\n"
	if _, err := parse.Text("t", "t", []byte(typed)); err == nil || !strings.Contains(err.Error(), `invalid default: "one" is not a whole number`) {
		t.Errorf("a default of another type: %v", err)
	}
}

// A number stays as it is written where it is text: the tag 1.10 is not 1.1.
func TestNumbersAsWritten(t *testing.T) {
	for _, tag := range []string{"1.10", "1e3", "2.0", "TRUE", "+1", "1."} {
		for name, c := range map[string]struct {
			header string
			v      values.Values
		}{
			"given":           {"", values.Values{Params: map[string]any{"T": tag}}},
			"--set":           {"", values.Values{Set: []fieldpath.Assignment{{Key: "T", Value: tag}}}},
			"a default":       {"parameters: {T: {default: " + tag + "}}\n---\n", values.Values{}},
			"a plain default": {"parameters: {T: " + tag + "}\n---\n", values.Values{}},
			"text":            {"parameters: {T: {type: string, default: " + tag + "}}\n---\n", values.Values{}},
			"one of":          {"parameters: {T: {required: true, enum: [0, " + tag + "]}}\n---\n", values.Values{Params: map[string]any{"T": tag}}},
			"fixed":           {"parameters: {T: {fixed: true, default: " + tag + "}}\n---\n", values.Values{Params: map[string]any{"T": tag}}},
		} {
			tm := mustParse(t, c.header+strings.Replace(jobHead, "image: i\n", "image: i:$T\n        args: [$T, --x=$T]\n", 1))
			if again, err := tm.With(parse.Change{Help: "x"}); err != nil {
				t.Errorf("%s %s: %v", name, tag, err)
			} else {
				for _, tm := range []*parse.Template{tm, again} {
					o := mustRender(t, tm, c.v).Objects[0]
					image, args := at(t, o, "spec.template.spec.containers[0].image"), at(t, o, "spec.template.spec.containers[0].args")
					if image != "i:"+tag || !reflect.DeepEqual(args, []any{tag, "--x=" + tag}) {
						t.Errorf("%s %s: image %v, args %v", name, tag, image, args)
					}
				}
			}
		}
	}
	// In a list too, and as a number where one is wanted.
	tm := mustParse(t, "parameters: {L: {type: list, default: [--lr, 1e-4, 1.10]}, N: {type: number, default: 1.50}}\n---\n"+
		strings.Replace(jobHead, "image: i\n", "image: i\n        args: $L\n        resources: {requests: {cpu: $N}}\n", 1))
	o := mustRender(t, tm, values.Values{}).Objects[0]
	if got := at(t, o, "spec.template.spec.containers[0].args"); !reflect.DeepEqual(got, []any{"--lr", "1e-4", "1.10"}) {
		t.Errorf("a list: %v", got)
	}
	if got := at(t, o, "spec.template.spec.containers[0].resources.requests.cpu"); got != 1.5 {
		t.Errorf("a quantity: %#v", got)
	}
}
