package templates

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

const fixedTemplate = `description: ours
parameters:
  JOB_NAME: {type: string, required: true}
  IMAGE: {type: string, default: "example.com/i:1", fixed: true}
  INSTANCE_TYPE: {type: string, default: p5.48xlarge, fixed: true}
  NODE_COUNT: {type: int, required: true}
  EPOCHS: {type: int, default: 3, fixed: true}
fixed:
- spec.runPolicy
- spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].env
- metadata.labels
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: "${JOB_NAME}", labels: {cost-center: "42"}}
spec:
  runPolicy: {activeDeadlineSeconds: 3600}
  pytorchReplicaSpecs:
    Worker:
      replicas: ${NODE_COUNT}
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: pytorch
            image: ${IMAGE}
            args: [train, --epochs, "${EPOCHS}"]
            env: [{name: PROXY, value: "http://p"}]
`

// What the template fixes can be left out or repeated; nothing changes it.
func TestFixed(t *testing.T) {
	tm, err := parse.Text("ours", "ours.yaml", []byte(fixedTemplate))
	if err != nil {
		t.Fatal(err)
	}
	set := func(kv ...string) (v values.Values) {
		for _, s := range kv {
			a, err := fieldpath.ParseAssignment(s)
			if err != nil {
				t.Fatal(err)
			}
			v.Set = append(v.Set, a)
		}
		return v
	}
	for _, c := range []struct {
		v    values.Values
		want string // in the refusal; "" for none
	}{
		{values.Values{}, ""},
		{values.Values{Image: "example.com/i:1", InstanceType: "ml.p5.48xlarge"}, ""},
		{values.Values{Labels: map[string]string{"mine": "1"}, Environment: map[string]string{"MORE": "x"}, Queue: "q", Priority: "p"}, ""},
		{set("EPOCHS=3", "spec.runPolicy.backoffLimit=2"), ""},
		{values.Values{Image: "other"}, "fixes IMAGE to example.com/i:1: --image cannot set it to other"},
		{values.Values{Image: "a b"}, `--image cannot set it to "a b"`},
		{values.Values{InstanceType: "g5.xlarge"}, "fixes INSTANCE_TYPE"},
		{values.Values{Params: map[string]any{"IMAGE": "other"}}, "--set IMAGE"},
		{set("EPOCHS=4"), "fixes EPOCHS to 3: --set EPOCHS cannot set it to 4"},
		{set("spec.runPolicy.activeDeadlineSeconds=7200"), "fixes spec.runPolicy.activeDeadlineSeconds to 3600: it cannot become 7200"},
		{set("spec.runPolicy=null"), "fixes spec.runPolicy to a map: it cannot become nothing"},
		{set("spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].image=evil"), "fixes"},
		{set("spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].args[2]=9"), "fixes"},
		{set("spec.pytorchReplicaSpecs.Worker.template.spec.containers=[{name: pytorch, image: evil}]"), "fixes"},
		{values.Values{Environment: map[string]string{"PROXY": "other"}}, "it cannot have another value"},
		{values.Values{Labels: map[string]string{"cost-center": "1"}}, "fixes"},
		{set("metadata.labels.cost-center=1"), "fixes"},
	} {
		v := c.v
		v.Name = "j"
		v.NodeCount = values.Int(1)
		_, err := render.Objects(tm, v)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c.v.Set, err)
		case c.want != "" && (errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %v, want %q", c.v, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "http://p") {
			t.Errorf("the value of a variable is in the message: %v", err)
		}
	}
	if _, err := render.Objects(tm, values.Values{Name: "j"}); err == nil || !strings.Contains(errs.Text(err, false), "NODE_COUNT") {
		t.Errorf("without a required parameter: %v", err)
	}
	// An editor changes none of it either.
	before, err := render.Objects(tm, values.Values{Name: "j", NodeCount: values.Int(1)})
	if err != nil {
		t.Fatal(err)
	}
	after, err := render.Objects(tm, values.Values{Name: "j", NodeCount: values.Int(2)})
	if err != nil {
		t.Fatal(err)
	}
	if err := render.CheckFixed(tm, before, after); err != nil {
		t.Errorf("another number of nodes: %v", err)
	}
	jobobject.Inner(after.Objects[0], "spec", "runPolicy")["activeDeadlineSeconds"] = int64(1)
	if err := render.CheckFixed(tm, before, after); errs.ExitOf(err) != errs.Usage {
		t.Errorf("an edited fixed field: %v", err)
	}
}

