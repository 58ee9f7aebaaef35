package templates

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/shellwords"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func TestPlaceholders(t *testing.T) {
	for text, want := range map[string][]string{
		"":                         nil,
		"plain":                    nil,
		"$A":                       {"A"},
		"${A}":                     {"A"},
		"x-$A-${B}/c":              {"A", "B"},
		"$HOME$A":                  {"HOME", "A"},
		"${RANK:-0} $(cmd) $1 $@":  nil,
		"$$ $$A $${A}":             nil,
		"$9A ${9} ${A-B} ${} $":    nil,
		"cost: 5$":                 nil,
		"${A_1}${a}":               {"A_1", "a"},
		"awk '{print $NF}' {$X}":   {"NF", "X"},
		"${UNCLOSED and ${CLOSED}": {"CLOSED"},
	} {
		if got := mentionedIn(manifest.Location{Script: true}, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string][]string{
		"${RANK:-0} $(cmd) $1 $@":   {"RANK:-0"},
		"$A${B}${C-}${d_1:-x y:z}":  {"A", "B", "C-", "d_1:-x y:z"},
		"$${A:-b} ${A:+b} ${A:-$B}": {"B"},
		"${A:-1}\nsecond line":      nil,
	} {
		if got := mentionedIn(manifest.Location{}, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// mentionedIn are a text's placeholders as NAME or NAME:-DEFAULT.
func mentionedIn(at manifest.Location, text string) (out []string) {
	for _, m := range at.Mentions(text) {
		out = append(out, m.Name+m.Or)
	}
	return out
}

const declared = `
parameters:
  INT: {type: int}
  NUMBER: {type: number}
  BOOL: {type: bool}
  TEXT: {type: string}
  LIST: {type: list}
  MEMORY: {type: quantity}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: j-$TEXT
  labels: {int: "${INT}", bool: $BOOL}
  annotations: {n: "$NUMBER", all: "$INT/${BOOL}/${LIST}"}
spec:
  parallelism: $INT
  completions: "${INT}"
  suspend: "${BOOL}"
  template:
    spec:
      containers:
        - name: c
          image: i:$INT
          command: $LIST
          args: [before, $LIST, "${LIST}", after, "all: ${LIST}", "$$INT $${INT} $$OTHER $OTHER"]
          env:
            - {name: A, value: $INT}
            - {name: B, value: "$BOOL"}
          resources:
            requests: {memory: $MEMORY, cpu: $NUMBER}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
plain: $INT
quoted: "$INT"
text: $TEXT
inside: "x$INT"
float: $NUMBER
list: $LIST
`

func TestSubstitutionTypes(t *testing.T) {
	r := mustRender(t, mustParse(t, declared), values.Values{AllowUnset: []string{"OTHER"}, Params: map[string]any{
		"INT": "4", "NUMBER": 0.5, "BOOL": "true", "TEXT": "007", "LIST": []string{"a b", "2"}, "MEMORY": "16Gi"}})
	job, thing := r.Objects[0], r.Objects[1]
	const c = "spec.template.spec.containers[0]"
	for path, want := range map[string]any{
		"metadata.name":                 "j-007",
		"metadata.labels.int":           "4",
		"metadata.labels.bool":          "true",
		"metadata.annotations.n":        "0.5",
		"metadata.annotations.all":      "4/true/a b 2",
		"spec.parallelism":              int64(4),
		"spec.completions":              int64(4),
		"spec.suspend":                  true,
		c + ".image":                    "i:4",
		c + ".command":                  []any{"a b", "2"},
		c + ".args":                     []any{"before", "a b", "2", "a b", "2", "after", "all: a b 2", "$INT ${INT} $$OTHER $OTHER"},
		c + ".env[0].value":             "4",
		c + ".env[1].value":             "true",
		c + ".resources.requests":       map[string]any{"memory": "16Gi", "cpu": 0.5},
		"spec.template.metadata":        nil,
		"spec.template.spec.containers": at(t, job, "spec.template.spec.containers"),
	} {
		if got := at(t, job, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", path, got, want)
		}
	}
	for path, want := range map[string]any{"plain": int64(4), "quoted": "4", "text": "007", "inside": "x4", "float": 0.5, "list": []any{"a b", "2"}} {
		if got := at(t, thing, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", path, got, want)
		}
	}
}

// Shell variables stay, unless a parameter of the name is declared or given.
func TestShellVariablesStay(t *testing.T) {
	const script = "echo $HOSTNAME ${RANK:-0} $(date) ${WORLD_SIZE} $LR > $OUT\n"
	text := jobHead + "        command: [bash, -c]\n        args:\n        - |\n          " + script
	for _, c := range []struct {
		params map[string]any
		want   string
	}{
		{nil, script},
		{map[string]any{"LR": 0.1}, strings.Replace(script, "$LR", "0.1", 1)},
	} {
		r := mustRender(t, mustParse(t, text), values.Values{Params: c.params, Name: "n", Image: "img", NodeCount: values.Int(2)})
		if got := at(t, r.Objects[0], "spec.template.spec.containers[0].args[0]"); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got := mustParse(t, text).Params; len(got) != 0 {
		t.Errorf("a script's variables became parameters: %+v", got)
	}
}

// Placeholders without a value are one error that names all of them. One that is all of
// an argument or environment value and may stay is a notice.
func TestLeftPlaceholders(t *testing.T) {
	text := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: $NAME}\nspec:\n  parallelism: $WORKERS\n  template:\n    spec:\n      volumes:\n      - {name: d, persistentVolumeClaim: {claimName: $CLAIM}}\n" +
		"      containers:\n      - {name: c, image: $REPO/i, args: [$MODE, --x=$Y], env: [{name: T, value: $HF_TOKEN}], resources: {requests: {memory: $MEM, cpu: $CPU}}}\n"
	tm := mustParse(t, text)
	_, err := render.Objects(tm, values.Values{Params: map[string]any{"CPU": 2}})
	if err == nil {
		t.Fatal("it was accepted")
	}
	all := errs.Text(err, false)
	for _, name := range []string{"NAME", "WORKERS", "CLAIM", "REPO", "MEM", "MODE", "Y", "HF_TOKEN"} {
		if !strings.Contains(all, "--set "+name+"=VALUE") {
			t.Errorf("%s is not named in\n%s", name, all)
		}
	}
	for _, name := range []string{"CPU"} {
		if strings.Contains(all, "--set "+name) {
			t.Errorf("%s is named in\n%s", name, all)
		}
	}
	r := mustRender(t, tm, values.Values{Name: "n", Image: "whole/image", NodeCount: values.Int(1), Params: map[string]any{"CPU": 2, "MEM": "1Gi", "CLAIM": "c"}, AllowUnset: []string{"HF_TOKEN", "MODE", "Y"}})
	if !slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, "$HF_TOKEN") }) ||
		!slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, "$MODE") }) ||
		!slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, "$Y in ") }) {
		t.Errorf("notices %q", r.Notices)
	}
}

