package aws

import "time"

// Spec is a cluster that a test starts with.
type Spec struct {
	Name string
	// EKS is the ARN of its EKS cluster; "" makes it a Slurm cluster.
	EKS    string
	Status string // InService where it is ""
	// Then are the statuses that follow.
	Then   []string
	Groups []GroupSpec
	Events []Event
}

// GroupSpec is an instance group with its nodes.
type GroupSpec struct {
	Name, InstanceType string
	// Count is how many nodes the group is to have; 0 is as many as it has.
	Count int
	// Given are further members of its specification.
	Given map[string]any
	Nodes []NodeSpec
}

// NodeSpec is a node.
type NodeSpec struct {
	ID              string
	Status, Message string // Running where Status is ""
}

// created is the time at which given clusters were created, the same for each test.
var created = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// AddCluster adds a cluster that exists, and returns its ARN.
func (s *Server) AddCluster(spec Spec) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	orchestrator := object{"Slurm": object{}}
	if spec.EKS != "" {
		orchestrator = object{"Eks": object{"ClusterArn": spec.EKS}}
	}
	v := cluster{id: s.id(), name: spec.Name, created: created, events: spec.Events, given: object{"Orchestrator": orchestrator, "NodeRecovery": "Automatic",
		"VpcConfig": object{"Subnets": []string{"subnet-0a1b2c3d"}, "SecurityGroupIds": []string{"sg-0a1b2c3d"}}}}
	for _, g := range spec.Groups {
		if g.Count == 0 {
			g.Count = len(g.Nodes)
		}
		made := &group{name: g.Name, status: "InService", given: object{"InstanceGroupName": g.Name, "InstanceType": g.InstanceType, "InstanceCount": float64(g.Count),
			"ExecutionRole": "arn:" + s.partition + ":iam::" + Account + ":role/hyperpod", "ThreadsPerCore": float64(1),
			"LifeCycleConfig": object{"SourceS3Uri": "s3://sagemaker-lifecycle/scripts", "OnCreate": "on_create.sh"}}}
		for key, value := range g.Given {
			made.given[key] = value
		}
		for _, n := range g.Nodes {
			if n.Status == "" {
				n.Status = "Running"
			}
			made.nodes = append(made.nodes, &node{id: n.ID, group: g.Name, instanceType: g.InstanceType, status: n.Status, message: n.Message, launched: created})
		}
		v.groups = append(v.groups, made)
	}
	if spec.Status == "" {
		spec.Status = "InService"
	}
	r, failure := s.clusters.Add(spec.Name, v)
	if failure != nil {
		panic(failure)
	}
	r.Begin(spec.Status, spec.Then...)
	return s.clusterARN(&r.Value)
}

// AddEvent lets something happen to a cluster.
func (s *Server) AddEvent(cluster string, e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.clusters.Get(cluster); r != nil {
		r.Value.events = append(r.Value.events, e)
	}
}

// ClusterID is the id in a cluster's ARN, "" if there is no such cluster.
func (s *Server) ClusterID(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.clusters.Get(name); r != nil {
		return r.Value.id
	}
	return ""
}
