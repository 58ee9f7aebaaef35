package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// object is a JSON object, kept as it was sent.
type object = map[string]any

// cluster is a HyperPod cluster.
type cluster struct {
	id, name string
	created  time.Time
	// given is what CreateCluster was given, but for the groups.
	given  object
	groups []*group
	events []Event
}

// group is an instance group.
type group struct {
	name   string
	status string
	// given is the specification as it was sent.
	given object
	nodes []*node
}

func (g *group) target() int { n, _ := g.given["InstanceCount"].(float64); return int(n) }

// node is an instance.
type node struct {
	id, group, instanceType, status, message string
	launched                                 time.Time
}

// Event is what happened to a cluster.
type Event struct {
	Time                             time.Time
	Level, Group, Instance, Describe string
}

func (c *cluster) group(name string) *group {
	if i := slices.IndexFunc(c.groups, func(g *group) bool { return g.name == name }); i >= 0 {
		return c.groups[i]
	}
	return nil
}

func (c *cluster) node(id string) *node {
	for _, g := range c.groups {
		for _, n := range g.nodes {
			if n.id == id {
				return n
			}
		}
	}
	return nil
}

// sagemaker returns the operations on clusters.
func (s *Server) sagemaker(operation string) answer {
	switch operation {
	case "ListClusters":
		return s.listClusters
	case "CreateCluster":
		return s.createCluster
	case "DescribeCluster":
		return s.describeCluster
	case "UpdateCluster":
		return s.updateCluster
	case "DeleteCluster":
		return s.deleteCluster
	case "ListClusterNodes":
		return s.listNodes
	case "ListClusterEvents":
		return s.listEvents
	case "BatchRebootClusterNodes":
		return s.batch("Pending", "ErrorCode", "InstanceIdNotFound", "InvalidInstanceStatus")
	case "BatchReplaceClusterNodes":
		return s.batch("Pending", "ErrorCode", "InstanceIdNotFound", "InvalidInstanceStatus")
	case "BatchDeleteClusterNodes":
		return s.batch("", "Code", "NodeIdNotFound", "InvalidNodeStatus")
	}
	return s.govern(operation)
}

// find returns a cluster by name or ARN.
func (s *Server) find(name string) (*Record[cluster], *Error) {
	name = name[strings.LastIndexByte(name, '/')+1:]
	r := s.clusters.Find(func(r *Record[cluster]) bool { return r.Key == name || r.Value.id == name })
	if r == nil {
		return nil, failf("ResourceNotFound", "Cluster with name %s not found", name)
	}
	return r, nil
}

func (s *Server) clusterARN(c *cluster) string {
	return s.arn("sagemaker", s.region, "cluster/"+c.id)
}

func (s *Server) listClusters(c *call) (any, *Error) {
	in, failure := read[struct {
		NameContains, NextToken, SortBy, SortOrder string
		MaxResults                                 int
	}](c)
	if failure != nil {
		return nil, failure
	}
	all := slices.DeleteFunc(s.clusters.All(), func(r *Record[cluster]) bool { return !strings.Contains(r.Key, in.NameContains) })
	slices.SortStableFunc(all, func(a, b *Record[cluster]) int {
		order := a.Value.created.Compare(b.Value.created)
		if in.SortBy == "NAME" {
			order = strings.Compare(a.Key, b.Key)
		}
		if in.SortOrder == "Descending" {
			order = -order
		}
		return order
	})
	page, next, failure := Page(all, in.NextToken, in.MaxResults)
	if failure != nil {
		return nil, failure
	}
	list := []object{}
	for _, r := range page {
		list = append(list, object{"ClusterName": r.Key, "ClusterArn": s.clusterARN(&r.Value), "ClusterStatus": r.Status, "CreationTime": seconds(r.Value.created)})
	}
	return withToken(object{"ClusterSummaries": list}, next), nil
}

func withToken(out object, next string) object {
	if next != "" {
		out["NextToken"] = next
	}
	return out
}

func (s *Server) describeCluster(c *call) (any, *Error) {
	in, failure := read[struct{ ClusterName string }](c)
	if failure != nil {
		return nil, failure
	}
	r, failure := s.find(in.ClusterName)
	if failure != nil {
		return nil, failure
	}
	v := &r.Value
	out := object{"ClusterName": r.Key, "ClusterArn": s.clusterARN(v), "ClusterStatus": r.Status, "CreationTime": seconds(v.created)}
	for _, key := range []string{"Orchestrator", "VpcConfig", "NodeRecovery", "NodeProvisioningMode", "ClusterRole"} {
		if value, ok := v.given[key]; ok {
			out[key] = value
		}
	}
	groups := []object{}
	for _, g := range v.groups {
		d := object{"InstanceGroupName": g.name, "CurrentCount": len(g.nodes), "TargetCount": g.target(), "Status": g.status}
		for key, value := range g.given {
			if key != "InstanceCount" && key != "InstanceGroupName" {
				d[key] = value
			}
		}
		groups = append(groups, d)
	}
	out["InstanceGroups"] = groups
	before := r.Status
	s.clusters.Seen(r)
	if before != r.Status && r.Status == "InService" {
		for _, g := range v.groups {
			s.settle(v, g)
		}
	}
	return out, nil
}

