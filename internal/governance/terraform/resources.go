// Package terraform writes a governance document as Terraform resources, and reads one from
// the JSON of a Terraform plan or state.
//
// The names of resources and attributes are those of the awscc provider, which derives them
// from AWS::SageMaker::ComputeQuota and AWS::SageMaker::ClusterSchedulerConfig:
// MemoryInGiB becomes memory_in_gi_b, VCpu v_cpu. The tests apply the provider's rule to the
// CloudFormation names in testdata/properties.txt. Its result is that of the provider's
// documentation for the cluster policy; the page of the compute quota was not found.
package terraform

import (
	"cmp"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// The types of the resources.
const (
	QuotaType = "awscc_sagemaker_compute_quota"
	// BlockQuotaType is the same of the aws provider, whose objects are blocks. It is only read.
	BlockQuotaType = "aws_sagemaker_compute_quota"
	PolicyType     = "awscc_sagemaker_cluster_scheduler_config"
	AddonType      = "aws_eks_addon"
)

// Addon is the EKS add-on of task governance.
const Addon = "amazon-sagemaker-hyperpod-taskgovernance"

// quotaResource is a compute allocation as the provider has it.
type quotaResource struct {
	ClusterArn  expression  `json:"cluster_arn"`
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Activation  string      `json:"activation_state,omitempty"`
	Target      quotaTarget `json:"compute_quota_target"`
	Config      quotaConfig `json:"compute_quota_config"`
}

type quotaTarget struct {
	TeamName        string `json:"team_name"`
	FairShareWeight *int   `json:"fair_share_weight,omitempty"`
}

type quotaConfig struct {
	Resources        []quotaAmount `json:"compute_quota_resources,omitempty"`
	Sharing          *sharing      `json:"resource_sharing_config,omitempty"`
	PreemptTeamTasks string        `json:"preempt_team_tasks,omitempty"`
}

type sharing struct {
	Strategy             string        `json:"strategy"`
	BorrowLimit          *int          `json:"borrow_limit,omitempty"`
	AbsoluteBorrowLimits []quotaAmount `json:"absolute_borrow_limits,omitempty"`
}

type quotaAmount struct {
	InstanceType string     `json:"instance_type"`
	Count        *int       `json:"count,omitempty"`
	Accelerators *int       `json:"accelerators,omitempty"`
	VCPU         *float64   `json:"v_cpu,omitempty"`
	MemoryInGiB  *float64   `json:"memory_in_gi_b,omitempty"`
	Partition    *partition `json:"accelerator_partition,omitempty"`
}

type partition struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// policyResource is a cluster policy as the provider has it.
type policyResource struct {
	ClusterArn  expression      `json:"cluster_arn"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Config      schedulerConfig `json:"scheduler_config"`
}

type schedulerConfig struct {
	FairShare           string  `json:"fair_share,omitempty"`
	IdleResourceSharing string  `json:"idle_resource_sharing,omitempty"`
	PriorityClasses     []class `json:"priority_classes,omitempty"`
}

type class struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"`
}

// addonResource is the EKS add-on of task governance.
type addonResource struct {
	ClusterName expression `json:"cluster_name"`
	AddonName   string     `json:"addon_name"`
}

// attributes are the attributes of the fields of a document, by path below a team or the
// policy, for the places of findings.
var attributes = map[string]string{
	"team":                       "compute_quota_target.team_name",
	"fairShareWeight":            "compute_quota_target.fair_share_weight",
	"name":                       "name",
	"description":                "description",
	"activation":                 "activation_state",
	"quota":                      "compute_quota_config.compute_quota_resources",
	"strategy":                   "compute_quota_config.resource_sharing_config.strategy",
	"borrowLimit":                "compute_quota_config.resource_sharing_config.borrow_limit",
	"absoluteBorrowLimits":       "compute_quota_config.resource_sharing_config.absolute_borrow_limits",
	"preemptTeamTasks":           "compute_quota_config.preempt_team_tasks",
	"policy.fairShare":           "scheduler_config.fair_share",
	"policy.priorityClasses":     "scheduler_config.priority_classes",
	"policy.name":                "name",
	"policy.description":         "description",
	"instanceType":               "instance_type",
	"vcpu":                       "v_cpu",
	"memoryInGiB":                "memory_in_gi_b",
	"acceleratorPartition":       "accelerator_partition",
	"policy.idleResourceSharing": "scheduler_config.idle_resource_sharing",
}

// Unexpressed names what Write leaves out, because a resource has no attributes for Kueue's fields: teams whose quota only
// those fields have, the fields of other teams, and those of the document.
func Unexpressed(d *policy.Document) (names []string) {
	for _, t := range d.Teams {
		switch {
		case onlyKueue(t):
			names = append(names, "team "+t.Team)
		case t.Kueue != nil:
			names = append(names, "kueue of team "+t.Team)
		}
	}
	if d.Kueue != nil {
		names = append(names, "kueue")
	}
	return names
}

// onlyKueue reports a team whose quota only Kueue's fields have.
func onlyKueue(t policy.Team) bool {
	return len(t.Quota) == 0 && t.Kueue != nil && t.Kueue.Spec["resourceGroups"] != nil
}

func quotaOf(t policy.Team) quotaResource {
	strategy := t.Shares()
	r := quotaResource{ClusterArn: "var.cluster_arn", Name: cmp.Or(t.Name, t.Team), Description: t.Description, Activation: t.Activation,
		Target: quotaTarget{TeamName: t.Team, FairShareWeight: t.FairShareWeight},
		Config: quotaConfig{Resources: amounts(t.Quota), PreemptTeamTasks: t.PreemptTeamTasks,
			Sharing: &sharing{Strategy: strategy, BorrowLimit: t.BorrowLimit, AbsoluteBorrowLimits: amounts(t.AbsoluteBorrowLimits)}}}
	return r
}

func amounts(of []policy.Quota) (out []quotaAmount) {
	for _, q := range of {
		a := quotaAmount{InstanceType: q.InstanceType, Count: q.Count, Accelerators: q.Accelerators, VCPU: q.VCPU, MemoryInGiB: q.MemoryInGiB}
		if q.AcceleratorPartition != nil {
			a.Partition = &partition{Type: q.AcceleratorPartition.Type, Count: q.AcceleratorPartition.Count}
		}
		out = append(out, a)
	}
	return out
}

func (r quotaResource) team() policy.Team {
	t := policy.Team{Team: r.Target.TeamName, Name: r.Name, Description: r.Description, Activation: r.Activation,
		FairShareWeight: r.Target.FairShareWeight, Quota: quotas(r.Config.Resources), PreemptTeamTasks: r.Config.PreemptTeamTasks}
	if t.Name == t.Team {
		t.Name = ""
	}
	if s := r.Config.Sharing; s != nil {
		t.Strategy, t.BorrowLimit, t.AbsoluteBorrowLimits = s.Strategy, s.BorrowLimit, quotas(s.AbsoluteBorrowLimits)
	}
	return t
}

func quotas(of []quotaAmount) (out []policy.Quota) {
	for _, a := range of {
		q := policy.Quota{InstanceType: a.InstanceType, Count: a.Count, Accelerators: a.Accelerators, VCPU: a.VCPU, MemoryInGiB: a.MemoryInGiB}
		if a.Partition != nil {
			q.AcceleratorPartition = &policy.Partition{Type: a.Partition.Type, Count: a.Partition.Count}
		}
		out = append(out, q)
	}
	return out
}

// defaultPolicyName names the cluster policy of a document that gives no name.
const defaultPolicyName = "task-governance"

func policyOf(p policy.ClusterPolicy) policyResource {
	r := policyResource{ClusterArn: "var.cluster_arn", Name: cmp.Or(p.Name, defaultPolicyName), Description: p.Description,
		Config: schedulerConfig{FairShare: p.FairShare, IdleResourceSharing: p.IdleResourceSharing}}
	for _, c := range p.PriorityClasses {
		r.Config.PriorityClasses = append(r.Config.PriorityClasses, class(c))
	}
	return r
}

func (r policyResource) policy() *policy.ClusterPolicy {
	p := &policy.ClusterPolicy{Name: r.Name, Description: r.Description, FairShare: r.Config.FairShare, IdleResourceSharing: r.Config.IdleResourceSharing}
	if p.Name == defaultPolicyName {
		p.Name = ""
	}
	for _, c := range r.Config.PriorityClasses {
		p.PriorityClasses = append(p.PriorityClasses, policy.PriorityClass(c))
	}
	return p
}
