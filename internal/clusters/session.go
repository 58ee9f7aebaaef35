package clusters

// SessionTarget is a node as Systems Manager names it.
type SessionTarget struct{ ClusterID, Group, Instance string }

// String returns the target of a session: sagemaker-cluster:ID_GROUP-INSTANCE.
func (t SessionTarget) String() string {
	return "sagemaker-cluster:" + t.ClusterID + "_" + t.Group + "-" + t.Instance
}