// settle gives a group as many nodes as it is to have.
func (s *Server) settle(c *cluster, g *group) {
	for len(g.nodes) < g.target() {
		s.serial++
		instanceType, _ := g.given["InstanceType"].(string)
		g.nodes = append(g.nodes, &node{id: fmt.Sprintf("i-%017x", s.serial), group: g.name, instanceType: instanceType, status: "Running", launched: s.now()})
	}
	g.nodes = g.nodes[:g.target()]
	g.status = "InService"
	for _, n := range g.nodes {
		n.status = "Running"
	}
	c.events = append(c.events, Event{s.now(), "Info", g.name, "", "Instance group is in service"})
}

var (
	clusterName = regexp.MustCompile(`^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$`)
	roleARN     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@/-]+$`)
)

// groupsOf checks the specifications of groups as the service does.
func groupsOf(list []object) ([]*group, *Error) {
	var out []*group
	for i, given := range list {
		at := fmt.Sprintf("InstanceGroups.%d", i+1)
		g := &group{status: "Creating", given: given}
		g.name, _ = given["InstanceGroupName"].(string)
		role, _ := given["ExecutionRole"].(string)
		count, hasCount := given["InstanceCount"].(float64)
		_, hasType := given["InstanceType"].(string)
		_, flexible := given["InstanceRequirements"]
		switch {
		case !clusterName.MatchString(g.name):
			return nil, failf("ValidationException", "Value '%s' at '%s.InstanceGroupName' failed to satisfy constraint", g.name, at)
		case slices.ContainsFunc(out, func(o *group) bool { return o.name == g.name }):
			return nil, failf("ValidationException", "Instance group names must be unique: %s", g.name)
		case !hasCount || count < 0 || count != float64(int(count)):
			return nil, failf("ValidationException", "Value at '%s.InstanceCount' failed to satisfy constraint", at)
		case hasType == flexible:
			return nil, failf("ValidationException", "%s needs either InstanceType or InstanceRequirements", at)
		case !roleARN.MatchString(role):
			return nil, failf("ValidationException", "Value '%s' at '%s.ExecutionRole' failed to satisfy constraint", role, at)
		}
		out = append(out, g)
	}
	return out, nil
}

func (s *Server) createCluster(c *call) (any, *Error) {
	in, failure := read[struct {
		ClusterName, NodeRecovery, NodeProvisioningMode, ClusterRole string
		InstanceGroups, Tags                                         []object
		VpcConfig, Orchestrator                                      object
	}](c)
	if failure != nil {
		return nil, failure
	}
	if !clusterName.MatchString(in.ClusterName) {
		return nil, failf("ValidationException", "Value '%s' at 'clusterName' failed to satisfy constraint", in.ClusterName)
	}
	groups, failure := groupsOf(in.InstanceGroups)
	if failure != nil {
		return nil, failure
	}
	v := cluster{id: s.id(), name: in.ClusterName, created: s.now(), groups: groups, given: object{}}
	for key, value := range map[string]any{"NodeRecovery": in.NodeRecovery, "NodeProvisioningMode": in.NodeProvisioningMode, "ClusterRole": in.ClusterRole} {
		if value != "" {
			v.given[key] = value
		}
	}
	for key, value := range map[string]object{"VpcConfig": in.VpcConfig, "Orchestrator": in.Orchestrator} {
		if value != nil {
			v.given[key] = value
		}
	}
	r, failure := s.clusters.Add(in.ClusterName, v)
	if failure != nil {
		return nil, failure
	}
	r.Begin("Creating", "InService")
	return object{"ClusterArn": s.clusterARN(&r.Value)}, nil
}

func (s *Server) updateCluster(c *call) (any, *Error) {
	in, failure := read[struct {
		ClusterName, NodeRecovery, ClusterRole string
		InstanceGroups                         []object
		InstanceGroupsToDelete                 []string
	}](c)
	if failure != nil {
		return nil, failure
	}
	r, failure := s.find(in.ClusterName)
	if failure != nil {
		return nil, failure
	}
	groups, failure := groupsOf(in.InstanceGroups)
	if failure != nil {
		return nil, failure
	}
	failure = s.clusters.Change(r.Key, nil, func(r *Record[cluster]) *Error {
		for _, g := range groups {
			old := r.Value.group(g.name)
			if old == nil {
				r.Value.groups = append(r.Value.groups, g)
				continue
			}
			for key := range old.given { // an update overwrites the whole group
				if _, ok := g.given[key]; !ok {
					return failf("ValidationException", "%s of instance group %s cannot be removed", key, g.name)
				}
			}
			old.given, old.status = g.given, "Updating"
		}
		for _, name := range in.InstanceGroupsToDelete {
			if r.Value.group(name) == nil {
				return failf("ValidationException", "Instance group %s does not exist", name)
			}
			r.Value.groups = slices.DeleteFunc(r.Value.groups, func(g *group) bool { return g.name == name })
		}
		if in.NodeRecovery != "" {
			r.Value.given["NodeRecovery"] = in.NodeRecovery
		}
		return nil
	})
	if failure != nil {
		return nil, failure
	}
	r.Begin("Updating", "InService")
	return object{"ClusterArn": s.clusterARN(&r.Value)}, nil
}

func (s *Server) deleteCluster(c *call) (any, *Error) {
	in, failure := read[struct{ ClusterName string }](c)
	if failure != nil {
		return nil, failure
	}
	r, failure := s.find(in.ClusterName)
	if failure != nil {
		return nil, failure
	}
	if r.Busy() {
		return nil, failf("ConflictException", "Cluster %s is in status %s", r.Key, r.Status)
	}
	r.Begin("Deleting", "")
	return object{"ClusterArn": s.clusterARN(&r.Value)}, nil
}

func (s *Server) listNodes(c *call) (any, *Error) {
	in, failure := read[struct {
		ClusterName, InstanceGroupNameContains, NextToken, SortBy, SortOrder string
		MaxResults                                                           int
	}](c)
	if failure != nil {
		return nil, failure
	}
	r, failure := s.find(in.ClusterName)
	if failure != nil {
		return nil, failure
	}
	var all []*node
	for _, g := range r.Value.groups {
		if strings.Contains(g.name, in.InstanceGroupNameContains) {
			all = append(all, g.nodes...)
		}
	}
	page, next, failure := Page(all, in.NextToken, in.MaxResults)
	if failure != nil {
		return nil, failure
	}
	list := []object{}
	for _, n := range page {
		status := object{"Status": n.status}
		if n.message != "" {
			status["Message"] = n.message
		}
		list = append(list, object{"InstanceGroupName": n.group, "InstanceId": n.id, "InstanceType": n.instanceType, "LaunchTime": seconds(n.launched), "InstanceStatus": status})
	}
	return withToken(object{"ClusterNodeSummaries": list}, next), nil
}

func (s *Server) listEvents(c *call) (any, *Error) {
	in, failure := read[struct {
		ClusterName, InstanceGroupName, NodeId, NextToken, SortBy, SortOrder, ResourceType string
		EventTimeAfter, EventTimeBefore                                                    float64
		MaxResults                                                                         int
	}](c)
	if failure != nil {
		return nil, failure
	}
	r, failure := s.find(in.ClusterName)
	if failure != nil {
		return nil, failure
	}
	var all []object
	for i, e := range r.Value.events {
		if in.InstanceGroupName != "" && e.Group != in.InstanceGroupName || in.NodeId != "" && e.Instance != in.NodeId || seconds(e.Time) < in.EventTimeAfter {
			continue
		}
		out := object{"EventId": fmt.Sprintf("%s-%d", r.Value.id, i+1), "ClusterArn": s.clusterARN(&r.Value), "ClusterName": r.Key, "EventTime": seconds(e.Time),
			"EventLevel": e.Level, "Description": e.Describe, "ResourceType": "Cluster"}
		if e.Group != "" {
			out["InstanceGroupName"], out["ResourceType"] = e.Group, "InstanceGroup"
		}
		if e.Instance != "" {
			out["InstanceId"], out["ResourceType"] = e.Instance, "Instance"
		}
		all = append(all, out)
	}
	if in.SortOrder != "Ascending" {
		slices.Reverse(all)
	}
	page, next, failure := Page(all, in.NextToken, in.MaxResults)
	if failure != nil {
		return nil, failure
	}
	return withToken(object{"Events": append([]object{}, page...)}, next), nil
}

// batch changes several nodes: each succeeds or fails on its own, and the answer is a
// success all the same. status is what becomes of the nodes; "" removes them.
func (s *Server) batch(status, codeKey, notFound, wrongStatus string) answer {
	return func(c *call) (any, *Error) {
		in, failure := read[struct {
			ClusterName string
			NodeIds     []string
		}](c)
		if failure != nil {
			return nil, failure
		}
		if len(in.NodeIds) == 0 || len(in.NodeIds) > 99 || status != "" && len(in.NodeIds) > 25 {
			return nil, failf("ValidationException", "NodeIds has %d elements", len(in.NodeIds))
		}
		r, failure := s.find(in.ClusterName)
		if failure != nil {
			return nil, failure
		}
		done, failed := []string{}, []object{}
		for _, id := range in.NodeIds {
			n := r.Value.node(id)
			switch {
			case n == nil:
				failed = append(failed, object{"NodeId": id, codeKey: notFound, "Message": "Node " + id + " does not exist in the cluster."})
			case n.status != "Running" && n.status != "Failure":
				failed = append(failed, object{"NodeId": id, codeKey: wrongStatus, "Message": "Node " + id + " is in status " + n.status + "."})
			default:
				done = append(done, id)
				n.status = status
			}
		}
		if status == "" {
			for _, g := range r.Value.groups {
				g.nodes = slices.DeleteFunc(g.nodes, func(n *node) bool { return slices.Contains(done, n.id) })
			}
		}
		return object{"Successful": done, "Failed": failed}, nil
	}
}
