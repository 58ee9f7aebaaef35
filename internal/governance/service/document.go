package service

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// wireRow is a ComputeQuotaResourceConfig.
type wireRow struct {
	InstanceType         string
	Count, Accelerators  *int
	VCPU                 *float64 `json:"VCpu"`
	MemoryInGiB          *float64
	AcceleratorPartition *struct {
		Type  string
		Count int
	}
}

func (w wireRow) quota() policy.Quota {
	q := policy.Quota{InstanceType: w.InstanceType, Count: w.Count, Accelerators: w.Accelerators, VCPU: w.VCPU, MemoryInGiB: w.MemoryInGiB}
	if p := w.AcceleratorPartition; p != nil {
		q.AcceleratorPartition = &policy.Partition{Type: p.Type, Count: p.Count}
	}
	return q
}

// wireConfig is a ComputeQuotaConfig.
type wireConfig struct {
	ComputeQuotaResources []wireRow
	ResourceSharingConfig struct {
		Strategy             string
		BorrowLimit          *int
		AbsoluteBorrowLimits []wireRow
	}
	PreemptTeamTasks string
}

// wireScheduler is a SchedulerConfig.
type wireScheduler struct {
	PriorityClasses []struct {
		Name   string
		Weight int
	}
	FairShare, IdleResourceSharing string
}

// The values of the API's fields that this program knows.
var (
	switches    = []string{policy.Enabled, policy.Disabled}
	strategies  = []string{policy.LendAndBorrow, policy.Lend, policy.DontLend}
	preemptions = []string{policy.LowerPriority, policy.Never}
)

// Document returns the governance document of a cluster. A plan of it changes nothing.
// Values that this program does not know are left out, with a note, and stay.
func Document(s *State) (*policy.Document, []policy.Note, error) {
	d, err := document(s)
	if err != nil {
		return nil, nil, err
	}
	var notes []policy.Note
	each(d, func(team, field string, value *string, known []string) {
		if *value != "" && !slices.Contains(known, *value) {
			notes = append(notes, policy.Note{Code: policy.UnknownValue, Team: team, Fields: []string{field}, Value: *value})
			*value = ""
		}
	})
	for _, team := range s.Duplicated() {
		notes = append(notes, policy.Note{Code: policy.TwiceAllocated, Team: team})
	}
	if len(s.Policies) > 1 {
		notes = append(notes, policy.Note{Code: policy.SeveralPolicies, Value: s.Policy("").Name})
	}
	return d, notes, nil
}

// each calls f on the fields of a document that are one of some words.
func each(d *policy.Document, f func(team, field string, value *string, known []string)) {
	if p := d.Policy; p != nil {
		f("", "policy.fairShare", &p.FairShare, switches)
		f("", "policy.idleResourceSharing", &p.IdleResourceSharing, switches)
	}
	for i := range d.Teams {
		t := &d.Teams[i]
		f(t.Team, "strategy", &t.Strategy, strategies)
		f(t.Team, "preemptTeamTasks", &t.PreemptTeamTasks, preemptions)
		f(t.Team, "activation", &t.Activation, switches)
	}
}

// document returns the document with all values.
func document(s *State) (*policy.Document, error) {
	d := &policy.Document{Version: policy.Version, Cluster: &policy.Cluster{Name: s.Cluster}}
	if r := s.Policy(""); r != nil {
		p, err := policyOf(r)
		if err != nil {
			return nil, err
		}
		d.Policy = p
	}
	for i := range s.Allocations {
		r := &s.Allocations[i]
		if s.Allocation(r.Team) != r {
			continue // another one of the team works
		}
		t, err := teamOf(r)
		if err != nil {
			return nil, err
		}
		d.Teams = append(d.Teams, *t)
	}
	slices.SortFunc(d.Teams, func(a, b policy.Team) int { return strings.Compare(a.Team, b.Team) })
	return d, nil
}

func policyOf(r *Resource) (*policy.ClusterPolicy, error) {
	var w wireScheduler
	if err := convert(r.Config, &w); err != nil {
		return nil, err
	}
	p := &policy.ClusterPolicy{Name: r.Name, Description: r.Description, FairShare: w.FairShare, IdleResourceSharing: w.IdleResourceSharing}
	for _, c := range w.PriorityClasses {
		p.PriorityClasses = append(p.PriorityClasses, policy.PriorityClass{Name: c.Name, Weight: c.Weight})
	}
	// The defaults of the API.
	if p.FairShare == "" {
		p.FairShare = policy.Enabled
	}
	if p.IdleResourceSharing == "" {
		p.IdleResourceSharing = policy.Disabled
	}
	return p, nil
}

func teamOf(r *Resource) (*policy.Team, error) {
	var w wireConfig
	if err := convert(r.Config, &w); err != nil {
		return nil, err
	}
	var target struct{ FairShareWeight *int }
	if err := convert(r.Target, &target); err != nil {
		return nil, err
	}
	t := &policy.Team{Team: r.Team, Description: r.Description, Strategy: w.ResourceSharingConfig.Strategy, BorrowLimit: w.ResourceSharingConfig.BorrowLimit,
		PreemptTeamTasks: w.PreemptTeamTasks, FairShareWeight: target.FairShareWeight, Activation: r.Activation}
	if r.Name != r.Team {
		t.Name = r.Name
	}
	for _, q := range w.ComputeQuotaResources {
		t.Quota = append(t.Quota, q.quota())
	}
	for _, q := range w.ResourceSharingConfig.AbsoluteBorrowLimits {
		t.AbsoluteBorrowLimits = append(t.AbsoluteBorrowLimits, q.quota())
	}
	return t, nil
}

// Served returns the instance types and MIG profiles that a cluster's allocations name.
func Served(s *State) []string {
	var out []string
	for i := range s.Allocations {
		t, err := teamOf(&s.Allocations[i])
		if err != nil {
			continue // Document reports it
		}
		for _, q := range slices.Concat(t.Quota, t.AbsoluteBorrowLimits) {
			out = append(out, instances.Full(q.InstanceType))
			if q.AcceleratorPartition != nil {
				out = append(out, q.AcceleratorPartition.Type)
			}
		}
	}
	return out
}