// The names in use in public samples get the flags' values.
func TestWellKnownNames(t *testing.T) {
	text := "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: fsdp, namespace: $NAMESPACE}\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: $NUM_NODES\n      template:\n        spec:\n" +
		"          nodeSelector: {node.kubernetes.io/instance-type: $INSTANCE_TYPE}\n          containers:\n          - name: pytorch\n            image: ${IMAGE_URI}\n" +
		"            command: [torchrun, --nproc_per_node=$GPU_PER_NODE, --nnodes=$NUM_NODES, train.py]\n" +
		"            resources:\n              limits: {nvidia.com/gpu: $GPU_PER_NODE, vpc.amazonaws.com/efa: $EFA_PER_NODE}\n"
	tm := mustParse(t, text)
	if p, _ := tm.Param("NUM_NODES"); p.Flag != "--node-count" || p.Declared || !p.Required {
		t.Errorf("NUM_NODES is %+v", p)
	}
	r := mustRender(t, tm, values.Values{Image: "i", NodeCount: values.Int(4), InstanceType: "p4d.24xlarge", Namespace: "team"})
	o := r.Objects[0]
	for path, want := range map[string]any{
		"metadata.namespace":                                            "team",
		"spec.pytorchReplicaSpecs.Worker.replicas":                      int64(4),
		workerPod + `.nodeSelector["node.kubernetes.io/instance-type"]`: "ml.p4d.24xlarge",
		workerContainer + ".image":                                      "i",
		workerContainer + ".command":                                    []any{"torchrun", "--nproc_per_node=8", "--nnodes=4", "train.py"},
		workerContainer + ".resources.limits":                           map[string]any{"nvidia.com/gpu": int64(8), "vpc.amazonaws.com/efa": int64(4)},
	} {
		if got := at(t, o, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", path, got, want)
		}
	}
	if len(r.Notices) > 0 {
		t.Errorf("notices %q", r.Notices)
	}
}

