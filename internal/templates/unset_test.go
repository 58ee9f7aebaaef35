package templates

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

const workers = `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: j}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: $NUM_WORKERS
      template:
        spec:
          containers:
          - name: pytorch
            image: $MY_IMAGE
            command: [torchrun, --nnodes=$NUM_WORKERS, train.py]
            env: [{name: WORLD, value: "$NUM_WORKERS"}, {name: BUILT_FROM, value: $MY_IMAGE}]
`

// A flag that sets what a placeholder stands for sets the placeholder everywhere.
func TestFlagsFillPlaceholdersOfTheirFields(t *testing.T) {
	r := mustRender(t, mustParse(t, workers), values.Values{NodeCount: values.Int(2), Image: "i:1"})
	for path, want := range map[string]string{
		"replicas": "2", "template.spec.containers[0].command[1]": "--nnodes=2", "template.spec.containers[0].env[0].value": "2", "template.spec.containers[0].env[1].value": "i:1",
	} {
		if got := manifest.TextOf(at(t, r.Objects[0], "spec.pytorchReplicaSpecs.Worker."+path)); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

// A flag fills its placeholder where only arguments have it, but not a variable of the container.
func TestFlagsFillPlaceholdersOfArguments(t *testing.T) {
	tm := mustParse(t, strings.Replace(jobHead, "image: i\n", "image: i\n        args: [--run=$JOB_NAME, --nproc=$NPROC_PER_NODE, --n=$NNODES]\n        env: [{name: NNODES, value: '1'}]\n", 1))
	r := mustRender(t, tm, values.Values{Name: "a", NodeCount: values.Int(2), TasksPerNode: values.Int(4)})
	got := at(t, r.Objects[0], "spec.template.spec.containers[0].args")
	if want := []any{"--run=a", "--nproc=4", "--n=$NNODES"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	_, err := render.Objects(tm, values.Values{Name: "a"})
	if text := errs.Text(err, false); !strings.Contains(text, "--tasks-per-node VALUE") {
		t.Errorf("%s", text)
	}
}

// A placeholder without a value that would reach a program as text is an error.
func TestUnsetPlaceholders(t *testing.T) {
	job := strings.Replace(jobHead, "image: i\n", "image: i\n        REST\n", 1)
	for rest, want := range map[string]string{
		"command: [train, --lr=$LR, '${SEED}']":                                                     "LR, SEED",
		"args: [--lr=$LR]":                                                                          "LR",
		"env: [{name: A, value: $TOKEN}]":                                                           "TOKEN",
		"command: [train, $LR, $$KEPT]":                                                             "LR",
		"command: [train, $LR]\n        env: [{name: LR, value: '1'}]":                              "",
		"command: [train, $LR]\n        envFrom: [{secretRef: {name: s}}]":                          "",
		"command: [sh, -c, 'for i in 1 2; do echo $i $HOME; done']":                                 "",
		"command: [/bin/bash, -ec, 'echo $1', --, $LR]":                                             "LR", // an argument, not the script
		"command: [bash, -euxo, pipefail, -c, 'echo $HOME']":                                        "",
		"command: [/usr/bin/env, bash, -O, extglob, --norc, -c]\n        args: ['echo $HOME', $LR]": "LR",
		"command: [bash, $LR]":                                                                      "LR",
		"args: ['--d=${LR}-${SEED}']":                                                               "LR, SEED",
		"args: [--x=$lr, '$(LR)/${lr}x']":                                                           "lr",
		"env: [{name: A, value: 'h:$PORT'}]":                                                        "PORT",
		"command: [sh, -c, 'train $WIDTH']\n        resources: {limits: {cpu: $WIDTH}}":             "WIDTH",
		"command: [train, $(LR)]":                                                                   "",
	} {
		tm := mustParse(t, strings.Replace(job, "REST", rest, 1))
		_, err := render.Objects(tm, values.Values{})
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", rest, err)
			}
			continue
		}
		text := errs.Text(err, false)
		if errs.ExitOf(err) != errs.Usage {
			t.Errorf("%s: %v", rest, err)
			continue
		}
		for _, name := range strings.Split(want, ", ") {
			if !strings.Contains(text, name+":") {
				t.Errorf("%s: no %s in\n%s", rest, name, text)
			}
		}
		if strings.Contains(text, "KEPT") {
			t.Errorf("%s", text)
		}
		if strings.Contains(rest, "WIDTH") {
			continue
		}
		r, err := render.Objects(tm, values.Values{AllowUnset: strings.Split(want, ", ")})
		if err != nil {
			t.Errorf("%s, allowed: %v", rest, err)
		}
		for _, name := range strings.Split(want, ", ") {
			if notes := strings.Join(r.Notices, "\n"); !strings.Contains(notes, "$"+name+" in ") {
				t.Errorf("%s: %s is allowed, and no note names it: %q", rest, name, notes)
			}
		}
	}
}

// A flag fills its placeholder inside longer text, and the rest of the text stays.
func TestImageInsideText(t *testing.T) {
	tm := mustParse(t, strings.Replace(jobHead, "image: i\n", "image: ${REGISTRY}/${IMAGE}:${TAG}\n", 1))
	r := mustRender(t, tm, values.Values{Image: "train", Params: map[string]any{"REGISTRY": "reg", "TAG": "v1"}})
	if got := at(t, r.Objects[0], "spec.template.spec.containers[0].image"); got != "reg/train:v1" {
		t.Errorf("image %v", got)
	}
	_, err := render.Objects(tm, values.Values{Image: "train"})
	if text := errs.Text(err, false); !strings.Contains(text, "REGISTRY") || !strings.Contains(text, "TAG") {
		t.Errorf("without a registry: %s", text)
	}
	r = mustRender(t, mustParse(t, jobHead), values.Values{Image: "train"})
	if got := at(t, r.Objects[0], "spec.template.spec.containers[0].image"); got != "train" {
		t.Errorf("image %v", got)
	}
}
