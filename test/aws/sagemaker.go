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
	case "UpdateClusterSoftware":
		return s.updateSoftware
	case "BatchRebootClusterNodes":
		return s.batch("Pending", "ErrorCode", "InstanceIdNotFound", "InvalidInstanceStatus")
	case "BatchReplaceClusterNodes":
		return s.batch("Pending", "ErrorCode", "InstanceIdNotFound", "InvalidInstanceStatus")
	case "BatchDeleteClusterNodes":
		return s.batch("", "Code", "NodeIdNotFound", "InvalidNodeStatus")
	case "BatchAddClusterNodes":
		return s.addNodes
	case "StartClusterHealthCheck":
		return s.checkNodes
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

// named is a request about one cluster.
type named struct{ ClusterName string }

func (n named) cluster() string { return n.ClusterName }

// about reads a request about one cluster, and finds the cluster.
func about[T interface{ cluster() string }](s *Server, c *call) (in T, r *Record[cluster], failure *Error) {
	if in, failure = read[T](c); failure == nil {
		r, failure = s.find(in.cluster())
	}
	return in, r, failure
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
	sortBy(all, in.SortBy == "NAME", in.SortOrder, func(r *Record[cluster]) (string, time.Time) { return r.Key, r.Value.created })
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

// sortBy sorts records by their names, or else by when they were created.
func sortBy[T any](all []T, names bool, order string, of func(T) (name string, created time.Time)) {
	slices.SortStableFunc(all, func(a, b T) int {
		an, at := of(a)
		bn, bt := of(b)
		way := at.Compare(bt)
		if names {
			way = strings.Compare(an, bn)
		}
		if order == "Descending" {
			way = -way
		}
		return way
	})
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
	if r.Status == "Failed" {
		out["FailureMessage"] = "The fake has no capacity."
	}
	for _, key := range settings {
		if value, ok := v.given[key]; ok {
			out[key] = value
		}
	}
	groups := []object{}
	for _, g := range v.groups {
		groups = append(groups, g.details())
	}
	out["InstanceGroups"] = groups
	before := r.Status
	s.clusters.Seen(r)
	for _, g := range v.groups {
		switch {
		case before != r.Status && r.Status == "InService":
			s.settle(v, g)
		case r.Busy() && len(g.nodes) < g.target():
			s.launch(g)
		}
	}
	return out, nil
}

// settings are the members of a cluster beside its groups.
var settings = []string{"Orchestrator", "VpcConfig", "NodeRecovery", "NodeProvisioningMode", "ClusterRole", "TieredStorageConfig", "AutoScaling"}

// details is a group in the form of DescribeCluster: counts and targets.
func (g *group) details() object {
	d := object{"InstanceGroupName": g.name, "CurrentCount": len(g.nodes), "TargetCount": g.target(), "TargetStateCount": g.target(), "Status": g.status}
	for key, value := range g.given {
		switch in, _ := value.(object); key {
		case "InstanceCount", "InstanceGroupName":
		case "MinInstanceCount":
			d["MinCount"] = value
		case "ImageId":
			d["CurrentImageId"], d["DesiredImageId"] = value, value
		case "InstanceRequirements":
			d[key] = object{"CurrentInstanceTypes": in["InstanceTypes"], "DesiredInstanceTypes": in["InstanceTypes"]}
		case "KubernetesConfig":
			out := object{}
			for name, v := range in {
				out["Current"+name], out["Desired"+name] = v, v
			}
			d[key] = out
		default:
			d[key] = value
		}
	}
	return d
}

// launch adds a node to a group.
func (s *Server) launch(g *group) {
	s.serial++
	instanceType, _ := g.given["InstanceType"].(string)
	g.nodes = append(g.nodes, &node{id: fmt.Sprintf("i-%017x", s.serial), group: g.name, instanceType: instanceType, status: "Running", launched: s.now()})
}

// settle gives a group as many nodes as it is to have.
func (s *Server) settle(c *cluster, g *group) {
	for len(g.nodes) < g.target() {
		s.launch(g)
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
		InstanceGroups, RestrictedInstanceGroups, Tags               []object
		VpcConfig, Orchestrator, TieredStorageConfig, AutoScaling    object
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
	for key, value := range map[string]object{"VpcConfig": in.VpcConfig, "Orchestrator": in.Orchestrator, "TieredStorageConfig": in.TieredStorageConfig, "AutoScaling": in.AutoScaling} {
		if value != nil {
			v.given[key] = value
		}
	}
	r, failure := s.clusters.Add(in.ClusterName, v)
	if failure != nil {
		return nil, failure
	}
	if s.noCapacity {
		r.Begin("Creating", "Creating", "Failed")
	} else {
		r.Begin("Creating", "Creating", "InService")
	}
	return object{"ClusterArn": s.clusterARN(&r.Value)}, nil
}

// NoCapacity lets the clusters fail that are created from now on.
func (s *Server) NoCapacity() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noCapacity = true
}

func (s *Server) updateCluster(c *call) (any, *Error) {
	in, failure := read[struct {
		ClusterName, NodeRecovery, NodeProvisioningMode, ClusterRole string
		InstanceGroups, RestrictedInstanceGroups                     []object
		TieredStorageConfig, AutoScaling, Orchestrator               object
		InstanceGroupsToDelete                                       []string
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
	return s.begun(r, "Updating", failure)
}

// begun is the answer to a change of a cluster, unless it failed: the cluster has a status for a while.
func (s *Server) begun(r *Record[cluster], status string, failure *Error) (any, *Error) {
	if failure != nil {
		return nil, failure
	}
	r.Begin(status, status, "InService")
	return object{"ClusterArn": s.clusterARN(&r.Value)}, nil
}

func (s *Server) deleteCluster(c *call) (any, *Error) {
	_, r, failure := about[struct{ named }](s, c)
	if failure != nil {
		return nil, failure
	}
	if r.Busy() {
		return nil, failf("ConflictException", "Cluster %s is in status %s", r.Key, r.Status)
	}
	arn := s.clusterARN(&r.Value)
	for _, table := range []*Table[governed]{s.governance.policies, s.governance.quotas} {
		if a := table.Find(func(g *Record[governed]) bool { return g.Value.clusterARN == arn }); a != nil {
			return nil, failf("ConflictException", "Cluster %s has %s attached; delete it first", r.Key, a.Value.name)
		}
	}
	r.Begin("Deleting", "")
	return object{"ClusterArn": arn}, nil
}

func (s *Server) listNodes(c *call) (any, *Error) {
	in, r, failure := about[struct {
		named
		InstanceGroupNameContains, NextToken, SortBy, SortOrder string
		MaxResults                                              int
	}](s, c)
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
	in, r, failure := about[struct {
		named
		InstanceGroupName, NodeId, NextToken, SortBy, SortOrder, ResourceType string
		EventTimeAfter, EventTimeBefore                                       float64
		MaxResults                                                            int
	}](s, c)
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
