package quota

import "strings"

// What SageMaker HyperPod task governance calls its ClusterQueues.
const (
	managedPrefix = "hyperpod-ns-"
	managedSuffix = "-clusterqueue"
	// idlePrefix begins the names of the queues that share what no team has
	// reserved; the pages of the documentation differ in what follows.
	idlePrefix = "hyperpod-ns-idle-resource-sharing"
)

// TeamOf returns the team of a ClusterQueue: the part of the name that task governance derives from the team, or else
// the whole name.
func TeamOf(clusterQueue string) string {
	team, ok := strings.CutPrefix(clusterQueue, managedPrefix)
	if !ok {
		return clusterQueue
	}
	if IsIdleSharing(clusterQueue) {
		return team
	}
	if team, ok = strings.CutSuffix(team, managedSuffix); ok && team != "" {
		return team
	}
	return clusterQueue
}

// IsIdleSharing reports the queues with which task governance shares capacity
// that no team has reserved.
func IsIdleSharing(clusterQueue string) bool { return strings.HasPrefix(clusterQueue, idlePrefix) }

// ManagedQueue returns the ClusterQueue that task governance makes for a team's
// namespace.
func ManagedQueue(namespace string) string { return namespace + managedSuffix }

// managedQueueOf returns the ClusterQueue behind a LocalQueue that cannot be
// read, if both have the names that task governance gives; else "".
func managedQueueOf(namespace, localQueue string) string {
	if strings.HasPrefix(namespace, managedPrefix) && localQueue == namespace+"-localqueue" {
		return ManagedQueue(namespace)
	}
	return ""
}
