package kinds

import "slices"

// RayJob is KubeRay's kind for a program on a cluster of its own (v1). Nothing on the
// pods says the RayJob's name, only their cluster's.
var RayJob = Job{
	Resource:     rayResource("RayJob", "rayjobs"),
	PodLabel:     "ray.io/cluster",
	PodLabelFrom: path("status.rayClusterName"),
	SuspendPath:  path("spec.suspend"),
	Roles:        rayRoles("spec.rayClusterSpec"),
	Volumes:      rayVolumes,
	Shares: func(object map[string]any) bool {
		of, _ := lookup(object, path("spec.clusterSelector")).(map[string]any)
		return len(of) > 0
	},
	Columns: func() []Column {
		return []Column{{Name: "Job Status", At: path("status.jobStatus")}, {Name: "Deployment Status", At: path("status.jobDeploymentStatus")}, {Name: "Ray Cluster Name", At: path("status.rayClusterName")}, {Name: "Start Time", At: path("status.startTime")}, {Name: "End Time", At: path("status.endTime")}}
	},
	Operator: "KubeRay operator",
	Style:    RayRun,
	Numbers:  Numbers{Place: rayPlace, Unranked: true},
	Made: func(p Planned) (string, map[string]string) {
		name, labels := rayPod(RayClusterOf(p.Name, p.UID, p.Object), p)
		labels["ray.io/originated-from-crd"], labels["ray.io/originated-from-cr-name"] = "RayJob", p.Name
		return name, labels
	},
	RestartPolicy: "Always",
	Submitter:     BatchJob.PodLabel,
	PodMaker:      clusterOfRay,
	Policy:        Policy{At: path("spec"), TTL: "ttlSecondsAfterFinished", Deadline: "activeDeadlineSeconds", Backoff: "backoffLimit"},
}

// RayCluster is KubeRay's kind for a cluster that serves until it is deleted (v1).
var RayCluster = Job{
	Resource:    rayResource("RayCluster", "rayclusters"),
	PodLabel:    "ray.io/cluster",
	SuspendPath: path("spec.suspend"),
	Roles:       rayRoles("spec"),
	Volumes:     rayVolumes,
	NeedsQueue:  true,
	Selector:    QueueLabel,
	Operator:    "KubeRay operator",
	Style:       RayNodes,
	Columns: func() []Column {
		return []Column{{Name: "Desired Workers", At: path("status.desiredWorkerReplicas")}, {Name: "Available Workers", At: path("status.availableWorkerReplicas")}, {Name: "CPUs", At: path("status.desiredCPU")}, {Name: "Memory", At: path("status.desiredMemory")}, {Name: "GPUs", At: path("status.desiredGPU")}, {Name: "Status", At: path("status.state")}}
	},
	Numbers: Numbers{Place: rayPlace, Unranked: true},
	Made:    func(p Planned) (string, map[string]string) { return rayPod(p.Name, p) },
	Serves:  true,

	RestartPolicy: "Always",
}

// RayService is KubeRay's kind for serving models (v1). A service that Kueue holds has a
// suspended cluster.
var RayService = Job{
	Resource:       rayResource("RayService", "rayservices"),
	PodLabel:       "ray.io/cluster",
	PodLabelFrom:   path("status.activeServiceStatus.rayClusterName"),
	PodLabelElse:   path("status.pendingServiceStatus.rayClusterName"), // until it serves
	SuspendPath:    path("spec.rayClusterConfig.suspend"),
	ChecksTopology: true,
	Columns: func() []Column {
		return []Column{{Name: "Service Status", At: path("status.serviceStatus")}, {Name: "Num Serve Endpoints", At: path("status.numServeEndpoints")}}
	},
	Roles:    rayRoles("spec.rayClusterConfig"),
	Volumes:  rayVolumes,
	Operator: "KubeRay operator",
	Style:    Described,
	Serves:   true,
	Status:   Status{Word: path("status.serviceStatus"), Words: map[Phase][]string{Running: {"Running"}}},
	Numbers:  Numbers{Place: rayPlace, Unranked: true},
	Made: func(p Planned) (string, map[string]string) {
		cluster := Text(p.Object, "status", "activeServiceStatus", "rayClusterName")
		if cluster == "" {
			cluster = p.Name + "-" + p.UID[:min(5, len(p.UID))]
		}
		name, labels := rayPod(cluster, p)
		labels["ray.io/originated-from-crd"], labels["ray.io/originated-from-cr-name"] = "RayService", p.Name
		return name, labels
	},
	PodMaker:      clusterOfRay,
	RestartPolicy: "Always",
}

// RayClusterOf returns the name of a RayJob's cluster: the one in its status, else the one
// that it will get.
func RayClusterOf(name, uid string, object map[string]any) string {
	if n := Text(object, "status", "rayClusterName"); n != "" {
		return n
	}
	return name + "-" + uid[:min(5, len(uid))]
}

// rayPod names and labels a pod of a Ray cluster.
func rayPod(cluster string, p Planned) (string, map[string]string) {
	labels := map[string]string{"ray.io/cluster": cluster, "ray.io/is-ray-node": "yes", rayNodeTypeLabel: "worker", rayGroupLabel: p.Part.Name}
	if p.Part.Name == rayHead {
		labels[rayNodeTypeLabel], labels[rayGroupLabel] = rayHead, "headgroup"
		return cluster + "-head-", labels
	}
	return cluster + "-" + p.Part.Name + "-worker-", labels
}

func rayResource(kind, plural string) Resource {
	return Resource{Group: "ray.io", Version: "v1", Plural: plural, Kind: kind, Namespaced: true}
}

// rayRoles returns the roles of a cluster whose spec is at a path.
func rayRoles(at string) []Role {
	below := func(more string) []string { return slices.Concat(path(at), path(more)) }
	return []Role{
		{Path: below("headGroupSpec"), Name: rayHead, Leads: true, Template: path("template")},
		{Path: below("workerGroupSpecs.*"), NameKey: "groupName", Replicas: path("replicas"), OrNone: true, Times: path("numOfHosts"), Template: path("template")},
	}
}

// rayVolumes are the volumes that KubeRay adds (controllers/ray/common/pod.go): memory of the host that processes share, logs for the
// autoscaler, and a token of Kubernetes.
var rayVolumes = []string{"shared-mem", "ray-logs", "ray-token"}

const (
	rayHead          = "head"
	rayNodeTypeLabel = "ray.io/node-type"
	rayGroupLabel    = "ray.io/group"
	rayReplicaLabel  = "ray.io/worker-group-replica-index" // KubeRay v1.6 and later
	rayHostLabel     = "ray.io/replica-host-index"         // only where replicas have several hosts
)

func rayPlace(labels map[string]string, _ map[string]int64) (string, int) {
	if labels[rayNodeTypeLabel] == rayHead {
		return rayHead, 0
	}
	number := -1
	if _, several := labels[rayHostLabel]; !several { // how many hosts a replica has is on no label
		number = index(labels[rayReplicaLabel])
	}
	return labels[rayGroupLabel], number
}
