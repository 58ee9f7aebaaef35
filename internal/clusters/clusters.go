// Package clusters holds HyperPod clusters, their instance groups, nodes and events, as
// SageMaker describes them, and what follows from that. It is pure: package
// discovery/aws reads the values.
package clusters

import (
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// The orchestrators of a cluster.
const (
	EKS   = "EKS"
	Slurm = "Slurm"
)

// The statuses of a cluster that this program acts on. AWS may add others.
const (
	Creating    = "Creating"
	Deleting    = "Deleting"
	Degraded    = "Degraded" // of an instance group
	Failed      = "Failed"
	InService   = "InService"
	RollingBack = "RollingBack"
)

// Summary is a cluster in a list.
type Summary struct {
	Name    string
	ARN     string
	Status  string
	Created time.Time
}

// Cluster is a HyperPod cluster.
type Cluster struct {
	Summary
	FailureMessage string
	// Orchestrator is EKS or Slurm; "" when the answer says neither.
	Orchestrator string
	// EKSARN names the EKS cluster that orchestrates this one.
	EKSARN           string
	NodeRecovery     string
	NodeProvisioning string
	Subnets          []string
	SecurityGroups   []string
	Groups           []Group
}

// Group is an instance group.
type Group struct {
	Name   string
	Status string
	// InstanceTypes has one element, except for flexible groups.
	InstanceTypes  []string
	Current        int
	Target         int
	Restricted     bool
	ImageStatus    string
	UpdateStatus   string
	CurrentImage   string
	DesiredImage   string
	ExecutionRole  string
	TrainingPlan   string
	ThreadsPerCore int
	DeepChecks     []string
}

// Node is an instance of a cluster.
type Node struct {
	Group        string
	InstanceID   string
	LogicalID    string
	InstanceType string
	Status       string
	Message      string
	ImageStatus  string
	Host         string
	UltraServer  string
	Launched     time.Time
}

// Event is something that happened to a cluster.
type Event struct {
	ID           string
	Time         time.Time
	Level        string
	ResourceType string
	Group        string
	InstanceID   string
	Description  string
}

// Endpoint is where the API server of an EKS cluster answers.
type Endpoint struct {
	Name    string
	ARN     string
	Region  string
	Status  string
	Version string
	Server  string
	// CA is the certificate authority, base64-encoded PEM.
	CA string
	// PublicAccess reports whether the address answers outside the cluster's VPC.
	PublicAccess bool
	// AuthMode is CONFIG_MAP, API or API_AND_CONFIG_MAP.
	AuthMode string
}

// ARN is the name of an AWS resource.
type ARN struct {
	Partition, Service, Region, Account string
	// Kind and Name are the parts of "cluster/NAME".
	Kind, Name string
}

var arnForm = pattern.Lazy(`^arn:(aws[a-z-]*):([a-z0-9-]+):([a-z0-9-]+):(\d{12}):([a-z0-9-]+)/([A-Za-z0-9][A-Za-z0-9_-]*)$`)

// ParseARN takes an ARN of any partition apart.
func ParseARN(text string) (ARN, bool) {
	m := arnForm().FindStringSubmatch(text)
	if m == nil {
		return ARN{}, false
	}
	return ARN{m[1], m[2], m[3], m[4], m[5], m[6]}, true
}

// ID returns the last part of a cluster's ARN.
func (s Summary) ID() string { return s.ARN[strings.LastIndexByte(s.ARN, '/')+1:] }

// Region returns the region of the cluster's ARN, "" if it has none.
func (s Summary) Region() string {
	arn, _ := ParseARN(s.ARN)
	return arn.Region
}

// InstanceOf returns the instance id that a Kubernetes node of HyperPod is named after.
func InstanceOf(node string) string {
	if i := strings.Index(node, "i-"); i >= 0 && (i == 0 || node[i-1] == '-') {
		return node[i:]
	}
	return ""
}

// Running is the status of an instance that works.
const Running = "Running"

// Settled reports whether a cluster and its groups are in service with their target numbers of instances.
// failed is why they will not be.
func Settled(c Cluster) (done bool, failed string) {
	switch c.Status {
	case InService:
	case Failed, RollingBack, Deleting:
		return false, strings.TrimSpace(c.Status + " " + c.FailureMessage)
	default:
		return false, ""
	}
	done = true
	for _, g := range c.Groups {
		switch {
		case g.Status == Failed || g.Status == Degraded:
			return false, "instance group " + g.Name + " is " + g.Status
		case g.Current != g.Target || g.Status != "" && g.Status != InService:
			done = false
		}
	}
	return done, ""
}

// The kinds of what task governance attaches to a cluster.
const (
	SchedulerPolicy = "cluster policy"
	ComputeQuota    = "compute allocation"
)

// Attachment is a policy or a quota of task governance.
type Attachment struct{ Kind, Name string }
