package snapshot

import (
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// The annotations that decide something: Kueue's, the resiliency settings of
// HyperPod, and hyperpod's own.
var annotations = only(
	"kueue.x-k8s.io/admission-gated-by",
	"kueue.x-k8s.io/elastic-job",
	"kueue.x-k8s.io/is-group-workload",
	"kueue.x-k8s.io/job-owner-gvk",
	"kueue.x-k8s.io/job-owner-name",
	"kueue.x-k8s.io/pod-group-fast-admission",
	"kueue.x-k8s.io/pod-group-pod-index",
	"kueue.x-k8s.io/pod-group-serving",
	"kueue.x-k8s.io/pod-group-total-count",
	"kueue.x-k8s.io/podset-group-name",
	"kueue.x-k8s.io/podset-preferred-topology",
	"kueue.x-k8s.io/podset-replica-sizes",
	"kueue.x-k8s.io/podset-required-topology",
	"kueue.x-k8s.io/podset-slice-required-topology",
	"kueue.x-k8s.io/podset-slice-required-topology-constraints",
	"kueue.x-k8s.io/podset-slice-size",
	"kueue.x-k8s.io/podset-unconstrained-topology",
	"kueue.x-k8s.io/priority-boost",
	"kueue.x-k8s.io/raycluster-podset-replica-sizes",
	"kueue.x-k8s.io/retriable-in-group",
	"kueue.x-k8s.io/role-hash",
	"kueue.x-k8s.io/workload",
	"kueue.x-k8s.io/workload-allowed-resource-flavors",
	"kueue.x-k8s.io/workload-slice-name",
	"kueue.x-k8s.io/workload-slice-replacement-for",
	"kueue.x-k8s.io/job-min-parallelism",
	"kueue.x-k8s.io/job-completions-equal-parallelism",
	"sagemaker.amazonaws.com/enable-job-auto-resume",
	"sagemaker.amazonaws.com/job-max-retry-count",
	kinds.CreatedByAnnotation, kinds.TemplateAnnotation, kinds.IdempotencyAnnotation, kinds.DurationAnnotation,
)

var (
	labels = fields{"*": nil}

	metadata = only("name", "generateName", "namespace", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "finalizers").with(fields{
		"labels": labels, "annotations": annotations,
		"ownerReferences": only("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"),
	})

	conditions = only("type", "status", "reason", "message", "lastTransitionTime", "lastUpdateTime", "lastProbeTime", "observedGeneration")

	resources = fields{"requests": fields{"*": nil}, "limits": fields{"*": nil}, "claims": only("name", "request")}

	container = fields{
		"name": nil, "image": nil, "resources": resources, "restartPolicy": nil,
		"env":   only("name"),
		"ports": only("name", "containerPort", "protocol"),
	}

	podSpec = only("nodeName", "priorityClassName", "priority", "preemptionPolicy", "schedulerName", "restartPolicy",
		"activeDeadlineSeconds", "terminationGracePeriodSeconds", "runtimeClassName", "hostNetwork", "serviceAccountName").with(fields{
		"containers": container, "initContainers": container,
		"nodeSelector": fields{"*": nil}, "affinity": whole, "tolerations": whole, "topologySpreadConstraints": whole,
		"overhead": fields{"*": nil}, "resources": resources, "schedulingGates": only("name"),
		"resourceClaims": only("name", "resourceClaimName", "resourceClaimTemplateName"),
		"volumes":        fields{"name": nil, "persistentVolumeClaim": only("claimName"), "emptyDir": only("medium", "sizeLimit")},
	})

	podTemplate = fields{
		"metadata": fields{"labels": labels, "annotations": annotations, "name": nil},
		"spec":     podSpec,
	}

	// What a container printed as its last words is not kept.
	containerState = fields{
		"waiting":    only("reason", "message"),
		"running":    only("startedAt"),
		"terminated": only("exitCode", "signal", "reason", "startedAt", "finishedAt"),
	}
	containerStatus = fields{
		"name": nil, "ready": nil, "started": nil, "restartCount": nil, "image": nil,
		"state": containerState, "lastState": containerState,
	}

	pod = fields{"metadata": metadata, "spec": podSpec, "status": only("phase", "reason", "message", "startTime", "qosClass", "nominatedNodeName").with(fields{
		"conditions": conditions, "containerStatuses": containerStatus, "initContainerStatuses": containerStatus,
	})}

	podSet = fields{
		"name": nil, "count": nil, "minCount": nil, "topologyRequest": whole, "template": podTemplate,
	}

	workload = fields{
		"metadata": metadata,
		"spec": only("queueName", "priority", "priorityClassName", "priorityClassSource", "active", "maximumExecutionTimeSeconds").with(fields{
			"podSets": podSet, "priorityClassRef": only("group", "kind", "name"), "preemptionGates": whole,
		}),
		"status": only("accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds", "clusterName", "nominatedClusterNames").with(fields{
			"conditions": conditions, "admission": whole, "requeueState": whole, "reclaimablePods": whole,
			"resourceRequests": whole, "schedulingStats": whole, "unhealthyNodes": whole, "preemptionGates": whole,
			"admissionChecks": only("name", "state", "message", "lastTransitionTime", "requeueAfterSeconds", "retryCount"),
		}),
	}

	node = fields{"metadata": metadata, "spec": fields{"taints": whole, "unschedulable": nil},
		"status": fields{"allocatable": fields{"*": nil}, "capacity": fields{"*": nil}, "conditions": conditions}}

	policy = fields{"metadata": metadata, "spec": whole, "status": whole}
)

// jobSpec are single values of the job kinds' specs that commands and checks
// read; what leads to pod templates comes from the table of kinds.
var jobSpec = only("parallelism", "completions", "completionMode", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished",
	"suspend", "nprocPerNode", "slotsPerWorker", "launcherCreationPolicy", "mpiImplementation", "runLauncherAsWorker",
	"shutdownAfterJobFinishes", "submissionMode", "enableInTreeAutoscaling").with(fields{
	"runPolicy": only("suspend", "activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "ttlSecondsAfterFinished").with(fields{
		"schedulingPolicy": only("minAvailable", "queue", "priorityClass", "scheduleTimeoutSeconds"),
	}),
	"elasticPolicy": only("minReplicas", "maxReplicas", "nProcPerNode", "replicaIncrementStep", "replicaDiscreteValues",
		"gracefulShutdownTimeoutInSeconds", "scalingTimeoutInSeconds", "faultyScaleDownTimeoutInSeconds", "maxRestarts"),
	"failurePolicy": only("maxRestarts"),
	"successPolicy": only("operator", "targetReplicatedJobs"),
})

