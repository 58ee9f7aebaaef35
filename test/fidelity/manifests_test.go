package fidelity

import "fmt"

// ofKind makes a job of a kind. All of them request six GPUs: sizes of pod sets and groups differ. The objects are as users
// write them, with the queue where Kueue reads it.
type ofKind struct {
	name string
	make func(p pods) object
	// group makes the other pods of a pod group.
	group func(p pods) []object
}

// pods makes pod templates.
type pods struct {
	topology bool // each pod set in one rack
}

func (p pods) annotations() object {
	if p.topology {
		return object{"kueue.x-k8s.io/podset-required-topology": "fidelity/rack"}
	}
	return object{}
}

// template is a pod template of containers that request GPUs. Some kinds want their containers by a name of theirs.
func (p pods) template(container string, gpus int, restart string) object {
	resources := object{}
	if gpus > 0 {
		q := object{"nvidia.com/gpu": fmt.Sprint(gpus)}
		resources = object{"requests": q, "limits": q}
	}
	spec := object{"containers": []any{object{"name": container, "image": "example.com/none", "resources": resources}}}
	if restart != "" {
		spec["restartPolicy"] = restart
	}
	return object{"metadata": object{"annotations": p.annotations(), "labels": object{"app": "target"}}, "spec": spec}
}

// inGroup is a pod of a group of three.
func (p pods) inGroup(name string, gpus int, more ...string) object {
	t := p.template("c", gpus, "Never")
	resources := t["spec"].(object)["containers"].([]any)[0].(object)["resources"].(object)
	for i := 0; i < len(more); i += 2 {
		resources["requests"] = object{"nvidia.com/gpu": fmt.Sprint(gpus), more[i]: more[i+1]}
	}
	annotations := p.annotations()
	annotations["kueue.x-k8s.io/pod-group-total-count"] = "3"
	return object{"apiVersion": "v1", "kind": "Pod", "spec": t["spec"], "metadata": object{"name": name, "annotations": annotations,
		"labels": object{"kueue.x-k8s.io/queue-name": "queue", "kueue.x-k8s.io/pod-group-name": "group"}}}
}

func job1(version, kind string, spec object) object {
	return object{"apiVersion": version, "kind": kind, "metadata": object{"name": "target", "labels": object{"kueue.x-k8s.io/queue-name": "queue"}}, "spec": spec}
}

// trainingJob is a job of the training operator: one master and two workers.
func trainingJob(kind, replicas, container, master string) ofKind {
	return ofKind{name: kind, make: func(p pods) object {
		return job1("kubeflow.org/v1", kind, object{replicas: object{
			master:   object{"replicas": 1, "restartPolicy": "Never", "template": p.template(container, 2, "")},
			"Worker": object{"replicas": 2, "restartPolicy": "Never", "template": p.template(container, 2, "")},
		}})
	}}
}

func batchJob(p pods, parallelism, gpus int) object {
	return object{"parallelism": parallelism, "completions": parallelism, "template": p.template("c", gpus, "Never")}
}

func rayCluster(p pods) object {
	return object{
		"headGroupSpec":    object{"rayStartParams": object{}, "template": p.template("ray-head", 2, "")},
		"workerGroupSpecs": []any{object{"groupName": "w", "replicas": 2, "minReplicas": 2, "maxReplicas": 2, "rayStartParams": object{}, "template": p.template("ray-worker", 2, "")}},
	}
}

