package kinds

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// TrainJob trains by a runtime that an administrator provides (Kubeflow Trainer v2.2). The
// Trainer makes a JobSet of both, with the name of the job.
var TrainJob = Job{
	Resource:    Resource{Group: trainerGroup, Version: "v1alpha1", Plural: "trainjobs", Kind: "TrainJob", Namespaced: true},
	PodLabel:    JobSet.PodLabel,
	SuspendPath: path("spec.suspend"),
	Runtime: &Runtime{
		Ref:         path("spec.runtimeRef"),
		Kinds:       []Resource{ClusterTrainingRuntime, TrainingRuntime},
		Child:       &JobSet,
		Outline:     trainOutline,
		Fold:        foldTrainJob,
		ChildStatus: path("status.jobsStatus"),
		Progress:    path("status.trainerStatus.progressPercentage"),
		Remaining:   path("status.trainerStatus.estimatedRemainingSeconds"),
	},
	ChecksTopology: true,
	Operator:       "Kubeflow Trainer",
	Style:          JobGroups,
	Numbers:        JobSet.Numbers,
	Policy:         Policy{At: path("spec"), Deadline: "activeDeadlineSeconds"},
	Made:           JobSet.Made,
	PodMaker:       jobOfJobSet,
}

// trainerGroup is the API group of Kubeflow Trainer v2.
const trainerGroup = "trainer.kubeflow.org"

// The kinds of runtimes of a TrainJob.
var (
	ClusterTrainingRuntime = Resource{Group: trainerGroup, Version: "v1alpha1", Plural: "clustertrainingruntimes", Kind: "ClusterTrainingRuntime"}
	TrainingRuntime        = Resource{Group: trainerGroup, Version: "v1alpha1", Plural: "trainingruntimes", Kind: "TrainingRuntime", Namespaced: true}
)

const (
	// TrainStepLabel names the step of a TrainJob that a job of its runtime takes.
	TrainStepLabel = "trainer.kubeflow.org/trainjob-ancestor-step"
	// TrainNode is the name of the job and of the container that train.
	TrainNode = "node"
	// foldedManager is the manager of the patch with what a submission changes in the pods.
	foldedManager = OwnPrefix + "pods"
	// KueueManager is the manager of the patch with what Kueue changes.
	KueueManager = "kueue.x-k8s.io/manager"
)

// trainerKeys are the fields of spec.trainer and of the container that has them.
var trainerKeys = map[string]string{"image": "image", "command": "command", "args": "args", "env": "env", "resourcesPerNode": "resources"}

// trainOutline makes a JobSet of what a TrainJob says about the pods that train.
func trainOutline(job map[string]any) map[string]any {
	trainer, _ := lookup(job, path("spec.trainer")).(map[string]any)
	if trainer == nil && lookup(job, path("spec.runtimeRef")) == nil {
		return nil // it says nothing
	}
	container := map[string]any{"name": TrainNode}
	for from, to := range trainerKeys {
		if v, ok := trainer[from]; ok {
			container[to] = copyOf(v)
		}
	}
	pods := map[string]any{"spec": map[string]any{"containers": []any{container}}}
	if patch, ok := trainPatch(job, foldedManager, false).(map[string]any); ok {
		unfoldPods(pods, copyOf(patch).(map[string]any), container)
	}
	spec := map[string]any{"template": pods}
	for _, key := range []string{"parallelism", "completions"} {
		if n, ok := trainer["numNodes"]; ok {
			spec[key] = copyOf(n)
		}
	}
	return map[string]any{"spec": map[string]any{"replicatedJobs": []any{
		map[string]any{"name": TrainNode, "replicas": int64(1), "template": map[string]any{"spec": spec}}}}}
}

// unfoldPods puts the pod template of a patch into one of an outline.
func unfoldPods(pods, patch, container map[string]any) {
	if meta, ok := patch["metadata"].(map[string]any); ok {
		pods["metadata"] = meta
	}
	from, _ := patch["spec"].(map[string]any)
	to := pods["spec"].(map[string]any)
	for k, v := range from {
		if k != "containers" {
			to[k] = v
		}
	}
	list, _ := from["containers"].([]any)
	for _, c := range list {
		if c, ok := c.(map[string]any); ok && c["name"] == TrainNode {
			maps.Copy(container, c)
		}
	}
}

