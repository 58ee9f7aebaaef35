package e2e

import (
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// job makes a job of the recorder's kind with some worker pods of some GPUs.
func (r *recorder) job(name string, pods, gpus int64, priority string) map[string]any {
	template := func(gpus int64) map[string]any {
		c := map[string]any{"name": container(r.kind), "image": "example.com/train:1"}
		if gpus > 0 {
			c["resources"] = map[string]any{"limits": map[string]any{"nvidia.com/gpu": gpus}}
		}
		return map[string]any{"metadata": map[string]any{}, "spec": map[string]any{"restartPolicy": "Never", "containers": []any{c}}}
	}
	role := func(n, gpus int64) map[string]any {
		return map[string]any{"replicas": n, "restartPolicy": "Never", "template": template(gpus)}
	}
	var spec map[string]any
	switch r.kind.Kind {
	case "PyTorchJob":
		spec = map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": role(pods, gpus)}}
	case "TFJob":
		spec = map[string]any{"tfReplicaSpecs": map[string]any{"Worker": role(pods, gpus)}}
	case "XGBoostJob":
		spec = map[string]any{"xgbReplicaSpecs": map[string]any{"Master": role(1, 0), "Worker": role(pods, gpus)}}
	case "JAXJob":
		spec = map[string]any{"jaxReplicaSpecs": map[string]any{"Worker": role(pods, gpus)}}
	case "PaddleJob":
		spec = map[string]any{"paddleReplicaSpecs": map[string]any{"Worker": role(pods, gpus)}}
	case "MPIJob":
		spec = map[string]any{"runPolicy": map[string]any{"backoffLimit": int64(0)}, "mpiReplicaSpecs": map[string]any{"Launcher": role(1, 0), "Worker": role(pods, gpus)}}
	case "Job":
		spec = map[string]any{"parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": int64(0), "template": template(gpus)}
	case "RayJob":
		spec = map[string]any{"entrypoint": "true", "backoffLimit": int64(0), "shutdownAfterJobFinishes": true, "rayClusterSpec": ray(template, pods, gpus),
			"submitterPodTemplate": template(0), "submitterConfig": map[string]any{"backoffLimit": int64(0)}}
	case "RayCluster":
		spec = ray(template, pods, gpus)
	case "Pod":
		spec = template(gpus)["spec"].(map[string]any)
	case "Deployment", "StatefulSet":
		t := template(gpus)
		t["metadata"].(map[string]any)["labels"] = map[string]any{"app": name}
		delete(t["spec"].(map[string]any), "restartPolicy")
		spec = map[string]any{"replicas": pods, "selector": map[string]any{"matchLabels": map[string]any{"app": name}}, "template": t}
		if r.kind.Kind == "StatefulSet" {
			spec["serviceName"] = name
		}
	case "LeaderWorkerSet":
		t := template(gpus)
		delete(t["spec"].(map[string]any), "restartPolicy")
		spec = map[string]any{"replicas": int64(1), "leaderWorkerTemplate": map[string]any{"size": pods, "workerTemplate": t}}
	case "SparkApplication":
		role := map[string]any{"cores": int64(1), "memory": "1g"}
		spec = map[string]any{"type": "Python", "mode": "cluster", "sparkVersion": "3.5.0", "image": "example.com/train:1",
			"mainApplicationFile": "local:///main.py", "driver": role, "executor": map[string]any{"cores": int64(1), "memory": "1g", "instances": pods}}
	case "Notebook":
		spec = map[string]any{"template": map[string]any{"spec": template(gpus)["spec"]}}
	case "RayService":
		spec = map[string]any{"serveConfigV2": "applications: []", "rayClusterConfig": ray(template, pods, gpus)}
	case "JobSet":
		spec = map[string]any{"replicatedJobs": []any{map[string]any{"name": "w", "replicas": pods, "template": map[string]any{"spec": map[string]any{"parallelism": int64(1), "completions": int64(1), "backoffLimit": int64(0), "template": template(gpus)}}}}}
	}
	o := map[string]any{"apiVersion": r.kind.GroupVersion(), "kind": r.kind.Kind, "metadata": map[string]any{"name": name}, "spec": spec}
	labelled(o, cluster.Namespace(recordTeam)+"-localqueue")
	if priority != "" {
		o["metadata"].(map[string]any)["labels"].(map[string]any)[kinds.PriorityLabel] = priority
	}
	return o
}

func ray(template func(int64) map[string]any, pods, gpus int64) map[string]any {
	return map[string]any{
		"headGroupSpec":    map[string]any{"rayStartParams": map[string]any{}, "template": template(0)},
		"workerGroupSpecs": []any{map[string]any{"groupName": "w", "replicas": pods, "minReplicas": pods, "maxReplicas": pods, "rayStartParams": map[string]any{}, "template": template(gpus)}},
	}
}

// container is the name that the kind's operator looks for.
func container(k kinds.Job) string {
	switch k.Kind {
	case "PyTorchJob":
		return "pytorch"
	case "TFJob":
		return "tensorflow"
	case "XGBoostJob":
		return "xgboost"
	case "JAXJob":
		return "jax"
	case "PaddleJob":
		return "paddle"
	}
	return "main"
}

func labelled(o map[string]any, queue string) map[string]any {
	labels := map[string]any{}
	if queue != "" {
		labels[kinds.QueueLabel] = queue
	}
	o["metadata"].(map[string]any)["labels"] = labels
	return o
}

// annotated puts an annotation on every pod template; of a RayJob on that of its
// submitter, which is all that ends there.
func annotated(o map[string]any, key, value string) map[string]any {
	k, _ := kinds.JobFor(kinds.Text(o, "apiVersion"), kinds.Text(o, "kind"))
	if submitter, ok := kinds.At(o, "spec", "submitterPodTemplate").(map[string]any); ok {
		submitter["metadata"] = map[string]any{"annotations": map[string]any{key: value}}
		return o
	}
	for _, p := range k.Parts(o) {
		p.Template["metadata"].(map[string]any)["annotations"] = map[string]any{key: value}
	}
	return o
}

// batch is a batch Job that needs all that the team can have.
func (r *recorder) batch(name string) map[string]any {
	return (&recorder{kind: kinds.BatchJob}).job(name, 2, 4, recordHigh)
}
