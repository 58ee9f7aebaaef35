package aws

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
)

// moment is a time as awsJson1.1 has it: seconds since 1970.
type moment float64

// The moments at which the year 1 begins and the year 9999 ends.
const (
	begin moment = -62135596800
	end   moment = 253402300800
)

// time returns the zero time for a moment that is left out, or that JSON cannot have.
func (m moment) time() time.Time {
	if m == 0 || m >= end || m < begin {
		return time.Time{}
	}
	return time.UnixMilli(int64(float64(m) * 1000)).UTC()
}

// wireSummary is a ClusterSummary.
type wireSummary struct {
	ClusterName, ClusterArn, ClusterStatus string
	CreationTime                           moment
}

func (w wireSummary) summary() clusters.Summary {
	return clusters.Summary{Name: w.ClusterName, ARN: w.ClusterArn, Status: w.ClusterStatus, Created: w.CreationTime.time()}
}

// wireCluster is the answer of DescribeCluster, as far as this program shows it.
type wireCluster struct {
	wireSummary
	FailureMessage, NodeRecovery, NodeProvisioningMode string
	Orchestrator                                       struct {
		Eks *struct{ ClusterArn string }
	}
	VpcConfig                                struct{ Subnets, SecurityGroupIds []string }
	InstanceGroups, RestrictedInstanceGroups []wireGroup
}

// wireGroup is an instance group.
type wireGroup struct {
	InstanceGroupName, InstanceType, Status, ImageVersionStatus, SoftwareUpdateStatus, CurrentImageId, DesiredImageId, ExecutionRole, TrainingPlanArn string
	CurrentCount, TargetCount, ThreadsPerCore                                                                                                         int
	InstanceTypeDetails                                                                                                                               []struct{ InstanceType string }
	OnStartDeepHealthChecks                                                                                                                           []string
}

func (w wireGroup) group(restricted bool) clusters.Group {
	out := clusters.Group{
		Name: w.InstanceGroupName, Status: w.Status, Current: w.CurrentCount, Target: w.TargetCount, Restricted: restricted, ImageStatus: w.ImageVersionStatus,
		UpdateStatus: w.SoftwareUpdateStatus, CurrentImage: w.CurrentImageId, DesiredImage: w.DesiredImageId, ExecutionRole: w.ExecutionRole,
		TrainingPlan: w.TrainingPlanArn, ThreadsPerCore: w.ThreadsPerCore, DeepChecks: w.OnStartDeepHealthChecks,
	}
	if w.InstanceType != "" {
		out.InstanceTypes = []string{w.InstanceType}
	} else {
		for _, d := range w.InstanceTypeDetails {
			out.InstanceTypes = append(out.InstanceTypes, d.InstanceType)
		}
	}
	return out
}

func (w wireCluster) cluster() clusters.Cluster {
	out := clusters.Cluster{
		Summary: w.summary(), FailureMessage: w.FailureMessage, NodeRecovery: w.NodeRecovery, NodeProvisioning: w.NodeProvisioningMode,
		// Slurm is the API's default, before and after it had a name for it.
		Orchestrator: clusters.Slurm, Subnets: w.VpcConfig.Subnets, SecurityGroups: w.VpcConfig.SecurityGroupIds,
	}
	if w.Orchestrator.Eks != nil {
		out.Orchestrator, out.EKSARN = clusters.EKS, w.Orchestrator.Eks.ClusterArn
	}
	for _, g := range w.InstanceGroups {
		out.Groups = append(out.Groups, g.group(false))
	}
	for _, g := range w.RestrictedInstanceGroups {
		out.Groups = append(out.Groups, g.group(true))
	}
	return out
}

// wireNode is a ClusterNodeSummary.
type wireNode struct {
	InstanceGroupName, InstanceId, NodeLogicalId, InstanceType, ImageVersionStatus, PrivateDnsHostname string
	LaunchTime                                                                                         moment
	InstanceStatus                                                                                     struct{ Status, Message string }
	UltraServerInfo                                                                                    struct{ Id string }
}

func (w wireNode) node() clusters.Node {
	return clusters.Node{Group: w.InstanceGroupName, InstanceID: w.InstanceId, LogicalID: w.NodeLogicalId, InstanceType: w.InstanceType, Status: w.InstanceStatus.Status,
		Message: w.InstanceStatus.Message, ImageStatus: w.ImageVersionStatus, Host: w.PrivateDnsHostname, UltraServer: w.UltraServerInfo.Id, Launched: w.LaunchTime.time()}
}

// wireEvent is a ClusterEventSummary.
type wireEvent struct {
	EventId, EventLevel, ResourceType, InstanceGroupName, InstanceId, Description string
	EventTime                                                                     moment
}

func (w wireEvent) event() clusters.Event {
	return clusters.Event{ID: w.EventId, Time: w.EventTime.time(), Level: w.EventLevel, ResourceType: w.ResourceType, Group: w.InstanceGroupName, InstanceID: w.InstanceId, Description: w.Description}
}
