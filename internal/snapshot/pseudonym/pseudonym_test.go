package pseudonym

import (
	"encoding/json"
	"strings"
	"testing"
)

// mark is in every name of the objects below.
const mark = "zq"

const objects = `{
"namespaces": [{"metadata": {"name": "hyperpod-ns-zqteam", "labels": {"sagemaker.amazonaws.com/quota-allocation-id": "zqteam", "zq.example.com/cost": "ZQ42"}}},
  {"metadata": {"name": "zqspace"}}],
"nodes": [{"metadata": {"name": "zqnode-b", "labels": {"kubernetes.io/hostname": "zqnode-b", "topology.k8s.aws/network-node-layer-1": "zq-rack", "node.kubernetes.io/instance-type": "ml.p5.48xlarge"}},
  "spec": {"taints": [{"key": "zq/dedicated", "value": "zqteam", "effect": "NoSchedule"}]}, "status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "190"}}}],
"topologies.kueue.x-k8s.io": [{"metadata": {"name": "zqtopology"}, "spec": {"levels": [{"nodeLabel": "topology.k8s.aws/network-node-layer-1"}, {"nodeLabel": "kubernetes.io/hostname"}]}}],
"resourceflavors.kueue.x-k8s.io": [{"metadata": {"name": "zqflavor"}, "spec": {"nodeLabels": {"zq.example.com/cost": "ZQ42"}, "topologyName": "zqtopology",
  "tolerations": [{"key": "zq/dedicated", "operator": "Equal", "value": "zqteam", "effect": "NoSchedule"}]}}],
"clusterqueues.kueue.x-k8s.io": [{"metadata": {"name": "hyperpod-ns-zqteam-clusterqueue"}, "spec": {"cohortName": "zqcohort", "queueingStrategy": "BestEffortFIFO",
  "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "zqflavor", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]}]}],
  "namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["hyperpod-ns-zqteam", "zqspace"]}]}}}],
"localqueues.kueue.x-k8s.io": [{"metadata": {"name": "hyperpod-ns-zqteam-localqueue", "namespace": "hyperpod-ns-zqteam"}, "spec": {"clusterQueue": "hyperpod-ns-zqteam-clusterqueue"}}],
"workloadpriorityclasses.kueue.x-k8s.io": [{"metadata": {"name": "zqclass-priority"}, "value": 50}],
"pytorchjobs.kubeflow.org": [{"metadata": {"name": "zqjob", "namespace": "hyperpod-ns-zqteam", "generateName": "zqjob-", "labels": {"kueue.x-k8s.io/queue-name": "hyperpod-ns-zqteam-localqueue",
  "kueue.x-k8s.io/priority-class": "zqclass-priority", "sagemaker.user/created-by": "zqmaria"}, "annotations": {"cli.hyperpod/created-by": "zqmaria", "cli.hyperpod/template": "zqtemplate", "cli.hyperpod/idempotency-key": "zqkey"}},
  "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": {"serviceAccountName": "zqaccount", "containers": [{"name": "zqcontainer", "image": "zq.example.com/zqimage:zq1",
  "env": [{"name": "ZQ_TOKEN"}, {"name": "ZQ_HOST"}], "resources": {"limits": {"nvidia.com/gpu": "4"}}}], "volumes": [{"name": "zqdata", "persistentVolumeClaim": {"claimName": "zqclaim"}}]}}}}}}],
"pods": [{"metadata": {"name": "zqjob-worker-0", "namespace": "hyperpod-ns-zqteam", "labels": {"training.kubeflow.org/job-name": "zqjob", "training.kubeflow.org/replica-type": "worker"}},
  "spec": {"nodeName": "zqnode-b"}, "status": {"phase": "Pending", "containerStatuses": [{"name": "zqcontainer", "image": "zq.example.com/zqimage:zq1",
  "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"zq.example.com/zqimage:zq1\": rpc error from zq-mirror.example.com:5000/zqold for zqgone-4"}}}]}}],
"workloads.kueue.x-k8s.io": [{"metadata": {"name": "pytorchjob-zqjob-1a2b3", "namespace": "hyperpod-ns-zqteam", "ownerReferences": [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "zqjob", "uid": "0b0f0c3e-1111-2222-3333-444455556666"}]},
  "spec": {"queueName": "hyperpod-ns-zqteam-localqueue"}, "status": {"conditions": [{"type": "Evicted", "status": "True", "reason": "Preempted",
  "message": "Preempted to accommodate a workload (UID: 0b0f0c3e-1111-2222-3333-444455556666, JobUID: 0b0f0c3e-1111-2222-3333-444455556667) due to reclamation within the cohort; preemptor path: /zqcohort/hyperpod-ns-zqother-clusterqueue; preemptee path: /zqcohort/hyperpod-ns-zqteam-clusterqueue"},
  {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor zqflavor, 8 more needed"}],
  "admission": {"clusterQueue": "hyperpod-ns-zqteam-clusterqueue", "podSetAssignments": [{"name": "worker", "count": 2, "flavors": {"nvidia.com/gpu": "zqflavor"}, "resourceUsage": {"nvidia.com/gpu": "8"},
  "topologyAssignment": {"levels": ["topology.k8s.aws/network-node-layer-1", "kubernetes.io/hostname"], "slices": [{"domainCount": 2, "valuesPerLevel": [{"universal": "zq-rack"}, {"individual": {"prefix": "zqnode-", "roots": ["b", "c"]}}], "podCounts": {"universal": 1}}]}}]}}}],
"configmaps": [{"metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"}, "data": {"controller_manager_config.yaml": "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {frameworks: [batch/job]}\nmanagedJobsNamespaceSelector: {matchLabels: {zq.example.com/cost: ZQ42}}\n"}}]
}`

