package fidelity

import (
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// refusals are jobs that Kueue's webhooks do not let in, and two that look like them.
var refusals = []struct {
	name, kind string
	change     func(object)
	accepted   bool
}{
	{"RayJob that keeps its cluster", "RayJob", func(o object) { kinds.Set(o, false, "spec", "shutdownAfterJobFinishes") }, false},
	{"RayJob of another cluster", "RayJob", func(o object) {
		kinds.Set(o, object{"ray.io/cluster": "c"}, "spec", "clusterSelector")
		delete(o["spec"].(object), "rayClusterSpec")
		kinds.Set(o, false, "spec", "shutdownAfterJobFinishes")
	}, true},
	{"RayCluster that scales", "RayCluster", func(o object) { kinds.Set(o, true, "spec", "enableInTreeAutoscaling") }, false},
	{"RayService that scales", "RayService", func(o object) { kinds.Set(o, true, "spec", "rayClusterConfig", "enableInTreeAutoscaling") }, false},
	{"Job with a larger least size", "Job", func(o object) { kinds.Set(o, "4", "metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism") }, false},
	{"Job with a least size", "Job", func(o object) { kinds.Set(o, "2", "metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism") }, true},
	{"Job with two topologies", "Job", twoTopologies("spec", "template"), false},
	{"PyTorchJob with two topologies", "PyTorchJob", twoTopologies("spec", "pytorchReplicaSpecs", "Worker", "template"), false},
	{"RayService with two topologies", "RayService", twoTopologies("spec", "rayClusterConfig", "headGroupSpec", "template"), false},
	{"LeaderWorkerSet with two topologies", "LeaderWorkerSet", twoTopologies("spec", "leaderWorkerTemplate", "workerTemplate"), false},
	{"Pod with two topologies", "Pod", twoTopologies(), false},
	{"SparkApplication with two topologies", "SparkApplication", func(o object) {
		for _, key := range topologyKeys {
			kinds.Set(o, "fidelity/rack", "spec", "driver", "annotations", key)
		}
	}, false},
	{"SparkApplication on a client", "SparkApplication", func(o object) { kinds.Set(o, "client", "spec", "mode") }, false},
	{"SparkApplication that scales", "SparkApplication", func(o object) { kinds.Set(o, true, "spec", "dynamicAllocation", "enabled") }, false},
	{"Pod of a group without its size", "Pod", func(o object) { kinds.Set(o, "g", "metadata", "labels", "kueue.x-k8s.io/pod-group-name") }, false},
	{"Pod that is not managed", "Pod", func(o object) { kinds.Set(o, "false", "metadata", "labels", "kueue.x-k8s.io/managed") }, true},
	{"Deployment in a queue without a valid name", "Deployment", func(o object) { kinds.Set(o, "The_Queue", "metadata", "labels", kinds.QueueLabel) }, false},
	{"AppWrapper in a queue without a valid name", "AppWrapper", func(o object) { kinds.Set(o, "The_Queue", "metadata", "labels", kinds.QueueLabel) }, false},
	{"LeaderWorkerSet that is elastic", "LeaderWorkerSet", func(o object) { kinds.Set(o, "true", "metadata", "annotations", "kueue.x-k8s.io/elastic-job") }, false},
	{"MPIJob with a slice without a size", "MPIJob", func(o object) {
		kinds.Set(o, "fidelity/rack", "spec", "mpiReplicaSpecs", "Worker", "template", "metadata", "annotations", "kueue.x-k8s.io/podset-slice-required-topology")
	}, false},
	{"TrainJob", "TrainJob", func(object) {}, true},
}

var topologyKeys = []string{"kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology"}

// twoTopologies sets two topology annotations on the pod template at a path.
func twoTopologies(at ...string) func(object) {
	return func(o object) {
		for _, key := range topologyKeys {
			kinds.Set(o, "fidelity/rack", append(slices.Clone(at), "metadata", "annotations", key)...)
		}
	}
}

// refused compares what Kueue's webhooks refuse with the verdict, which repeats their words.
func (b *bench) refused(t *testing.T) {
	const namespace = "refused"
	err := b.bed.ApplyObjects(t.Context(),
		object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}},
		object{"apiVersion": group + "v1beta2", "kind": "LocalQueue", "metadata": object{"name": "queue", "namespace": namespace}, "spec": object{"clusterQueue": b.witnesses().at("a")}})
	if err != nil {
		t.Fatal(err)
	}
	var list []of
	for _, r := range refusals {
		made := everyKind()
		o := made[slices.IndexFunc(made, func(k ofKind) bool { return k.name == r.kind })].make(pods{})
		r.change(o)
		m := b.witnesses()
		m.scenario.name = r.name
		list = append(list, of{maker: m, object: o, namespace: namespace})
	}
	verdicts := b.kindVerdicts(list)
	for i, r := range refusals {
		t.Run(r.name, func(t *testing.T) {
			kinds.Set(list[i].object, strings.ToLower(strings.ReplaceAll(r.name, " ", "-")), "metadata", "name")
			err := b.submit(list[i].object, namespace)
			if (err == nil) != r.accepted {
				t.Fatalf("Kueue: %v", err)
			}
			at := slices.IndexFunc(verdicts[i].Submission, func(s check.Step) bool { return s.Code == check.KueueRefuses })
			switch {
			case r.accepted && at >= 0:
				t.Errorf("the verdict: %s", verdicts[i].Submission[at].Fault)
			case r.accepted:
			case at < 0:
				t.Errorf("Kueue: %v; the verdict is %s %s %+v", err, verdicts[i].Verdict, verdicts[i].Reason, verdicts[i].Submission)
			case verdicts[i].Verdict != check.Never:
				t.Errorf("the verdict is %s", verdicts[i].Verdict)
			default:
				t.Logf("Kueue: %v\nverdict: %s", err, verdicts[i].Submission[at].Fault)
			}
		})
	}
}
