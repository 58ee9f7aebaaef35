package e2e

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// faultyValues compares what validate-template says of values with what the API server
// says: it takes what has no fault, and refuses what has one.
func faultyValues(t *testing.T, bed *cluster.Bed) {
	job := func(from, to string) string {
		const text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {a: b}, annotations: {a: b}}\nspec:\n  template:\n    metadata: {labels: {c: d}}\n    spec:\n      restartPolicy: Never\n      nodeSelector: {e: f}\n      containers: [{name: g, image: h}]\n"
		out := strings.Replace(text, from, to, 1)
		if out == text {
			t.Fatalf("%q is not in the manifest", from)
		}
		return out
	}
	long := strings.Repeat("x", 64)
	for _, text := range []string{
		job("labels: {a: b}", "labels: {}"),
		job("labels: {a: b}", `labels: {a: ""}`),
		job("labels: {a: b}", "labels: {example.com/a_B.c: b}"),
		job("labels: {a: b}", "labels: {Example.com/a: b}"),
		job("labels: {a: b}", `labels: {"a b": c}`),
		job("labels: {a: b}", "labels: {a: b c}"),
		job("labels: {a: b}", "labels: {a: -b}"),
		job("labels: {a: b}", "labels: {a: "+long[1:]+"}"),
		job("labels: {a: b}", "labels: {a: "+long+"}"),
		job("labels: {a: b}", "labels: {"+long+": a}"),
		job("annotations: {a: b}", `annotations: {Example.com/A: "any text: at all"}`),
		job("annotations: {a: b}", `annotations: {"a b": c}`),
		job("labels: {c: d}", "labels: {c: d e}"),
		job("labels: {c: d}", "labels: {c: d}, annotations: {'?': d}"),
		job("nodeSelector: {e: f}", "nodeSelector: {e: f/g}"),
		job("nodeSelector: {e: f}", "nodeSelector: {'': f}"),
		job("[{name: g, image: h}]", "[{name: G, image: h}]"),
		job("[{name: g, image: h}]", "[{image: h}]"),
		job("[{name: g, image: h}]", "[{name: g}]"),
		job("[{name: g, image: h}]", "[]"),
		job("[{name: g, image: h}]", "[{name: g, image: h}, {name: g, image: i}]"),
		job("[{name: g, image: h}]", "[{name: g, image: h}, {name: g2, image: i}]"),
		job("containers: ", "initContainers: [{name: g, image: h}]\n      containers: "),
		job("containers: ", "initContainers: [{name: i}]\n      containers: "),
		job("image: h", "image: h, imagePullPolicy: Perhaps"),
		job("image: h", "image: h, resources: {limits: {memory: -1}}"),
		job("image: h", "image: h, resources: {limits: {cpu: 1}, requests: {cpu: 2}}"),
		job("image: h", "image: h, resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 2}}"),
		job("image: h", "image: h, resources: {limits: {nvidia.com/gpu: 1500m}}"),
		job("restartPolicy: Never", "restartPolicy: Always"),
		job("restartPolicy: Never", "restartPolicy: OnFailure"),
		job("name: j,", "name: J,"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a.b}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: a.b}\nspec: {ports: [{port: 1}]}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: ab}\nspec: {ports: [{port: 1}]}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a.b}\nspec: {containers: [{name: c, image: i}]}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c.d, image: i}]}\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}\n",
	} {
		_, faults, _ := render.Check("t", "t.yaml", []byte(text))
		out, err := bed.KubectlAs(t.Context(), bed.Kubeconfig, []byte(text), "apply", "--dry-run=server", "--validate=strict", "-f", "-")
		if (err != nil) != (len(faults) > 0) {
			t.Errorf("%s\nfaults: %+v\nkubectl: %v\n%s", text, faults, err, out)
		}
	}
}