// TestNoNameSurvives: of objects with a mark in each name nothing with the mark is left, and
// what belongs together still does.
func TestNoNameSurvives(t *testing.T) {
	var all map[string][]map[string]any
	if err := json.Unmarshal([]byte(objects), &all); err != nil {
		t.Fatal(err)
	}
	names := Of(all)
	for resource, list := range all {
		for _, m := range list {
			names.Object(resource, m)
		}
	}
	out, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if strings.Contains(strings.ToLower(line), mark) {
			t.Errorf("a name is left: %s", strings.TrimSpace(line))
		}
	}
	for _, want := range []string{
		`"name": "hyperpod-ns-team-1-clusterqueue"`, `"sagemaker.amazonaws.com/quota-allocation-id": "team-1"`, `"name": "job-1-worker-0"`, `"name": "pytorchjob-job-1-1a2b3"`,
		`"node.kubernetes.io/instance-type": "ml.p5.48xlarge"`, `"kubernetes.io/hostname": "node-1"`, `"universal": "domain-1"`, `"node-1",`, `"kueue.x-k8s.io/priority-class": "class-1-priority"`,
		`insufficient unused quota for nvidia.com/gpu in flavor flavor-1, 8 more needed`, `preemptee path: /cohort-1/hyperpod-ns-team-1-clusterqueue`,
		`(UID: 0b0f0c3e-1111-2222-3333-444455556666, JobUID: 0b0f0c3e-1111-2222-3333-444455556667)`, `"sagemaker.user/created-by": "user-1"`, `"replicas": 2`,
		`"name": "VARIABLE_1"`, `Back-off pulling image \"image-1\"`, `"nvidia.com/gpu": "8"`, `"training.kubeflow.org/replica-type": "worker"`, `frameworks:\n  - batch/job`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(string(out))
	}
}

// TestOrder: pseudonyms sort as the names do, because ties are decided by names.
func TestOrder(t *testing.T) {
	all := map[string][]map[string]any{}
	var sorted []string
	for c := 'a'; c <= 'z'; c++ {
		name := string(c) + "-cohort"
		sorted = append(sorted, name)
		all["cohorts.kueue.x-k8s.io"] = append(all["cohorts.kueue.x-k8s.io"], map[string]any{"metadata": map[string]any{"name": name}})
	}
	names := Of(all)
	for i := 1; i < len(sorted); i++ {
		if a, b := names.Name(sorted[i-1]), names.Name(sorted[i]); a >= b {
			t.Errorf("%s is %s, %s is %s", sorted[i-1], a, sorted[i], b)
		}
	}
}
