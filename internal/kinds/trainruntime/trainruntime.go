// Package trainruntime makes the JobSet of a TrainJob and its runtime, as Kubeflow Trainer (v2.2) does. It is
// apart from kinds because patches of pods need the Go types of Kubernetes.
package trainruntime

import (
	"encoding/json"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Steps of a TrainJob, as runtimes name them.
const (
	trainerStep = "trainer"
	datasetStep = "dataset-initializer"
	modelStep   = "model-initializer"
)

// Child returns the JobSet that the Trainer makes of a TrainJob and its runtime (a
// TrainingRuntime or ClusterTrainingRuntime), as far as quota, placement and the commands
// of the containers depend on it: the environment for the launch of the training is left
// out. It changes neither object.
//
// Source: kubeflow/trainer v2.2.1, pkg/runtime/core/trainingruntime.go and the plugins
// torch, plainml, mpi, jax, xgboost, flux and jobset of pkg/runtime/framework.
func Child(job, runtime map[string]any) (map[string]any, error) {
	template, err := clone(kinds.At(runtime, "spec", "template"))
	if err != nil {
		return nil, err
	}
	list, _ := kinds.At(template, "spec", "replicatedJobs").([]any)
	if len(list) == 0 {
		return nil, fmt.Errorf("%s %s has no jobs", kinds.Text(runtime, "kind"), kinds.Text(runtime, "metadata", "name"))
	}
	if err := patched(job, list); err != nil {
		return nil, err
	}
	policy, _ := kinds.At(runtime, "spec", "mlPolicy").(map[string]any)
	first := true // of several jobs that train, only the first takes the number of nodes
	for _, r := range list {
		if row, ok := r.(map[string]any); ok {
			step := kinds.Text(row, "template", "metadata", "labels", kinds.TrainStepLabel)
			complete(job, policy, row, step, first)
			first = first && step != trainerStep
		}
	}
	child := map[string]any{"apiVersion": kinds.JobSet.GroupVersion(), "kind": kinds.JobSet.Kind, "spec": template["spec"],
		"metadata": map[string]any{"name": kinds.Text(job, "metadata", "name"), "namespace": kinds.Text(job, "metadata", "namespace")}}
	for _, key := range []string{"labels", "annotations"} {
		if m, ok := kinds.At(template, "metadata", key).(map[string]any); ok {
			kinds.Set(child, m, "metadata", key)
		}
	}
	kinds.Set(child, kinds.At(job, "spec", "suspend") == true, "spec", "suspend")
	return child, nil
}

// patched merges the runtime patches of a job into the jobs of its runtime.
func patched(job map[string]any, list []any) error {
	patches, _ := kinds.At(job, "spec", "runtimePatches").([]any)
	for _, p := range patches {
		changes, _ := kinds.At(p, "trainingRuntimeSpec", "template", "spec", "replicatedJobs").([]any)
		for _, change := range changes {
			for _, r := range list {
				row, _ := r.(map[string]any)
				with := kinds.At(change, "template")
				if row == nil || with == nil || kinds.Text(row, "name") != kinds.Text(change, "name") {
					continue
				}
				merged, err := merge(row["template"], with)
				if err != nil {
					return fmt.Errorf("runtime patch of %s: %w", kinds.Text(row, "name"), err)
				}
				row["template"] = merged
			}
		}
	}
	return nil
}

func merge(template, with any) (map[string]any, error) {
	before, err := json.Marshal(template)
	if err != nil {
		return nil, err
	}
	change, err := json.Marshal(with)
	if err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(before, change, batchv1.JobTemplateSpec{})
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(merged, &out)
}

// complete sets the numbers of a job of the runtime, and what the TrainJob says about the
// containers that train or prepare.
func complete(job, policy, row map[string]any, step string, first bool) {
	name := kinds.Text(row, "name")
	n := count(job, policy, row, step, first)
	spec := kinds.Child(row, "template", "spec")
	spec["parallelism"], spec["completions"] = n, n
	if step == trainerStep || step == datasetStep || step == modelStep || row["replicas"] == nil {
		row["replicas"] = int64(1)
	}
	containers, _ := kinds.At(spec, "template", "spec", "containers").([]any)
	trainer, _ := kinds.At(job, "spec", "trainer").(map[string]any)
	launcherIsNode := kinds.At(policy, "mpi", "runLauncherAsNode") == true
	for _, c := range containers {
		c, ok := c.(map[string]any)
		if !ok {
			continue
		}
		switch {
		case step == trainerStep && c["name"] == kinds.TrainNode:
			for _, key := range []string{"image", "command", "args"} {
				if v, given := trainer[key]; given {
					c[key] = v
				}
			}
			trains(trainer, c)
		case launcherIsNode && name == kinds.TrainNode && c["name"] == kinds.TrainNode:
			trains(trainer, c)
		case step == datasetStep && c["name"] == datasetStep:
			prepares(kinds.At(job, "spec", "initializer", "dataset"), c)
		case step == modelStep && c["name"] == modelStep:
			prepares(kinds.At(job, "spec", "initializer", "model"), c)
		}
	}
}

// trains sets the resources and the environment of a container that trains.
func trains(trainer, c map[string]any) {
	if per, ok := trainer["resourcesPerNode"].(map[string]any); ok && (per["limits"] != nil || per["requests"] != nil) {
		with := map[string]any{}
		for _, key := range []string{"limits", "requests"} {
			if v, given := per[key]; given {
				with[key] = v
			}
		}
		c["resources"] = with
	}
	environment(c, trainer["env"])
}

func prepares(step any, c map[string]any) {
	if step == nil {
		return
	}
	if uri := kinds.Text(step, "storageUri"); uri != "" {
		environment(c, []any{map[string]any{"name": "STORAGE_URI", "value": uri}})
	}
	environment(c, kinds.At(step, "env"))
	if secret := kinds.Text(step, "secretRef", "name"); secret != "" {
		from, _ := c["envFrom"].([]any)
		c["envFrom"] = append(from, map[string]any{"secretRef": map[string]any{"name": secret}})
	}
}

// environment sets variables of a container; those of the same name are replaced.
func environment(c map[string]any, add any) {
	list, _ := add.([]any)
	have, _ := c["env"].([]any)
next:
	for _, v := range list {
		for i := range have {
			if kinds.Text(have[i], "name") == kinds.Text(v, "name") {
				have[i] = v
				continue next
			}
		}
		have = append(have, v)
	}
	if len(have) > 0 {
		c["env"] = have
	}
}

// count returns the number of pods of a job of the runtime.
func count(job, policy, row map[string]any, step string, first bool) int64 {
	name := kinds.Text(row, "name")
	n := number(row, 1, "template", "spec", "parallelism")
	if step == trainerStep && policy != nil {
		n = number(policy, 1, "numNodes")
	}
	n = max(n, 1)
	nodes, given := kinds.Int(job, "spec", "trainer", "numNodes")
	switch mpi, _ := policy["mpi"].(map[string]any); {
	case !given:
	case mpi != nil && name == kinds.TrainNode && mpi["runLauncherAsNode"] == true:
		return max(nodes-1, 1)
	case mpi != nil && name == kinds.TrainNode, mpi == nil && step == trainerStep && first:
		return nodes
	}
	return n
}

func number(m map[string]any, otherwise int64, keys ...string) int64 {
	if n, ok := kinds.Int(m, keys...); ok {
		return n
	}
	return otherwise
}

func clone(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, err
	}
	return maps.Clone(out), nil
}

// With returns a job together with its child, for Job.Parts; find returns the object that
// a reference names, nil where there is none. Without a runtime the job is returned as it
// is, and ok is false.
func With(k kinds.Job, job map[string]any, find func(kinds.Reference) map[string]any) (out map[string]any, ok bool, err error) {
	ref, named := k.RuntimeOf(job)
	if !named {
		return job, k.Runtime == nil, nil
	}
	runtime := find(ref)
	if runtime == nil {
		return job, false, nil
	}
	child, err := Child(job, runtime)
	if err != nil {
		return job, false, err
	}
	return kinds.WithChild(job, child), true, nil
}