// trainPatch returns the patch of the template of the pods that train, of one manager.
// make creates a missing one.
func trainPatch(job map[string]any, manager string, create bool) any {
	spec, _ := job["spec"].(map[string]any)
	list, _ := spec["runtimePatches"].([]any)
	i := slices.IndexFunc(list, func(p any) bool { m, _ := p.(map[string]any); return m["manager"] == manager })
	if i < 0 {
		if !create || spec == nil {
			return nil
		}
		i, list = len(list), append(list, map[string]any{"manager": manager})
		spec["runtimePatches"] = list
	}
	at, _ := list[i].(map[string]any)
	if !create {
		jobs, _ := lookup(at, path("trainingRuntimeSpec.template.spec.replicatedJobs")).([]any)
		for _, j := range jobs {
			if m, ok := j.(map[string]any); ok && m["name"] == TrainNode {
				return lookup(m, path("template.spec.template"))
			}
		}
		return nil
	}
	pods := map[string]any{}
	at["trainingRuntimeSpec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"replicatedJobs": []any{
		map[string]any{"name": TrainNode, "template": map[string]any{"spec": map[string]any{"template": pods}}}}}}}
	return pods
}

// What a patch of pods and of their containers can have.
var (
	patchedPods = []string{"serviceAccountName", "volumes", "initContainers", "imagePullSecrets", "securityContext", "nodeSelector", "affinity",
		"tolerations", "schedulingGates"}
	patchedContainer = []string{"volumeMounts", "securityContext"}
)

// foldTrainJob writes the outline back: to spec.trainer, and to a patch what that has no
// field for. It returns an error for fields that a TrainJob cannot set.
func foldTrainJob(job, child map[string]any) error {
	jobs, _ := lookup(child, path("spec.replicatedJobs")).([]any)
	var row map[string]any
	for _, j := range jobs {
		if m, ok := j.(map[string]any); ok && m["name"] == TrainNode {
			row = m
		}
	}
	pods, _ := lookup(row, path("template.spec.template")).(map[string]any)
	spec, ok := job["spec"].(map[string]any)
	if pods == nil || !ok {
		return nil
	}
	podSpec, _ := pods["spec"].(map[string]any)
	containers, _ := podSpec["containers"].([]any)
	if len(containers) != 1 {
		return errors.New("its runtime has the containers")
	}
	container, _ := containers[0].(map[string]any)
	trainer, _ := spec["trainer"].(map[string]any)
	if trainer == nil {
		trainer = map[string]any{}
	}
	for to, from := range trainerKeys {
		if v, ok := container[from]; ok && !empty(v) {
			trainer[to] = v
		} else {
			delete(trainer, to)
		}
	}
	if n, ok := number(row, path("template.spec.parallelism")); ok {
		jobs, _ := number(row, path("replicas"))
		trainer["numNodes"] = n * max(1, jobs)
	} else if n, ok := number(row, path("replicas")); ok && n > 1 {
		trainer["numNodes"] = n
	}
	if len(trainer) > 0 {
		spec["trainer"] = trainer
	}
	return foldPods(job, pods, podSpec, container)
}

func foldPods(job, pods, podSpec, container map[string]any) error {
	patch, inner := map[string]any{}, map[string]any{"name": TrainNode}
	var unknown []string
	for k, v := range container {
		switch {
		case k == "name" || empty(v) || slices.Contains([]string{"image", "command", "args", "env", "resources"}, k):
		case slices.Contains(patchedContainer, k):
			inner[k] = v
		default:
			unknown = append(unknown, "containers."+k)
		}
	}
	spec := map[string]any{}
	for k, v := range podSpec {
		switch {
		case k == "containers" || empty(v):
		case slices.Contains(patchedPods, k):
			spec[k] = v
		default:
			unknown = append(unknown, k)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return fmt.Errorf("a TrainJob cannot set %s of its pods: its runtime does", strings.Join(unknown, ", "))
	}
	if len(inner) > 1 {
		spec["containers"] = []any{inner}
	}
	if len(spec) > 0 {
		patch["spec"] = spec
	}
	if meta, ok := pods["metadata"].(map[string]any); ok {
		for k, v := range meta {
			if empty(v) {
				delete(meta, k)
			}
		}
		if len(meta) > 0 {
			patch["metadata"] = meta
		}
	}
	if len(patch) == 0 && trainPatch(job, foldedManager, false) == nil {
		return nil
	}
	maps.Copy(trainPatch(job, foldedManager, true).(map[string]any), patch)
	return nil
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = copyOf(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = copyOf(x)
		}
		return out
	}
	return v
}
