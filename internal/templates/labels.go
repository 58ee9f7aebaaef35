package templates

import "github.com/hyperpod-cli/hyperpod/internal/kinds"

// injectLabels sets labels on an object and on every pod template in it: those
// of a job's roles, and of Deployments, StatefulSets and the like. Kueue reads
// the job's labels; the admission policy of task governance looks at pods too.
// Objects that become no pods (a Service, a ConfigMap) are labelled at the top.
func injectLabels(obj map[string]any, labels map[string]string) {
	if len(labels) == 0 {
		return
	}
	put := func(m map[string]any) {
		set := child(child(m, "metadata"), "labels")
		for k, v := range labels {
			set[k] = v
		}
	}
	put(obj)
	for _, template := range podTemplates(obj) {
		put(template)
	}
}

// podTemplates returns the pod templates in an object.
func podTemplates(obj map[string]any) []map[string]any {
	var out []map[string]any
	if job, ok := kinds.JobFor(textOf(obj["apiVersion"]), textOf(obj["kind"])); ok {
		for _, part := range job.Parts(obj) {
			out = append(out, part.Template)
		}
		return out
	}
	switch groupOf(textOf(obj["apiVersion"])) + "/" + textOf(obj["kind"]) {
	case "apps/Deployment", "apps/StatefulSet", "apps/ReplicaSet", "apps/DaemonSet", "/ReplicationController":
		if t := inner(obj, "spec", "template"); t != nil {
			out = append(out, t)
		}
	case "batch/CronJob":
		if t := inner(obj, "spec", "jobTemplate", "spec", "template"); t != nil {
			out = append(out, t)
		}
	case "leaderworkerset.x-k8s.io/LeaderWorkerSet":
		for _, key := range []string{"leaderTemplate", "workerTemplate"} {
			if t := inner(obj, "spec", "leaderWorkerTemplate", key); t != nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// pods tells whether an object is a pod or makes pods, so that the admission
// policy looks at it.
func pods(obj map[string]any) bool {
	if _, isJob := kinds.JobFor(textOf(obj["apiVersion"]), textOf(obj["kind"])); isJob {
		return true
	}
	return textOf(obj["kind"]) == "Pod" && textOf(obj["apiVersion"]) == "v1" || len(podTemplates(obj)) > 0
}