// trainingRuntime is what the TrainJob below refers to.
var trainingRuntime = object{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": object{"name": "torch"},
	"spec": object{"mlPolicy": object{"numNodes": 1}, "template": object{"spec": object{"replicatedJobs": []any{object{"name": "node",
		"template": object{"metadata": object{"labels": object{"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
			"spec": object{"template": object{"spec": object{"containers": []any{object{"name": "node", "image": "example.com/none"}}}}}}}}}}}}

func everyKind() []ofKind {
	return []ofKind{
		{name: "Job", make: func(p pods) object { return job1("batch/v1", "Job", batchJob(p, 3, 2)) }},
		{name: "JobSet", make: func(p pods) object {
			return job1("jobset.x-k8s.io/v1alpha2", "JobSet", object{"replicatedJobs": []any{
				object{"name": "leader", "replicas": 1, "template": object{"spec": batchJob(p, 1, 2)}},
				object{"name": "workers", "replicas": 2, "template": object{"spec": batchJob(p, 2, 1)}}}})
		}},
		trainingJob("PyTorchJob", "pytorchReplicaSpecs", "pytorch", "Master"),
		trainingJob("TFJob", "tfReplicaSpecs", "tensorflow", "Chief"),
		trainingJob("XGBoostJob", "xgbReplicaSpecs", "xgboost", "Master"),
		trainingJob("PaddleJob", "paddleReplicaSpecs", "paddle", "Master"),
		{name: "JAXJob", make: func(p pods) object {
			return job1("kubeflow.org/v1", "JAXJob", object{"jaxReplicaSpecs": object{"Worker": object{"replicas": 3, "restartPolicy": "Never", "template": p.template("jax", 2, "")}}})
		}},
		{name: "MPIJob", make: func(p pods) object {
			return job1("kubeflow.org/v2beta1", "MPIJob", object{"slotsPerWorker": 2, "mpiReplicaSpecs": object{
				"Launcher": object{"replicas": 1, "template": pods{}.template("launcher", 0, "Never")},
				"Worker":   object{"replicas": 3, "template": p.template("worker", 2, "Never")}}})
		}},
		{name: "TrainJob", make: func(p pods) object {
			o := job1("trainer.kubeflow.org/v1alpha1", "TrainJob", object{"runtimeRef": object{"name": "torch"},
				"trainer": object{"numNodes": 3, "resourcesPerNode": object{"requests": object{"nvidia.com/gpu": "2"}, "limits": object{"nvidia.com/gpu": "2"}}}})
			return o
		}},
		{name: "RayCluster", make: func(p pods) object { return job1("ray.io/v1", "RayCluster", rayCluster(p)) }},
		{name: "RayJob", make: func(p pods) object {
			return job1("ray.io/v1", "RayJob", object{"entrypoint": "python -c 1", "shutdownAfterJobFinishes": true, "rayClusterSpec": rayCluster(p)})
		}},
		{name: "RayService", make: func(p pods) object {
			return job1("ray.io/v1", "RayService", object{"serveConfigV2": "applications: []", "rayClusterConfig": rayCluster(p)})
		}},
		{name: "AppWrapper", make: func(p pods) object {
			inner := func(name string, n, gpus int) object {
				return object{"template": object{"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": name}, "spec": batchJob(p, n, gpus)}}
			}
			return job1("workload.codeflare.dev/v1beta2", "AppWrapper", object{"components": []any{inner("first", 1, 2), inner("second", 4, 1)}})
		}},
		{name: "SparkApplication", make: func(p pods) object {
			gpu := object{"name": "nvidia.com/gpu", "quantity": 2}
			role := func() object {
				return object{"cores": 1, "gpu": gpu, "annotations": p.annotations()}
			}
			executor := role()
			executor["instances"] = 2
			return job1("sparkoperator.k8s.io/v1beta2", "SparkApplication", object{"type": "Python", "mode": "cluster", "sparkVersion": "3.5.0",
				"image": "example.com/none", "mainApplicationFile": "local:///main.py", "driver": role(), "executor": executor})
		}},
		{name: "Pod", make: func(p pods) object {
			o := job1("v1", "Pod", nil)
			t := p.template("c", 6, "Never")
			o["spec"] = t["spec"]
			o["metadata"].(object)["annotations"] = t["metadata"].(object)["annotations"]
			return o
		}},
		{name: "pod group", make: func(p pods) object { return p.inGroup("target", 2) }, group: func(p pods) []object {
			return []object{p.inGroup("target-1", 2), p.inGroup("target-2", 2, "cpu", "1")}
		}},
		{name: "Deployment", make: func(p pods) object {
			return job1("apps/v1", "Deployment", object{"replicas": 3, "selector": object{"matchLabels": object{"app": "target"}}, "template": p.template("c", 2, "")})
		}},
		{name: "StatefulSet", make: func(p pods) object {
			return job1("apps/v1", "StatefulSet", object{"replicas": 3, "serviceName": "target", "selector": object{"matchLabels": object{"app": "target"}}, "template": p.template("c", 2, "")})
		}},
		{name: "LeaderWorkerSet", make: func(p pods) object {
			return job1("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", object{"replicas": 3, "rolloutStrategy": object{"type": "RollingUpdate"}, "leaderWorkerTemplate": object{"size": 2,
				"leaderTemplate": p.template("leader", 1, ""), "workerTemplate": p.template("worker", 1, "")}})
		}},
	}
}
