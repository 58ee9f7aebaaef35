// Package service is governance as the SageMaker API has it: compute allocations
// (ComputeQuota) and cluster policies (ClusterSchedulerConfig). It reads the API's JSON
// into a governance document, and turns the differences of two documents into requests
// with the versions that they replace. Everything is a pure function of values.
//
// Members of a resource that this program does not know are sent back as they were read,
// and values that it does not know stay until the document says otherwise.
package service

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The kinds of resources, as the API names them.
const (
	Quota  = "ComputeQuota"
	Policy = "ClusterSchedulerConfig"
)

// JSON is an object of the API with all its members.
type JSON = map[string]any

// Resource is a compute allocation or a cluster policy.
type Resource struct {
	Kind, ID, ARN, Name, Description string
	Version                          int
	Status, FailureReason            string
	// Team and Activation are those of a compute allocation.
	Team, Activation string
	// By made the last change, At then; "" and zero where the service does not say.
	By string
	At time.Time
	// Tags are those of a resource that is to be created again; the API describes none.
	Tags []any
	// Config and Target are the parts that an update replaces as a whole.
	Config, Target JSON
}

// wireResource is what the API answers for both kinds.
type wireResource struct {
	ComputeQuotaID, ClusterSchedulerConfigID           string
	ComputeQuotaARN, ClusterSchedulerConfigARN         string
	ComputeQuotaVersion, ClusterSchedulerConfigVersion int
	Name, Description, Status, FailureReason           string
	ActivationState                                    string
	ComputeQuotaConfig, ComputeQuotaTarget             JSON
	SchedulerConfig                                    JSON
	CreationTime, LastModifiedTime                     float64
	CreatedBy, LastModifiedBy                          wireUser
}

type wireUser struct {
	UserProfileName, UserProfileArn string
	IamIdentity                     struct{ Arn, PrincipalID string }
}

func (u wireUser) name() string {
	return cmp.Or(u.IamIdentity.Arn, u.UserProfileArn, u.UserProfileName, u.IamIdentity.PrincipalID)
}

// Read returns a resource from the answer of a Describe operation.
func Read(kind string, d JSON) (Resource, error) {
	var w wireResource
	if err := convert(d, &w); err != nil {
		return Resource{}, fmt.Errorf("%s: %w", kind, err)
	}
	out := Resource{Kind: kind, ID: cmp.Or(w.ComputeQuotaID, w.ClusterSchedulerConfigID), Version: cmp.Or(w.ComputeQuotaVersion, w.ClusterSchedulerConfigVersion),
		ARN:  cmp.Or(w.ComputeQuotaARN, w.ClusterSchedulerConfigARN),
		Name: w.Name, Description: w.Description, Status: w.Status, FailureReason: w.FailureReason, Activation: w.ActivationState,
		By: cmp.Or(w.LastModifiedBy.name(), w.CreatedBy.name()), Config: w.ComputeQuotaConfig, Target: w.ComputeQuotaTarget}
	if kind == Policy {
		out.Config = w.SchedulerConfig
	}
	out.Team, _ = out.Target["TeamName"].(string)
	if at := cmp.Or(w.LastModifiedTime, w.CreationTime); at > 0 {
		out.At = time.UnixMilli(int64(at * 1000)).UTC()
	}
	return out, nil
}