var replicaStatus = only("active", "ready", "succeeded", "failed", "suspended")

var jobStatus = only("startTime", "completionTime", "endTime", "active", "ready", "succeeded", "failed", "terminating",
	"reason", "message", "jobStatus", "jobDeploymentStatus", "rayClusterName", "state", "readyWorkerReplicas", "desiredWorkerReplicas",
	"terminalState", "restarts", "restartsCountTowardsMax", "restartCount").with(fields{
	"conditions":           conditions,
	"replicaStatuses":      fields{"*": replicaStatus},
	"replicatedJobsStatus": replicaStatus.with(only("name")),
	"rayClusterStatus":     only("state", "readyWorkerReplicas", "desiredWorkerReplicas"),
})

// job returns the allow-list of a job kind.
func job(k kinds.Job) fields {
	f := fields{"metadata": metadata, "spec": jobSpec, "status": jobStatus}
	d := k.Status
	for _, path := range [][]string{k.SuspendPath, k.PodLabelFrom, k.PodLabelElse, k.SelectorAt, k.SelectorText, d.Word, d.Ready, d.Wanted, d.Reason, d.Message, d.Since, d.Ended} {
		if len(path) > 0 {
			f = f.with(at(path, nil))
		}
	}
	if k.Runtime != nil {
		f = f.with(trainJob)
	}
	if k.RolesOf != nil {
		f = f.with(wrapper())
	}
	if k.Form != nil {
		k.Form.Fields(func(path, pod []string) {
			if kept, known := podTemplate.below(pod); known {
				f = f.with(at(path, kept))
			}
		})
	}
	for _, r := range k.Roles {
		part := only("spares", "restartPolicy", "minReplicas", "maxReplicas")
		for _, p := range [][]string{r.Replicas, r.Times, r.AtMost} {
			if len(p) > 0 {
				part = part.with(at(p, nil))
			}
		}
		if r.NameKey != "" {
			part[r.NameKey] = nil
		}
		f = f.with(at(r.Path, part.with(at(r.Template, podTemplate))))
	}
	return f
}

