package service

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// defaultPolicy names a policy that the document gives no name.
const defaultPolicy = "cluster-policy"

// set adds a member unless it is empty.
func set(d JSON, key string, value any) {
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		if v.Kind() == reflect.Pointer {
			value = v.Elem().Interface()
		}
		d[key] = value
	}
}

// row returns a ComputeQuotaResourceConfig; members that this program does not know stay as
// they were in an old one.
func row(q policy.Quota, old JSON) JSON {
	d := maps.Clone(old)
	if d == nil {
		d = JSON{}
	}
	for _, key := range []string{"Count", "Accelerators", "VCpu", "MemoryInGiB", "AcceleratorPartition"} {
		delete(d, key)
	}
	d["InstanceType"] = instances.Full(q.InstanceType)
	set(d, "Count", q.Count)
	set(d, "Accelerators", q.Accelerators)
	set(d, "VCpu", q.VCPU)
	set(d, "MemoryInGiB", q.MemoryInGiB)
	if p := q.AcceleratorPartition; p != nil {
		d["AcceleratorPartition"] = JSON{"Type": p.Type, "Count": p.Count}
	}
	return d
}

// rows returns the rows of a document over those that were read, by instance type.
func rows(list []policy.Quota, old any) []any {
	by := map[string]JSON{}
	was, _ := old.([]any)
	for _, o := range was {
		if d, ok := o.(JSON); ok {
			name, _ := d["InstanceType"].(string)
			by[instances.Full(name)] = d
		}
	}
	out := []any{}
	for _, q := range list {
		out = append(out, row(q, by[instances.Full(q.InstanceType)]))
	}
	return out
}

// createQuota returns the request for a team's compute allocation. old is one that it takes
// the place of, or nil.
func createQuota(arn string, t *policy.Team, old *Resource) JSON {
	sharing := JSON{"Strategy": t.Shares()}
	if t.Shares() == policy.LendAndBorrow {
		set(sharing, "BorrowLimit", t.BorrowLimit)
		if len(t.AbsoluteBorrowLimits) > 0 {
			sharing["AbsoluteBorrowLimits"] = rows(t.AbsoluteBorrowLimits, nil)
		}
	}
	config := JSON{"ComputeQuotaResources": rows(t.Quota, nil), "ResourceSharingConfig": sharing}
	set(config, "PreemptTeamTasks", t.PreemptTeamTasks)
	target := JSON{"TeamName": t.Team}
	set(target, "FairShareWeight", t.FairShareWeight)
	in := JSON{"Name": t.AllocationName(), "ClusterArn": arn, "ComputeQuotaConfig": config, "ComputeQuotaTarget": target}
	description := t.Description
	if old != nil {
		in["Name"] = old.Name
		if description == "" {
			description = old.Description
		}
		set(in, "Tags", old.Tags)
	}
	set(in, "Description", description)
	set(in, "ActivationState", t.Activation)
	return plain(in)
}

// updateQuota returns the request that changes a compute allocation: only the parts with
// changed fields, and in these everything else as it was read.
func updateQuota(r *Resource, t *policy.Team, changes []policy.Change) JSON {
	in := JSON{"ComputeQuotaId": r.ID, "TargetVersion": r.Version}
	config, target := clone(r.Config), clone(r.Target)
	sharing := clone(member(config, "ResourceSharingConfig"))
	touched := map[string]bool{}
	for _, c := range changes {
		field, _, _ := strings.Cut(c.Field, "[")
		field, _, _ = strings.Cut(field, ".")
		switch field {
		case "quota":
			config["ComputeQuotaResources"] = rows(t.Quota, r.Config["ComputeQuotaResources"])
		case "strategy":
			sharing["Strategy"] = t.Shares()
		case "borrowLimit":
			sharing["BorrowLimit"] = t.Percent()
		case "absoluteBorrowLimits":
			sharing["AbsoluteBorrowLimits"] = rows(t.AbsoluteBorrowLimits, sharing["AbsoluteBorrowLimits"])
		case "preemptTeamTasks":
			config["PreemptTeamTasks"] = or(t.PreemptTeamTasks, policy.LowerPriority)
		case "fairShareWeight":
			target["FairShareWeight"] = t.Weight()
		case "activation":
			in["ActivationState"] = or(t.Activation, policy.Enabled)
		case "description":
			in["Description"] = t.Description
		}
		touched[field] = true
	}
	if touched["strategy"] || touched["borrowLimit"] || touched["absoluteBorrowLimits"] {
		if _, given := sharing["Strategy"]; !given {
			sharing["Strategy"] = t.Shares()
		}
		if t.Shares() != policy.LendAndBorrow { // limits are of borrowers only
			delete(sharing, "BorrowLimit")
			delete(sharing, "AbsoluteBorrowLimits")
		}
		config["ResourceSharingConfig"] = sharing
	}
	// The parts that did not change are left out, and stay.
	if !reflect.DeepEqual(plain(config), plain(r.Config)) || len(changes) == 0 {
		in["ComputeQuotaConfig"] = config
	}
	if touched["fairShareWeight"] {
		in["ComputeQuotaTarget"] = target
	}
	return plain(in)
}

