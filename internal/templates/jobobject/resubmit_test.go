package jobobject

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A manifest that a cluster has filled in, and what can be submitted again.
func TestResubmit(t *testing.T) {
	for what, c := range map[string]struct{ have, want string }{
		"a service keeps the labels that its selector needs": {`
apiVersion: apps/v1
kind: Deployment
metadata: {name: s, uid: u, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  selector: {matchLabels: {app: s}}
  template:
    metadata:
      labels: {app: s, kueue.x-k8s.io/managed: "true", kueue.x-k8s.io/queue-name: q}
      annotations: {kueue.x-k8s.io/pod-suspending-parent: deployment}
    spec: {containers: [{name: c}]}
`, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: s, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  selector: {matchLabels: {app: s}}
  template:
    metadata:
      labels: {app: s, kueue.x-k8s.io/queue-name: q}
    spec: {containers: [{name: c}]}
`},
		"a pod of a group has no node and no token": {`
apiVersion: v1
kind: Pod
metadata:
  name: p
  uid: u
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: "true", kueue.x-k8s.io/pod-group-name: g, kueue.x-k8s.io/podset: main}
  annotations: {kueue.x-k8s.io/pod-group-total-count: "2", kueue.x-k8s.io/role-hash: abc, mine: x}
  finalizers: [kueue.x-k8s.io/managed]
spec:
  nodeName: n
  priority: 0
  preemptionPolicy: PreemptLowerPriority
  serviceAccount: default
  serviceAccountName: default
  containers: [{name: c, volumeMounts: [{name: kube-api-access-x, mountPath: /var/run}]}]
  volumes: [{name: kube-api-access-x, projected: {sources: []}}]
`, `
apiVersion: v1
kind: Pod
metadata:
  name: p
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}
  annotations: {kueue.x-k8s.io/pod-group-total-count: "2", mine: x}
spec:
  serviceAccountName: default
  containers: [{name: c}]
`},
	} {
		got := parsedObject(t, c.have)
		Resubmit(got)
		if diff := cmp.Diff(parsedObject(t, c.want), got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}