func TestTemplateNamespace(t *testing.T) {
	for text, want := range map[string]string{
		jobHead: "",
		strings.Replace(jobHead, "{name: j}", "{name: j, namespace: a}", 1):                                  "a",
		strings.Replace(jobHead, "{name: j}", "{name: j, namespace: $NS}", 1):                                "",
		"parameters: {NS: b}\n---\n" + strings.Replace(jobHead, "{name: j}", "{name: j, namespace: $NS}", 1): "b",
	} {
		if got := resolve.Namespace(mustParse(t, text), values.Values{}); got != want {
			t.Errorf("%q, want %q, of\n%s", got, want, text)
		}
	}
}

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		kind string
		in   any
		want any // nil: an error
	}{
		{"int", "4", int64(4)}, {"int", 4, int64(4)}, {"int", "4.5", nil}, {"int", "x", nil}, {"int", "", nil}, {"int", true, nil},
		{"number", "1e-4", 1e-4}, {"number", "4", int64(4)}, {"number", "x", nil},
		{"bool", "true", true}, {"bool", "1", nil}, {"bool", false, false},
		{"quantity", "16Gi", "16Gi"}, {"quantity", 4, int64(4)}, {"quantity", "16Gigs", nil},
		{"string", 7, "7"}, {"string", "null", "null"}, {"string", nil, ""}, {"string", []string{"a"}, nil},
		{"list", "a 'b c'", []any{"a", "b c"}}, {"list", "[a, 2]", []any{"a", int64(2)}}, {"list", []string{"x"}, []any{"x"}}, {"list", "a 'b", nil},
		{"list", []any{[]any{"x"}}, nil}, {"list", 5, []any{int64(5)}}, {"list", nil, []any{}},
		{"", "4", int64(4)}, {"", "007", "007"}, {"", "1e3", 1000.0}, {"", "true", true}, {"", "yes", "yes"}, {"", "a: b", "a: b"}, {"", map[string]any{"a": 1}, nil},
		{"", "99999999999999999999", 99999999999999999999.0}, {"", "-", "-"}, {"", ".5", 0.5}, {"", "0x10", "0x10"},
	} {
		got, err := parse.Param{Name: "P", Type: c.kind}.Convert(c.in)
		if (err != nil) != (c.want == nil) || err == nil && !reflect.DeepEqual(manifest.PlainOf(got), c.want) {
			t.Errorf("%s %#v: %#v, %v; want %#v", c.kind, c.in, got, err, c.want)
		}
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                    nil,
		"  ":                  nil,
		"a  b\tc\nd":          {"a", "b", "c", "d"},
		`'a b' "c d" e\ f`:    {"a b", "c d", "e f"},
		`--x='1 2'y "" ''`:    {"--x=1 2y", "", ""},
		`"a\"b\n" 'a\b' c\\d`: {`a"b\n`, `a\b`, `c\d`},
		"$HOME `x`":           {"$HOME", "`x`"},
	} {
		if got, err := shellwords.Split(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, bad := range []string{"'a", `a "b`} {
		if _, err := shellwords.Split(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// A namespace that nobody says is left to the cluster, not an error.
func TestUnsaidNamespace(t *testing.T) {
	tm := mustParse(t, strings.Replace(jobHead, "{name: j}", "{name: j, namespace: $NAMESPACE}", 1))
	for namespace, want := range map[string]any{"": nil, "team": "team"} {
		if got := at(t, mustRender(t, tm, values.Values{Namespace: namespace}).Objects[0], "metadata.namespace"); got != want {
			t.Errorf("%q said: %v", namespace, got)
		}
	}
}

// A parameter's value replaces its placeholder. Only a flag, or a parameter without a
// placeholder, changes other parts of the manifest.
func TestParametersAndFlags(t *testing.T) {
	text := func(header string) string {
		return header + "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: a}\nspec:\n  pytorchReplicaSpecs:\n" +
			"    Master: {replicas: 1, template: &t {spec: {containers: [{name: pytorch, image: \"${REGISTRY}${IMAGE}${TAG}\", command: [torchrun, --nproc=$GPU_PER_NODE, t.py], resources: {limits: {nvidia.com/gpu: $GPU_PER_NODE, vpc.amazonaws.com/efa: $EFA_PER_NODE}}}]}}}\n" +
			"    Worker: {replicas: $NUM_NODES, template: *t}\n"
	}
	params := map[string]any{"REGISTRY": "r/", "IMAGE": "i", "TAG": ":1", "NUM_NODES": 3, "GPU_PER_NODE": 8, "EFA_PER_NODE": 4}
	without := func(name string) map[string]any {
		out := map[string]any{}
		for k, v := range params {
			if k != name {
				out[k] = v
			}
		}
		return out
	}
	const image, limits = "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].image", "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits"
	workers := func(v values.Values) (any, any, any) {
		t.Helper()
		o := mustRender(t, mustParse(t, text("")), v).Objects[0]
		return at(t, o, "spec.pytorchReplicaSpecs.Worker.replicas"), at(t, o, image), at(t, o, limits)
	}
	if n, i, l := workers(values.Values{Params: params}); n != int64(3) || i != "r/i:1" || !reflect.DeepEqual(l, map[string]any{"nvidia.com/gpu": int64(8), "vpc.amazonaws.com/efa": int64(4)}) {
		t.Errorf("parameters: %v workers of %v, limits %v", n, i, l)
	}
	if n, i, _ := workers(values.Values{Params: without("NUM_NODES"), NodeCount: values.Int(3), Image: "own"}); n != int64(2) || i != "own" {
		t.Errorf("flags: %v workers of %v; --node-count counts the master", n, i)
	}
	// A type without EFA asks for none, rather than for 0 of them.
	if _, _, l := workers(values.Values{Params: without("EFA_PER_NODE"), InstanceType: "p5.48xlarge", EFA: values.Int(0)}); !reflect.DeepEqual(l, map[string]any{"nvidia.com/gpu": int64(8)}) {
		t.Errorf("limits %v", l)
	}
	for _, name := range []string{"NUM_NODES", "EFA_PER_NODE", "GPU_PER_NODE", "TAG"} {
		if _, err := render.Objects(mustParse(t, text("")), values.Values{Params: without(name)}); err == nil || !strings.Contains(errs.Text(err, false), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	// Declared, without a placeholder: the default is laid over as a flag is.
	o := mustRender(t, mustParse(t, "parameters: {NODE_COUNT: 5, TASKS_PER_NODE: 2}\n---\n"+strings.Replace(text(""), "$NUM_NODES", "1", 1)), values.Values{Params: without("NUM_NODES")}).Objects[0]
	if at(t, o, "spec.pytorchReplicaSpecs.Worker.replicas") != int64(4) || at(t, o, "spec.nprocPerNode") != "2" {
		t.Errorf("declared: %v", o)
	}
	// A flag's value obeys what the template declares.
	restricted := "parameters: {IMAGE: {enum: [a, b]}, NODE_COUNT: {type: int, enum: [2, 4]}}\n---\n" + strings.Replace(jobHead, "image: i", "image: $IMAGE", 1)
	if _, err := render.Objects(mustParse(t, restricted), values.Values{Image: "c", NodeCount: values.Int(2)}); errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), "--image") {
		t.Errorf("an image outside the enum: %v", err)
	}
	if _, err := render.Objects(mustParse(t, restricted), values.Values{Image: "a", NodeCount: values.Int(3)}); errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), "--node-count") {
		t.Errorf("a number outside the enum: %v", err)
	}
	mustRender(t, mustParse(t, restricted), values.Values{Image: "a", NodeCount: values.Int(4)})
}
