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
	Operator:     "KubeRay operator",
	Style:        RayRun,
	Numbers:      Numbers{Place: rayPlace, Unranked: true},
	Policy:       Policy{At: path("spec"), TTL: "ttlSecondsAfterFinished", Deadline: "activeDeadlineSeconds", Backoff: "backoffLimit"},
}

// RayCluster is KubeRay's kind for a cluster that serves until it is deleted (v1).
var RayCluster = Job{
	Resource:    rayResource("RayCluster", "rayclusters"),
	PodLabel:    "ray.io/cluster",
	SuspendPath: path("spec.suspend"),
	Roles:       rayRoles("spec"),
	NeedsQueue:  true,
	Operator:    "KubeRay operator",
	Style:       RayNodes,
	Numbers:     Numbers{Place: rayPlace, Unranked: true},
}

func rayResource(kind, plural string) Resource {
	return Resource{Group: "ray.io", Version: "v1", Plural: plural, Kind: kind, Namespaced: true}
}

// rayRoles are the roles of a cluster whose spec is at a path.
func rayRoles(at string) []Role {
	below := func(more string) []string { return slices.Concat(path(at), path(more)) }
	return []Role{
		{Path: below("headGroupSpec"), Name: rayHead, Template: path("template")},
		{Path: below("workerGroupSpecs.*"), NameKey: "groupName", Replicas: path("replicas"), OrNone: true, Times: path("numOfHosts"), Template: path("template")},
	}
}

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
