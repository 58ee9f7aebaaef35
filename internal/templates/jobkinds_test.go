package templates

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

const jobSet = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  replicatedJobs:
  - name: workers
    replicas: REPLICAS
    template:
      spec:
        parallelism: PODS
        completions: PODS
        template:
          spec:
            restartPolicy: Never
            containers:
            - {name: c, image: "i:1", command: [torchrun, --nnodes=NODES, t.py]}
`

// The pods of a JobSet are its replicas times the pods of each job. --node-count sets
// the one that the manifest leaves open.
func TestJobSetCounts(t *testing.T) {
	for _, c := range []struct {
		name, replicas, pods, nodes string
		count                       *int
		want, fault, note           string
	}{
		{name: "the placeholder is required", replicas: "1", pods: "${NUM_NODES}", nodes: "${NUM_NODES}", fault: "NUM_NODES"},
		{name: "the placeholder is the number of pods", replicas: "1", pods: "${NUM_NODES}", nodes: "${NUM_NODES}", count: values.Int(4), want: "1 4 4"},
		{name: "pods of one job", replicas: "1", pods: "2", nodes: "4", count: values.Int(4), want: "1 4 4"},
		{name: "pods of several jobs", replicas: "2", pods: "2", nodes: "4", count: values.Int(8), want: "2 4 4"},
		{name: "several jobs of unequal parts", replicas: "2", pods: "2", nodes: "3", count: values.Int(3), fault: "2 equal parts"},
		{name: "a command that counts all pods", replicas: "2", pods: "3", nodes: "6", want: "2 3 3"},
		{name: "a command that counts the pods of a job", replicas: "2", pods: "3", nodes: "3", want: "2 3 3"},
		{name: "a command that counts neither", replicas: "2", pods: "3", nodes: "4", want: "2 3 3", note: "sets --nnodes=4, and the job has 6 pods"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.NewReplacer("REPLICAS", c.replicas, "PODS", c.pods, "NODES", c.nodes)
			manifest := text.Replace(jobSet)
			r, err := render.Objects(mustParse(t, manifest), values.Values{NodeCount: c.count})
			if c.fault != "" {
				if err == nil || !strings.Contains(errs.Text(err, false), c.fault) {
					t.Fatalf("error %v, want %s", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			get := func(path string) any { return at(t, r.Objects[0], "spec.replicatedJobs[0]."+path) }
			if got := fmt.Sprint(get("replicas"), get("template.spec.parallelism"), get("template.spec.completions")); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if notes := strings.Join(r.Notices, " "); (c.note == "") == strings.Contains(notes, "nnodes") || !strings.Contains(notes, c.note) {
				t.Errorf("notes %s, want %q", notes, c.note)
			}
		})
	}
}

// Every job kind's fields are checked: an unknown one, a word for a number, and a
// quantity that is none.
func TestFieldsOfEveryJobKind(t *testing.T) {
	pod := "template: {spec: {serviceAccountName: V_KSA, containers: [{name: pytorch, image: \"i:1\", resources: {limits: {cpu: PLACE}}}]}}"
	for kind, spec := range map[string]string{
		"PyTorchJob":         "pytorchReplicaSpecs: {Worker: {replicas: two, " + pod + "}}",
		"MPIJob":             "mpiReplicaSpecs: {Launcher: {replicas: two, " + pod + "}}",
		"TFJob":              "tfReplicaSpecs: {Worker: {replicas: two, " + pod + "}}",
		"XGBoostJob":         "xgbReplicaSpecs: {Worker: {replicas: two, " + pod + "}}",
		"HyperPodPyTorchJob": "replicaSpecs: [{name: w, replicas: two, " + pod + "}]",
		"Job":                "parallelism: two, " + pod,
		"JobSet":             "replicatedJobs: [{name: w, replicas: two, template: {spec: {" + pod + "}}}]",
		"RayCluster":         "headGroupSpec: {" + pod + "}, workerGroupSpecs: [{groupName: w, replicas: two}]",
		"RayJob":             "rayClusterSpec: {headGroupSpec: {" + pod + "}, workerGroupSpecs: [{groupName: w, replicas: two}]}",
	} {
		k, ok := kinds.JobNamed(kind)
		if !ok {
			t.Fatal(kind)
		}
		text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: j}\nspec: {oddField: 1, %s}\n", k.GroupVersion(), kind, spec)
		_, faults, _ := render.Check("t", "t", []byte(text))
		got := fmt.Sprint(faults)
		for _, want := range []string{`no field "oddField" in spec`, "two", "PLACE", "V_KSA"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", kind, want, got)
			}
		}
	}
	if n := len(kinds.Jobs()); n != 9 {
		t.Errorf("%d job kinds, 9 of them tested", n)
	}
}