// wrapper returns what is kept of a job that contains other objects: of these, what is kept of
// jobs.
func wrapper() fields {
	inner := only("apiVersion", "kind")
	for _, k := range kinds.Jobs() {
		if k.RolesOf == nil {
			kept := job(k)
			if k.Itself {
				kept = pod
			}
			inner = inner.with(fields{"metadata": metadata, "spec": kept["spec"]})
		}
	}
	return fields{"spec": {"components": {"podSets": only("replicas", "path"), "podSetInfos": whole, "template": inner}}}
}

// trainJob is what a TrainJob says about its runtime and its pods.
var trainJob = fields{
	"spec": {
		"runtimeRef": only("name", "kind", "apiGroup"),
		"trainer":    only("numNodes", "numProcPerNode", "image").with(fields{"env": only("name"), "resourcesPerNode": resources}),
		"runtimePatches": {"manager": nil, "trainingRuntimeSpec": {"template": {"metadata": {"labels": labels, "annotations": annotations},
			"spec": {"replicatedJobs": {"name": nil, "template": {"spec": {"template": podTemplate}}}}}}},
	},
	"status": {"jobsStatus": replicaStatus.with(only("name")), "trainerStatus": only("progressPercentage", "estimatedRemainingSeconds", "lastUpdatedTime")},
}

// allowed is what is kept of each kind, by "plural.group". Kinds that are not in
// it are not captured at all.
var allowed = sync.OnceValue(func() map[string]fields {
	class := only("value", "globalDefault", "preemptionPolicy").with(fields{"metadata": metadata})
	out := map[string]fields{
		kinds.Namespace.FullName():     {"metadata": metadata, "status": only("phase")},
		kinds.Node.FullName():          node,
		kinds.Pod.FullName():           pod,
		kinds.LimitRange.FullName():    {"metadata": metadata, "spec": whole},
		kinds.PriorityClass.FullName(): class,
		kinds.RuntimeClass.FullName():  {"metadata": metadata, "overhead": {"podFixed": {"*": nil}}},
		kinds.ConfigMap.FullName():     {"metadata": metadata, "data": {"*": nil}},

		// Configurations of drivers, in classes and claims, are not kept: they can hold anything.
		kinds.DeviceClass.FullName():   {"metadata": metadata, "spec": only("extendedResourceName").with(fields{"selectors": whole})},
		kinds.ResourceSlice.FullName(): {"metadata": metadata, "spec": whole},
		kinds.ResourceClaimTemplate.FullName(): {"metadata": metadata, "spec": {"spec": {"devices": {
			"requests": whole, "constraints": whole}}}},

		kinds.WorkloadPriorityClass.FullName(): class,
		kinds.Workload.FullName():              workload,
	}
	for _, r := range []kinds.Resource{kinds.ClusterQueue, kinds.LocalQueue, kinds.Cohort, kinds.ResourceFlavor, kinds.Topology, kinds.AdmissionCheck} {
		out[r.FullName()] = policy
	}
	for _, k := range kinds.Jobs() {
		if out[k.FullName()] == nil {
			out[k.FullName()] = job(k)
		}
		if k.Runtime != nil {
			for _, r := range k.Runtime.Kinds {
				out[r.FullName()] = fields{"metadata": metadata, "spec": {"mlPolicy": whole, "template": job(*k.Runtime.Child).with(fields{
					"metadata": {"labels": labels, "annotations": annotations},
					"spec":     {"replicatedJobs": {"*": {"template": {"metadata": {"labels": labels}}}}}})}}
			}
		}
	}
	return out
})

// configuration are the parts of Kueue's Configuration that change decisions.
var configuration = fields{
	"apiVersion": nil, "kind": nil, "manageJobsWithoutQueueName": nil, "managedJobsNamespaceSelector": whole,
	"featureGates": {"*": nil}, "fairSharing": whole, "admissionFairSharing": whole, "waitForPodsReady": whole,
	"resources": whole, "integrations": only("frameworks", "externalFrameworks"),
}

// redactConfiguration reduces Kueue's configuration in its ConfigMap; a key that
// holds none is dropped.
func redactConfiguration(object map[string]any) {
	data, _ := object["data"].(map[string]any)
	for key, value := range data {
		text, _ := value.(string)
		delete(data, key)
		var m map[string]any
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			continue
		}
		if v, _ := m["apiVersion"].(string); !strings.HasPrefix(v, "config.kueue.x-k8s.io/") {
			continue
		}
		kept, _ := configuration.prune(m)
		if out, err := yaml.Marshal(kept); err == nil {
			data[key] = string(out)
		}
	}
}