func TestFixedFaults(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"IMAGE: {type: string, default: \"example.com/i:1\", fixed: true}", "IMAGE: {type: string, fixed: true}", "must have a default"},
		{"JOB_NAME: {type: string, required: true}", "JOB_NAME: {default: x, fixed: true}", "cannot be fixed"},
		{"- spec.runPolicy\n", "- spec.runPolice\n", "not found in the manifest"},
		{"- spec.runPolicy\n", "- ''\n", "is not a path"},
		{"- spec.runPolicy\n", "- spec.runPolicy.activeDeadlineSecond=5\n", `did you mean "activeDeadlineSeconds"`},
		{"- spec.runPolicy\n", "- spec.runPolicy.activeDeadlineSeconds=soon\n", "whole number"},
		{"- spec.runPolicy\n", "- 'spec.runPolicy={a: '\n", "not valid YAML"},
		{"- spec.runPolicy\n", "- metadata.name=x\n", "cannot have a value"},
		{"- spec.runPolicy\n", "- kind=Pod\n", "cannot have a value"},
		{"- spec.runPolicy\n", "- spec.runPolicy.activeDeadlineSeconds.x=1\n", "is not inside a map or list"},
		{"- spec.runPolicy\n", "- spec.pytorchReplicaSpecs.Worker.template.spec.containers[3].image=x\n", "past the end"},
		{"fixed:\n- spec.runPolicy\n", "fixed: yes\nx:\n- spec.runPolicy\n", "fixed must be a list"},
		{"default: 3, fixed: true", "default: 3, fixed: maybe", "fixed must be true or false"},
	} {
		text := strings.Replace(fixedTemplate, c.from, c.to, 1)
		if text == fixedTemplate {
			t.Fatalf("%q is not in the template", c.from)
		}
		_, faults, _ := render.Check("t", "t.yaml", []byte(text))
		found := false
		for _, f := range faults {
			found = found || strings.Contains(f.Message, c.want)
		}
		if !found {
			t.Errorf("%q: %+v", c.to, faults)
		}
	}
}

