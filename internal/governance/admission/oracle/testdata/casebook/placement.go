package scheduler

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/util/casebook"
	utiltas "sigs.k8s.io/kueue/pkg/util/tas"
)

type (
	placement struct {
		Levels     []string
		NodeLabels map[string]string
		// Own is what the flavor's workloads use, and Others what all flavors with the topology use, by domain.
		Own, Others map[string]corev1.ResourceList
		PodSets     []placed
		Workload    *kueue.Workload
	}
	placed struct {
		PodSet   *kueue.PodSet
		Group    *string
		Requests corev1.ResourceList
		Count    int32
		Previous *kueue.TopologyAssignment
	}
	answer struct {
		Assignment *kueue.TopologyAssignment
		Reason     string
	}
)

// last is the flavor of which a snapshot was made last, and its objects.
var (
	last        placement
	lastObjects []json.RawMessage
)

func (c *TASFlavorCache) casebook(others map[utiltas.TopologyDomainID]resources.Requests) {
	if casebook.Test("TestFindTopologyAssignments") == "" {
		return
	}
	amounts := func(of map[utiltas.TopologyDomainID]resources.Requests) map[string]corev1.ResourceList {
		out := map[string]corev1.ResourceList{}
		for d, r := range of {
			out[string(d)] = r.ToResourceList(c.resourceFormatter)
		}
		return out
	}
	last = placement{Levels: c.topology.Levels, NodeLabels: c.flavor.NodeLabels, Own: amounts(c.usage), Others: amounts(others)}
	lastObjects = casebook.All(c.client)
}

// FindTopologyAssignmentsForFlavor is what Kueue's function of this name was.
func (s *TASFlavorSnapshot) FindTopologyAssignmentsForFlavor(ctx context.Context, requests FlavorTASRequests, options ...FindTopologyAssignmentsOption) TASAssignmentsResult {
	test := casebook.Test("TestFindTopologyAssignments")
	if test == "" {
		return s.findTopologyAssignmentsOfKueue(ctx, requests, options...)
	}
	opts := &findTopologyAssignmentsOption{}
	for _, o := range options {
		o(opts)
	}
	p := last
	p.Workload = opts.workload
	for _, r := range requests {
		p.PodSets = append(p.PodSets, placed{r.PodSet, r.PodSetGroupName, r.SinglePodRequests.ToResourceList(s.resourceFormatter), r.Count, r.PreviousAssignment})
	}
	u := casebook.Unit{Test: test, Objects: lastObjects, Given: casebook.JSON(p)}
	result := s.findTopologyAssignmentsOfKueue(ctx, requests, options...)
	answers := map[kueue.PodSetReference]answer{}
	for name, r := range result {
		answers[name] = answer{utiltas.V1Beta2From(r.TopologyAssignment), r.FailureReason}
	}
	u.Result = casebook.JSON(answers)
	u.Save()
	return result
}
