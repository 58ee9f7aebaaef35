package jobview

import (
	"github.com/hyperpod-cli/hyperpod/internal/kinds"

	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// InjectLabels sets labels on an object and on every pod template in it: those
// of a job's roles, and of Deployments, StatefulSets and the like. Kueue reads
// the job's labels; the admission policy of task governance looks at pods too.
// Objects that become no pods (a Service, a ConfigMap) are labelled at the top.
func InjectLabels(obj map[string]any, labels map[string]string) {
	if len(labels) == 0 {
		return
	}
	put := func(m map[string]any) {
		set := Child(Child(m, "metadata"), "labels")
		for k, v := range labels {
			set[k] = v
		}
	}
	put(obj)
	for _, template := range PodTemplates(obj) {
		put(template)
	}
}

// PodTemplates returns the pod templates in an object.
func PodTemplates(obj map[string]any) []map[string]any {
	var out []map[string]any
	if job, ok := kinds.JobFor(manifest.TextOf(obj["apiVersion"]), manifest.TextOf(obj["kind"])); ok {
		for _, part := range job.Parts(obj) {
			out = append(out, part.Template)
		}
		return out
	}
	switch manifest.GroupOf(manifest.TextOf(obj["apiVersion"])) + "/" + manifest.TextOf(obj["kind"]) {
	case "apps/Deployment", "apps/StatefulSet", "apps/ReplicaSet", "apps/DaemonSet", "/ReplicationController":
		if t := Inner(obj, "spec", "template"); t != nil {
			out = append(out, t)
		}
	case "batch/CronJob":
		if t := Inner(obj, "spec", "jobTemplate", "spec", "template"); t != nil {
			out = append(out, t)
		}
	case "leaderworkerset.x-k8s.io/LeaderWorkerSet":
		for _, key := range []string{"leaderTemplate", "workerTemplate"} {
			if t := Inner(obj, "spec", "leaderWorkerTemplate", key); t != nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// Pods tells whether an object is a pod or makes pods, so that the admission
// policy looks at it.
func Pods(obj map[string]any) bool {
	if _, isJob := kinds.JobFor(manifest.TextOf(obj["apiVersion"]), manifest.TextOf(obj["kind"])); isJob {
		return true
	}
	return manifest.TextOf(obj["kind"]) == "Pod" && manifest.TextOf(obj["apiVersion"]) == "v1" || len(PodTemplates(obj)) > 0
}
