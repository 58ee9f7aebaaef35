package jobrules

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// training returns the webhook of a kind of the training operator (pkg/webhooks, v1.9) without its numbers of pods: roles are under
// specs, those allowed are roles, or any, and each has a container of a name.
func training(specs, container string, roles ...string) func(*checker) {
	return func(c *checker) {
		c.named(0)
		c.OneOf(spec("runPolicy"), faults.Inner(c.spec, "runPolicy"), "managedBy", "kubeflow.org/training-operator", multiKueue)
		for _, name := range slices.Sorted(maps.Keys(faults.Inner(c.spec, specs))) {
			role, _ := faults.Inner(c.spec, specs)[name].(map[string]any)
			c.role(spec(specs, name), name, role, container, roles)
		}
	}
}

const multiKueue = "kueue.x-k8s.io/multikueue"

func (c *checker) role(p at, name string, role map[string]any, container string, roles []string) {
	if len(roles) > 0 && !slices.Contains(roles, name) && !c.Open(name) {
		c.Add(p, field.ErrorTypeNotSupported, name, "", roles...)
	}
	if role == nil {
		return
	}
	p = p.To("template", "spec", "containers")
	containers := list(faults.Inner(role, "template", "spec")["containers"])
	if faults.Inner(role, "template", "spec")["containers"] == nil || len(containers) == 0 {
		c.Required(p, "")
		return
	}
	found := false
	faults.Each(containers, func(i int, m map[string]any) {
		if m["image"] == nil || m["image"] == "" {
			c.Required(p.To(i, "image"), "")
		}
		own, _ := m["name"].(string)
		found = found || own == container || own == "" || c.Open(own) // a container without a name is another fault
	})
	if !found {
		c.Required(p, fmt.Sprintf("must have a container named %s", container))
	}
}

// one checks that a role has one pod. stated: the number may not be absent.
func (c *checker) one(specs, name string, stated bool) {
	role := faults.Inner(c.spec, specs, name)
	n, ok := faults.Number(role["replicas"])
	if role != nil && (ok && n != 1 || stated && role["replicas"] == nil) {
		c.Invalid(spec(specs, name, "replicas"), role["replicas"], "must be 1")
	}
}

// some checks that a role has pods. stated: the number may not be absent.
func (c *checker) some(specs, name string, stated bool) {
	role := faults.Inner(c.spec, specs, name)
	n, ok := faults.Number(role["replicas"])
	if role != nil && (ok && n < 1 || stated && role["replicas"] == nil) {
		c.Invalid(spec(specs, name, "replicas"), role["replicas"], "must be at least 1")
	}
}

// with checks that a job has a role.
func (c *checker) with(specs, name string) {
	if roles := faults.Inner(c.spec, specs); roles != nil && roles[name] == nil {
		c.Required(spec(specs, name), "must have a "+name)
	}
}

func tfJob(c *checker) {
	training("tfReplicaSpecs", "tensorflow")(c)
	if roles := faults.Inner(c.spec, "tfReplicaSpecs"); roles["Chief"] != nil && roles["Master"] != nil {
		c.Forbidden(spec("tfReplicaSpecs"), "a job has only one of Chief and Master")
	}
}

func xgboostJob(c *checker) {
	training("xgbReplicaSpecs", "xgboost", "Master", "Worker")(c)
	c.with("xgbReplicaSpecs", "Master")
	c.one("xgbReplicaSpecs", "Master", true)
}

func pyTorchJob(c *checker) {
	training("pytorchReplicaSpecs", "pytorch", "Master", "Worker")(c)
	c.one("pytorchReplicaSpecs", "Master", true)
	c.some("pytorchReplicaSpecs", "Worker", false)
	elastic, roles := faults.Inner(c.spec, "elasticPolicy"), faults.Inner(c.spec, "pytorchReplicaSpecs")
	if elastic == nil {
		return
	}
	if roles != nil && roles["Worker"] == nil {
		c.Required(spec("pytorchReplicaSpecs", "Worker"), "an elastic policy requires workers")
	}
	if elastic["nProcPerNode"] != nil && c.spec["nprocPerNode"] != nil {
		c.Forbidden(spec("elasticPolicy", "nProcPerNode"), "must not be used with spec.nprocPerNode")
	}
}

// mpiJob is the validation of the MPI operator (pkg/apis/kubeflow/validation, v0.8), which has no webhook.
func mpiJob(c *checker) {
	c.with("mpiReplicaSpecs", "Launcher")
	c.one("mpiReplicaSpecs", "Launcher", false)
	c.some("mpiReplicaSpecs", "Worker", true)
	policy, p := faults.Inner(c.spec, "runPolicy"), spec("runPolicy")
	c.OneOf(p, policy, "cleanPodPolicy", "None", "Running", "All")
	c.OneOf(p, policy, "managedBy", "kubeflow.org/mpi-operator", multiKueue)
	c.notNegative(p, policy, "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit")
	c.notNegative(spec(), c.spec, "slotsPerWorker")
}

// trainJob is what the webhook of Kubeflow Trainer (v2.2) refuses whatever the runtime of a TrainJob is.
func trainJob(c *checker) {
	faults.Each(c.spec["runtimePatches"], func(i int, patch map[string]any) {
		c.manager(spec("runtimePatches", i, "manager"), patch["manager"], 253)
	})
}