// A header can state a value itself, next to what the manifest has.
func TestFixedWithValue(t *testing.T) {
	tm, err := parse.Text("ours", "ours.yaml", []byte(fixedTemplate))
	if err != nil {
		t.Fatal(err)
	}
	const env = "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].env"
	made, err := tm.With(parse.Change{FixPaths: []string{"spec.runPolicy.backoffLimit=3", "spec.runPolicy.ttlSecondsAfterFinished=null", "metadata.labels.run=7",
		"spec.elasticPolicy.rdzvConf[0].key=timeout", env + "[1]={name: SIZE, value: '${NODE_COUNT}'}", "spec.runPolicy.activeDeadlineSeconds=60",
		"spec.elasticPolicy.rdzvConf[1].key=null"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, faults, _ := render.Check("ours", "ours.yaml", made.Text); len(faults) > 0 {
		t.Fatalf("%+v\n%s", faults, made.Text)
	}
	r, err := render.Objects(made, values.Values{Name: "j", NodeCount: values.Int(2)})
	if err != nil {
		t.Fatal(errs.Text(err, true))
	}
	job := r.Objects[0]
	for path, want := range map[string]any{"spec.runPolicy.backoffLimit": int64(3), "spec.runPolicy.activeDeadlineSeconds": int64(60), "metadata.labels.run": "7",
		"metadata.labels.cost-center": "42", env + "[0].name": "PROXY", env + "[1].value": "2", "spec.elasticPolicy.rdzvConf[0].key": "timeout"} {
		steps, _ := fieldpath.Parse(path)
		if got, _ := fieldpath.Lookup(job, steps); got != want {
			t.Errorf("%s is %#v, want %#v", path, got, want)
		}
	}
	// That an item which is not there has no name makes no item.
	steps, _ := fieldpath.Parse("spec.elasticPolicy.rdzvConf")
	if list, _ := fieldpath.Lookup(job, steps); len(list.([]any)) != 1 {
		t.Errorf("rdzvConf is %v", list)
	}
	for _, set := range []string{"spec.runPolicy.backoffLimit=4", "spec.runPolicy.backoffLimit=null", "spec.runPolicy.ttlSecondsAfterFinished=1", "metadata.labels.run=8", env + "[1].value=5"} {
		a, _ := fieldpath.ParseAssignment(set)
		if _, err := render.Objects(made, values.Values{Name: "j", NodeCount: values.Int(2), Set: []fieldpath.Assignment{a}}); err == nil || !strings.Contains(err.Error(), "template ours fixes") {
			t.Errorf("--set %s: %v", set, err)
		}
	}
	// The last word on a path counts, and a path without a value says what to do.
	again, err := made.With(parse.Change{FixPaths: []string{"spec.runPolicy.backoffLimit=5"}})
	if err != nil || len(again.FixedPaths()) != len(made.FixedPaths()) {
		t.Errorf("%v: %q", err, again.FixedPaths())
	}
	none, err := tm.With(parse.Change{FixPaths: []string{"spec.runPolicy.backoffLimit"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, faults, _ := render.Check("t", "t", none.Text); len(faults) != 1 || !strings.Contains(faults[0].Message, "use spec.runPolicy.backoffLimit=VALUE to fix a value") {
		t.Errorf("%+v", faults)
	}
}

func TestWith(t *testing.T) {
	text := "# About.\n# parameters:\n#   A: {type: int, default: 1}\n" + `apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  parallelism: $A # kept
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: $IMAGE}]
`
	tm, err := parse.Text("t", "t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	made, err := tm.With(parse.Change{Help: "mine: \"really\"", Defaults: []string{"A=2"}, Fix: []string{"IMAGE=example.com/x"}, FixPaths: []string{"spec.template"}})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := made.Param("A")
	image, _ := made.Param("IMAGE")
	if made.Help != `mine: "really"` || a.Default != int64(2) || !image.Fixed || image.Default != "example.com/x" ||
		!strings.Contains(string(made.Text), "parallelism: $A # kept") || len(made.FixedPaths()) != 1 {
		t.Errorf("made %+v, %+v\n%s", a, image, made.Text)
	}
	again, err := made.With(parse.Change{Require: []string{"A"}})
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := again.Param("A"); !a.Required || a.Default != nil || strings.Count(string(again.Text), "kind: Job") != 1 {
		t.Errorf("required: %+v\n%s", a, again.Text)
	}
	for _, bad := range []parse.Change{{Fix: []string{"NOPE"}}, {Fix: []string{"A=x"}}, {Defaults: []string{"A"}}, {Require: []string{"B"}}, {FixPaths: []string{"a..b"}}, {FixPaths: []string{"spec.none"}}} {
		if made, err := tm.With(bad); err == nil {
			if _, faults, _ := render.Check("t", "t", made.Text); len(faults) == 0 {
				t.Errorf("%+v was accepted", bad)
			}
		}
	}
	if _, err := tm.With(parse.Change{Fix: []string{"IMAGE"}}); err == nil || !strings.Contains(err.Error(), "the parameter has no default") {
		t.Errorf("fixed without a value: %v", err)
	}
}
