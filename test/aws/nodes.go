package aws

import (
	"fmt"
	"slices"
	"strings"
)

// batch changes several nodes: each succeeds or fails on its own, and the answer is a
// success all the same. status is what becomes of the nodes; "" removes them.
func (s *Server) batch(status, codeKey, notFound, wrongStatus string) answer {
	inUse := "InstanceIdInUse"
	if status == "" {
		inUse = "NodeIdInUse"
	}
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
			case n.status == "Failure" && n.message == "in use":
				failed = append(failed, object{"NodeId": id, codeKey: inUse, "Message": "Node " + id + " is in use by another operation."})
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

// updateSoftware starts an update of the images: the groups get the desired one.
func (s *Server) updateSoftware(c *call) (any, *Error) {
	in, failure := read[struct {
		ClusterName, ImageId string
		InstanceGroups       []struct{ InstanceGroupName string }
		DeploymentConfig     object
	}](c)
	if failure != nil {
		return nil, failure
	}
	r, failure := s.find(in.ClusterName)
	if failure != nil {
		return nil, failure
	}
	failure = s.clusters.Change(r.Key, nil, func(r *Record[cluster]) *Error {
		for _, g := range in.InstanceGroups {
			if r.Value.group(g.InstanceGroupName) == nil {
				return failf("ValidationException", "Instance group %s does not exist", g.InstanceGroupName)
			}
		}
		for _, g := range r.Value.groups {
			if len(in.InstanceGroups) == 0 || slices.ContainsFunc(in.InstanceGroups, func(o struct{ InstanceGroupName string }) bool { return o.InstanceGroupName == g.name }) {
				g.status = "SystemUpdating"
			}
		}
		return nil
	})
	return s.begun(r, "SystemUpdating", failure)
}

// addNodes orders nodes for groups of a cluster with continuous provisioning.
func (s *Server) addNodes(c *call) (any, *Error) {
	in, r, failure := about[struct {
		named
		ClientToken string
		NodesToAdd  []struct {
			InstanceGroupName      string
			IncrementTargetCountBy int
		}
	}](s, c)
	if failure != nil {
		return nil, failure
	}
	if r.Value.given["NodeProvisioningMode"] != "Continuous" {
		return nil, failf("ValidationException", "Cluster %s has no continuous node provisioning.", r.Key)
	}
	done, failed := []object{}, []object{}
	for _, add := range in.NodesToAdd {
		g := r.Value.group(add.InstanceGroupName)
		if g == nil || add.IncrementTargetCountBy < 1 || add.IncrementTargetCountBy > 50 {
			failed = append(failed, object{"InstanceGroupName": add.InstanceGroupName, "ErrorCode": "InstanceGroupNotFound", "FailedCount": add.IncrementTargetCountBy, "Message": "Instance group " + add.InstanceGroupName + " does not exist."})
			continue
		}
		g.given["InstanceCount"] = float64(g.target() + add.IncrementTargetCountBy)
		for range add.IncrementTargetCountBy {
			s.serial++
			done = append(done, object{"NodeLogicalId": fmt.Sprintf("node-%d", s.serial), "InstanceGroupName": g.name, "Status": "Pending"})
		}
	}
	return object{"Successful": done, "Failed": failed}, nil
}

// checkNodes starts deep health checks.
func (s *Server) checkNodes(c *call) (any, *Error) {
	in, r, failure := about[struct {
		named
		DeepHealthCheckConfigurations []struct {
			InstanceGroupName             string
			InstanceIds, DeepHealthChecks []string
		}
	}](s, c)
	if failure != nil {
		return nil, failure
	}
	if len(in.DeepHealthCheckConfigurations) == 0 {
		return nil, failf("ValidationException", "DeepHealthCheckConfigurations is empty")
	}
	for _, check := range in.DeepHealthCheckConfigurations {
		g := r.Value.group(check.InstanceGroupName)
		if g == nil || len(check.DeepHealthChecks) == 0 {
			return nil, failf("ValidationException", "Instance group %s does not exist, or no check is named", check.InstanceGroupName)
		}
		for _, id := range check.InstanceIds {
			if !slices.ContainsFunc(g.nodes, func(n *node) bool { return n.id == id }) {
				return nil, failf("ValidationException", "Instance %s is not in instance group %s", id, g.name)
			}
		}
		for _, n := range g.nodes {
			if len(check.InstanceIds) == 0 || slices.Contains(check.InstanceIds, n.id) {
				n.status, n.message = "DeepHealthCheckInProgress", strings.Join(check.DeepHealthChecks, ", ")
			}
		}
	}
	return object{"ClusterArn": s.clusterARN(&r.Value)}, nil
}
