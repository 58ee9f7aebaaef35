package jobobject

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

func parsedObject(t *testing.T, text string) map[string]any {
	t.Helper()
	docs, err := manifest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, _ := docs[0].Plain().(map[string]any)
	return o
}

// A job as the cluster has it, and as its owner wrote it.
func TestCleanAndRestore(t *testing.T) {
	for what, c := range map[string]struct {
		have, podSets, want string
	}{
		"PyTorchJob that runs": {`
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: j
  uid: u
  resourceVersion: "1"
  ownerReferences: [{name: o}]
  finalizers: [f]
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: p, a: b}
  annotations: {cli.hyperpod/template: x, kubectl.kubernetes.io/last-applied-configuration: "{}", mine: yes!}
spec:
  runPolicy: {suspend: false}
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        metadata:
          creationTimestamp: null
          labels: {kueue.x-k8s.io/podset: worker, kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/cluster-queue-name: cq}
          annotations: {kueue.x-k8s.io/workload: w, kueue.x-k8s.io/podset-required-topology: rack}
        spec:
          nodeSelector: {own: "1", flavor: added}
          tolerations: [{key: added}]
          schedulingGates: [{name: kueue.x-k8s.io/topology}]
          containers: [{name: pytorch, image: i}]
status: {conditions: []}
`, `{list: [{name: worker, template: {spec: {nodeSelector: {own: "1"}}}}]}`, `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: j
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: p, a: b}
  annotations: {mine: yes!}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        metadata:
          labels: {kueue.x-k8s.io/queue-name: q}
          annotations: {kueue.x-k8s.io/podset-required-topology: rack}
        spec:
          nodeSelector: {own: "1"}
          containers: [{name: pytorch, image: i}]
`},
		"Job": {`
apiVersion: batch/v1
kind: Job
metadata: {name: j, annotations: {batch.kubernetes.io/job-tracking: ""}}
spec:
  suspend: true
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}
  template:
    metadata: {labels: {batch.kubernetes.io/controller-uid: u, controller-uid: u, job-name: j, batch.kubernetes.io/job-name: j}}
    spec: {tolerations: [{key: added}], schedulingGates: [{name: mine}], containers: [{name: a, image: i}]}
`, `{list: [{name: main, template: {spec: {}}}]}`, `
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  template:
    spec: {schedulingGates: [{name: mine}], containers: [{name: a, image: i}]}
`},
		"Job with a selector of its own": {`
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  manualSelector: true
  selector: {matchLabels: {mine: u}}
  template: {spec: {containers: []}}
`, `{list: []}`, `
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  manualSelector: true
  selector: {matchLabels: {mine: u}}
  template: {spec: {containers: []}}
`},
	} {
		have := parsedObject(t, c.have)
		before := CopyOf(have)
		got := Clean(have)
		RestorePlacement(got, MapsIn(parsedObject(t, c.podSets)["list"]))
		if diff := cmp.Diff(parsedObject(t, c.want), got); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
		if diff := cmp.Diff(before, any(have)); diff != "" {
			t.Errorf("%s: the job itself was changed:\n%s", what, diff)
		}
	}
}