// schedulerConfig returns a SchedulerConfig over one that was read. With prune, classes that
// the document does not have go.
func schedulerConfig(p *policy.ClusterPolicy, old JSON, prune bool) JSON {
	config := clone(old)
	set(config, "FairShare", p.FairShare)
	set(config, "IdleResourceSharing", p.IdleResourceSharing)
	was, _ := config["PriorityClasses"].([]any)
	var list []any
	weights := map[string]int{}
	for _, c := range p.PriorityClasses {
		weights[c.Name] = c.Weight
	}
	done := map[string]bool{}
	for _, o := range was {
		d, _ := o.(JSON)
		name, _ := d["Name"].(string)
		weight, given := weights[name]
		if !given && prune {
			continue
		}
		if given {
			d = clone(d)
			d["Weight"] = weight
		}
		done[name] = true
		list = append(list, d)
	}
	for _, c := range p.PriorityClasses {
		if !done[c.Name] {
			list = append(list, JSON{"Name": c.Name, "Weight": c.Weight})
		}
	}
	if list != nil || was != nil {
		config["PriorityClasses"] = append([]any{}, list...)
	}
	return config
}

func createPolicy(arn string, p *policy.ClusterPolicy, old *Resource) JSON {
	in := JSON{"Name": or(p.Name, defaultPolicy), "ClusterArn": arn}
	description := p.Description
	if old != nil {
		in["Name"] = old.Name
		in["SchedulerConfig"] = schedulerConfig(p, old.Config, false)
		description = or(description, old.Description)
		set(in, "Tags", old.Tags)
	} else {
		in["SchedulerConfig"] = schedulerConfig(p, nil, false)
	}
	set(in, "Description", description)
	return plain(in)
}

func updatePolicy(r *Resource, p *policy.ClusterPolicy, changes []policy.Change, prune bool) JSON {
	in := JSON{"ClusterSchedulerConfigId": r.ID, "TargetVersion": r.Version}
	if config := schedulerConfig(p, r.Config, prune); !reflect.DeepEqual(plain(config), plain(r.Config)) || len(changes) == 0 {
		in["SchedulerConfig"] = config
	}
	if p.Description != "" && p.Description != r.Description {
		in["Description"] = p.Description
	}
	return plain(in)
}

// Matches reports whether a resource is as a request wants it: a request whose answer was
// lost has been carried out, or somebody made the same change.
func Matches(r *Resource, request JSON) bool {
	have := plain(JSON{"ComputeQuotaConfig": r.Config, "ComputeQuotaTarget": r.Target, "SchedulerConfig": r.Config, "ActivationState": r.Activation, "Description": r.Description})
	for _, key := range []string{"ComputeQuotaConfig", "ComputeQuotaTarget", "SchedulerConfig", "ActivationState", "Description"} {
		if want, ok := request[key]; ok && !reflect.DeepEqual(want, have[key]) {
			return false
		}
	}
	return true
}

func member(d JSON, key string) JSON {
	m, _ := d[key].(JSON)
	return m
}

func clone(d JSON) JSON {
	if d == nil {
		return JSON{}
	}
	return maps.Clone(d)
}

// plain writes numbers as JSON has them, so that values compare.
func plain(d JSON) JSON {
	data, err := json.Marshal(d)
	if err != nil {
		return d // values that came from JSON, and our own
	}
	out := JSON{}
	if json.Unmarshal(data, &out) != nil {
		return d
	}
	return out
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
