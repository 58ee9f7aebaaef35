package jobobject

import (
	"strings"

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
	for _, pods := range PodTemplates(obj) {
		put(pods.Template)
	}
}

// PodTemplate is a pod template in an object, its path, and its role in a job ("" where
// the object is none).
type PodTemplate struct {
	Role, At string
	Template map[string]any
}

// PodTemplates returns the pod templates in an object.
func PodTemplates(obj map[string]any) (out []PodTemplate) {
	if job, ok := Of(obj); ok {
		for _, r := range job.Roles() {
			out = append(out, PodTemplate{r.Name, strings.TrimSuffix(r.PodAt, ".spec"), r.Template})
		}
		return out
	}
	add := func(path ...string) {
		if t := Inner(obj, path...); t != nil {
			out = append(out, PodTemplate{"", strings.Join(path, "."), t})
		}
	}
	switch manifest.GroupOf(manifest.TextOf(obj["apiVersion"])) + "/" + manifest.TextOf(obj["kind"]) {
	case "apps/Deployment", "apps/StatefulSet", "apps/ReplicaSet", "apps/DaemonSet", "/ReplicationController":
		add("spec", "template")
	case "batch/CronJob":
		add("spec", "jobTemplate", "spec", "template")
	case "leaderworkerset.x-k8s.io/LeaderWorkerSet":
		add("spec", "leaderWorkerTemplate", "leaderTemplate")
		add("spec", "leaderWorkerTemplate", "workerTemplate")
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
