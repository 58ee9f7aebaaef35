package e2e

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

const adminNS = "administration"

// administrationObjects are what the steps of administration change.
const administrationObjects = `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: administration}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: administration}
spec:
  cohortName: administration
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: administration, resources: [{name: cpu, nominalQuota: 4, borrowingLimit: 1}]}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: administration}
spec: {clusterQueue: administration}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: held, namespace: administration, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {pytorchReplicaSpecs: {Worker: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: i, resources: {requests: {cpu: 99}}}]}}}}}
`

func clusterObject(kind, spec string) string {
	return "apiVersion: kueue.x-k8s.io/v1beta2\nkind: " + kind + "\nmetadata: {name: administration-new}\nspec: " + spec + "\n"
}

// administration does to a sandbox and to a real cluster what an administrator who
// practices tries: both give kubectl the same answers, to the letter.
func administration(t *testing.T, bed *cluster.Bed) {
	box := serve(t)
	real := served{newUser(t, bed.Kubeconfig), box.kubectlPath}
	const quota = "/spec/resourceGroups/0/flavors/0/resources/0"
	patch := func(what, text string) []string {
		return append(append([]string{"patch"}, strings.Fields(what)...), "--type=json", "-p", text)
	}
	queue, local, job := "clusterqueue administration", "localqueue q -n "+adminNS, "pytorchjob held -n "+adminNS
	words := strings.Fields
	for _, step := range []struct {
		stdin string
		args  []string
	}{
		{"", words("create ns " + adminNS)},
		{administrationObjects, words("apply -f -")},
		{"", patch(queue, `[{"op":"replace","path":"`+quota+`/nominalQuota","value":"-3"}]`)},
		{"", patch(queue, `[{"op":"replace","path":"`+quota+`/nominalQuota","value":"abc"}]`)},
		{"", patch(queue, `[{"op":"copy","from":"/spec/resourceGroups/0/flavors/0","path":"/spec/resourceGroups/0/flavors/-"}]`)},
		{"", patch(queue, `[{"op":"remove","path":"/spec/cohortName"}]`)},
		{"", patch(queue, `[{"op":"add","path":"`+quota+`/lendingLimit","value":"9000"}]`)},
		{"", patch(queue, `[{"op":"replace","path":"/spec/queueingStrategy","value":"FIFO"}]`)},
		{"", patch(queue, `[{"op":"replace","path":"`+quota+`/name","value":"memory"}]`)},
		{"", patch(queue, `[{"op":"replace","path":"/spec/preemption","value":{"reclaimWithinCohort":"Never","borrowWithinCohort":{"policy":"LowerPriority"}}}]`)},
		{"", patch(local, `[{"op":"replace","path":"/spec/clusterQueue","value":"other"}]`)},
		{"", patch(job, `[{"op":"replace","path":"/metadata/labels/kueue.x-k8s.io~1queue-name","value":"Not_Valid"}]`)},
		{clusterObject("ResourceFlavor", "{topologyName: t}"), words("create -f -")},
		{clusterObject("ResourceFlavor", "{nodeTaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}"), words("create -f -")},
		{clusterObject("Topology", "{levels: [{nodeLabel: a}, {nodeLabel: a}]}"), words("create -f -")},
		{clusterObject("ClusterQueue", "{resourceGroups: [{coveredResources: [cpu, memory], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}"), words("create -f -")},
		{clusterObject("Cohort", "{resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4, lendingLimit: 2}]}]}]}"), words("create -f -")},
		{"", words("-n " + adminNS + " create quota q --hard=pods=1,requests.cpu=2")},
		{"", words("-n " + adminNS + " wait --for=jsonpath={.status.hard.pods}=1 resourcequota/q --timeout=60s")},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}\n", words("create -n " + adminNS + " -f -")},
		{"apiVersion: v1\nkind: Pod\nmetadata: {name: none}\nspec: {containers: [{name: c, image: i}]}\n", words("create -n " + adminNS + " -f -")},
		{"", words("-n " + adminNS + " create role reader --verb=get,list --resource=pods,pods/log")},
		{"", words("-n " + adminNS + " create rolebinding jane --role=reader --user=jane --group=readers")},
		{"", words("--as jane get pods -n " + adminNS)},
		{"", words("--as jane get pods -A")},
		{"", words("--as jane delete pod x -n " + adminNS)},
		{"", words("--as jane get nodes")},
		{"", words("--as jane get pytorchjobs -n " + adminNS)},
		{"", words("--as jane get clusterqueue administration")},
		{"", words("--as jane create ns other")},
		{"", words("auth can-i list pods --as jane -n " + adminNS)},
		{"", words("auth can-i delete pods --as jane -n " + adminNS)},
		{"", words("auth can-i list pods --as bob --as-group readers -n " + adminNS)},
		{"", words("auth whoami --as jane")},
		{"", words("delete resourceflavor administration --wait=false")},
		{"", words("get resourceflavor administration -o jsonpath={.metadata.finalizers}")},
		{"", words("delete clusterqueue administration --wait=false")},
		{"", words("wait --for=delete resourceflavor/administration --timeout=60s")},
		{"", words("get clusterqueue administration")},
		{"", words("delete ns " + adminNS + " --wait=false")},
	} {
		want, failed := real.kubectlIn(step.stdin, step.args...)
		have, err := box.kubectlIn(step.stdin, step.args...)
		if have != want || (err == nil) != (failed == nil) {
			t.Errorf("kubectl %s\nthe sandbox: %s\na cluster:   %s", strings.Join(step.args, " "), have, want)
		}
	}
}
