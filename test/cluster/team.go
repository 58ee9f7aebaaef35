package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// Sharing is a team's place in the pool.
type Sharing int

const (
	// LendAndBorrow lends what is idle and borrows up to BorrowPercent of the own quota.
	LendAndBorrow Sharing = iota
	// Lend lends what is idle and never borrows.
	Lend
	// DontLend keeps the team out of the pool.
	DontLend
)

// Quota is a number of instances of one type.
type Quota struct {
	InstanceType string
	Count        int
}

// Team is one compute allocation of the governance add-on.
type Team struct {
	Name          string
	Quota         []Quota
	Sharing       Sharing
	BorrowPercent int
	Weight        int  // fair share, 0 to 100; 0 always loses
	NeverPreempt  bool // PreemptTeamTasks: Never; else LowerPriority
}

// Namespace is the team's namespace.
func (t Team) Namespace() string { return Namespace(t.Name) }

// Namespace is the namespace that the add-on gives to a team.
func Namespace(team string) string { return "hyperpod-ns-" + team }

// ClusterQueue is the name of the team's ClusterQueue.
func (t Team) ClusterQueue() string { return t.Namespace() + "-clusterqueue" }

// LocalQueue is the name of the team's LocalQueue.
func (t Team) LocalQueue() string { return t.Namespace() + "-localqueue" }

// JohnAndSmith are 16 GPUs on 4 instances in two teams: john 12 and up to 6 borrowed, smith 4 and up to 4 borrowed.
func JohnAndSmith() []Team {
	return []Team{
		{Name: "john", Quota: []Quota{{"ml.g5.12xlarge", 3}}, BorrowPercent: 50, Weight: 0},
		{Name: "smith", Quota: []Quota{{"ml.g5.12xlarge", 1}}, BorrowPercent: 100, Weight: 100},
	}
}

// PriorityClasses are the classes that ApplyTeams makes, as <class>-priority, with their weights.
var PriorityClasses = map[string]int{"inference": 100, "fine-tuning": 80, "experiment": 50, "training": 40}

// ApplyTeams lays the teams out as the governance add-on does and waits until their queues are active.
func (b *Bed) ApplyTeams(ctx context.Context, teams []Team) error {
	var objects []Object
	for class, value := range PriorityClasses {
		objects = append(objects, Object{
			"apiVersion": b.kueueAPIVersion(), "kind": "WorkloadPriorityClass",
			"metadata": Object{"name": class + "-priority"}, "value": value, "description": "",
		})
	}
	var types []string
	for _, team := range teams {
		for _, q := range team.Quota {
			if _, ok := InstanceTypes[q.InstanceType]; !ok {
				return fmt.Errorf("team %s: unknown instance type %s; add it to cluster.InstanceTypes", team.Name, q.InstanceType)
			}
			if !slices.Contains(types, q.InstanceType) {
				types = append(types, q.InstanceType)
			}
		}
	}
	for _, instanceType := range types {
		objects = append(objects, Object{
			"apiVersion": b.kueueAPIVersion(), "kind": "ResourceFlavor", "metadata": Object{"name": instanceType},
			"spec": Object{"nodeLabels": Object{
				"beta.kubernetes.io/instance-type":     instanceType,
				"sagemaker.amazonaws.com/compute-type": "hyperpod",
			}},
		})
	}
	for _, team := range teams {
		objects = append(objects, b.teamObjects(team)...)
	}
	if err := b.ApplyObjects(ctx, objects...); err != nil {
		return err
	}
	for _, team := range teams {
		err := b.WaitForCondition(ctx, "/apis/"+b.kueueAPIVersion()+"/namespaces/"+team.Namespace()+"/localqueues/"+team.LocalQueue(), "Active", "True")
		if err != nil {
			return err
		}
		// Jobs are refused pods until the controller-manager has made the account they run as.
		err = b.WaitFor(ctx, "the service account of "+team.Name, func(ctx context.Context) error {
			return b.Get(ctx, "/api/v1/namespaces/"+team.Namespace()+"/serviceaccounts/default", nil)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Bed) teamObjects(team Team) []Object {
	namespace := team.Namespace()
	withinQueue := "LowerPriority"
	if team.NeverPreempt {
		withinQueue = "Never"
	}
	cohort := "shared-pool"
	if team.Sharing == DontLend {
		cohort = "dedicated-pool-" + team.Name
	}
	spec := Object{
		"namespaceSelector": Object{"matchLabels": Object{"kubernetes.io/metadata.name": namespace}},
		"queueingStrategy":  "BestEffortFIFO",
		"preemption":        Object{"reclaimWithinCohort": "Any", "withinClusterQueue": withinQueue},
		"fairSharing":       Object{"weight": strconv.Itoa(team.Weight)},
		"resourceGroups": []any{Object{
			"coveredResources": []any{"cpu", "memory", gpuResource, neuronResource, efaResource},
			"flavors":          team.flavors(),
		}},
	}
	if b.options.Kueue == KueueV1beta1 {
		spec["cohort"] = cohort
	} else {
		spec["cohortName"] = cohort
	}
	return []Object{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": Object{"name": namespace, "labels": Object{
			"sagemaker.amazonaws.com/sagemaker-managed-queue": "true",
			"sagemaker.amazonaws.com/quota-allocation-id":     team.Name,
			"sagemaker.amazonaws.com/activate-quota":          "Enabled",
		}}},
		{"apiVersion": b.kueueAPIVersion(), "kind": "ClusterQueue", "metadata": Object{"name": team.ClusterQueue()}, "spec": spec},
		{
			"apiVersion": b.kueueAPIVersion(), "kind": "LocalQueue",
			"metadata": Object{"name": team.LocalQueue(), "namespace": namespace},
			"spec":     Object{"clusterQueue": team.ClusterQueue()},
		},
	}
}

// flavors turns instance counts into quota: the nominal figures of the type, whether or not a node
// offers all of that, and a borrowing limit of a percentage, rounded down.
func (t Team) flavors() []any {
	var flavors []any
	for _, q := range t.Quota {
		kind := InstanceTypes[q.InstanceType]
		resource := func(name string, each int, unit string) Object {
			nominal, limit := q.Count*each, 0
			if t.Sharing == LendAndBorrow {
				limit = nominal * t.BorrowPercent / 100
			}
			return Object{"name": name, "nominalQuota": strconv.Itoa(nominal) + unit, "borrowingLimit": strconv.Itoa(limit) + unit}
		}
		flavors = append(flavors, Object{"name": q.InstanceType, "resources": []any{
			resource("cpu", kind.VCPU, ""),
			resource("memory", kind.MemoryGiB, "Gi"),
			resource(gpuResource, kind.GPU, ""),
			resource(neuronResource, kind.Neuron, ""),
			resource(efaResource, kind.EFA, ""),
		}})
	}
	return flavors
}