// convert reads JSON into a type, members by their name in any case.
func convert(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// State is the governance of one cluster.
type State struct {
	// Cluster is the name of the HyperPod cluster, ARN its ARN.
	Cluster, ARN string
	// Policies and Allocations are ordered by name; deleted ones are not among them.
	Policies, Allocations []Resource
}

// NewState returns the state of a cluster from the answers of the Describe operations.
func NewState(cluster, arn string, policies, allocations []JSON) (*State, error) {
	s := &State{Cluster: cluster, ARN: arn}
	for _, list := range []struct {
		kind string
		from []JSON
		to   *[]Resource
	}{{Policy, policies, &s.Policies}, {Quota, allocations, &s.Allocations}} {
		for _, d := range list.from {
			r, err := Read(list.kind, d)
			if err != nil {
				return nil, err
			}
			if r.Status != deleted {
				*list.to = append(*list.to, r)
			}
		}
		slices.SortFunc(*list.to, func(a, b Resource) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	}
	return s, nil
}

// Policy returns the policy of the cluster: of several, the named one or one that the
// service could create. Nil: there is none.
func (s *State) Policy(name string) *Resource {
	return best(s.Policies, func(r *Resource) bool { return true }, name)
}

// Allocation returns the compute allocation of a team, nil where it has none.
func (s *State) Allocation(team string) *Resource {
	return best(s.Allocations, func(r *Resource) bool { return r.Team == team }, "")
}

func best(list []Resource, is func(*Resource) bool, name string) *Resource {
	var out *Resource
	for i := range list {
		r := &list[i]
		if !is(r) {
			continue
		}
		if out == nil || r.Name == name && out.Name != name || out.Name != name && broken(out.Status) && !broken(r.Status) {
			out = r
		}
	}
	return out
}

func broken(status string) bool { return RecoveryOf(status) == Recreate }

// Duplicated returns the teams that have several compute allocations that work.
func (s *State) Duplicated() []string {
	n := map[string]int{}
	var out []string
	for _, r := range s.Allocations {
		if !broken(r.Status) {
			if n[r.Team]++; n[r.Team] == 2 {
				out = append(out, r.Team)
			}
		}
	}
	return out
}

// Busy returns the resources that the service is changing.
func (s *State) Busy() []Resource {
	var out []Resource
	for _, r := range slices.Concat(s.Policies, s.Allocations) {
		if Busy(r.Status) {
			out = append(out, r)
		}
	}
	return out
}

// ToRecreate returns the teams, and [PolicyName], whose failed change leaves nothing else to do than to create them again.
func (s *State) ToRecreate() []string {
	var out []string
	for _, r := range slices.Concat(s.Policies, s.Allocations) {
		if recovery := RecoveryOf(r.Status); recovery == Recreate || recovery == Redelete {
			out = append(out, r.RecreateName())
		}
	}
	return out
}

// RecreateName returns the name by which a person asks to create the resource again: its team, or [PolicyName].
func (r *Resource) RecreateName() string {
	if r.Kind == Policy {
		return PolicyName
	}
	return r.Team
}

// Versions returns the ids and versions of all resources, by kind and name.
func (s *State) Versions() map[string]string {
	out := map[string]string{}
	for _, r := range slices.Concat(s.Policies, s.Allocations) {
		out[r.Kind+" "+r.Name] = fmt.Sprintf("%s@%d", r.ID, r.Version)
	}
	return out
}

const deleted = "Deleted"

// Made reports the status of a change that the service has made.
func Made(status string) bool { return status == "Created" || status == "Updated" }

// Unknown reports a status that the API got later and whose form says nothing: it can be the end of a change or not.
func Unknown(status string) bool {
	return !Made(status) && !Busy(status) && !Failed(status) && status != deleted
}

// Busy reports a status that the service will change by itself. The API may get further
// ones, so the form of the word decides.
func Busy(status string) bool { return strings.HasSuffix(status, "ing") }

// Failed reports a status of a change that failed.
func Failed(status string) bool { return strings.HasSuffix(status, "Failed") }

// Recovery is what the documentation says to do about a status (SageMaker Developer
// Guide, task governance: troubleshooting).
type Recovery string

// The recoveries; "" is none needed.
const (
	Wait     Recovery = "Wait"     // the service is at work
	Retry    Recovery = "Retry"    // update again
	Recreate Recovery = "Recreate" // delete and create again
	Redelete Recovery = "Redelete" // delete again
)

// RecoveryOf returns what to do about a status.
func RecoveryOf(status string) Recovery {
	switch {
	case Busy(status):
		return Wait
	case status == "UpdateFailed":
		return Retry
	case status == "DeleteFailed", status == "DeleteRollbackFailed":
		return Redelete
	case Failed(status): // CreateFailed, CreateRollbackFailed, UpdateRollbackFailed, and what may come
		return Recreate
	}
	return ""
}
