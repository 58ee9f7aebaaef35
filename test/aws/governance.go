package aws

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// governed is a compute allocation or a cluster scheduler configuration: the table's key
// is its id.
type governed struct {
	name, description, activation, clusterARN string
	config, target                            object
	tags                                      []any
	created, modified                         time.Time
	createdBy, modifiedBy                     string
	failure                                   string
}

// governance keeps both kinds of resources.
type governance struct {
	quotas, policies *Table[governed]
	// future are members and values that the shapes do not have.
	future []string
	// plans say how the next changes of a resource end, by its name.
	plans map[string]*Ending
	// pace is how many times a status is read before it moves on.
	pace int
}

// Ending is how a change ends.
type Ending struct {
	Status, Reason string
	// Times is how many changes end so; 0 is all.
	Times int
	used  int
}

// kindOf are the members of the API that differ by kind.
type kindOf struct {
	name, config, path string
	table              func(*Server) *Table[governed]
}

var (
	quotaKind  = kindOf{"ComputeQuota", "ComputeQuotaConfig", "compute-quota", func(s *Server) *Table[governed] { return s.governance.quotas }}
	policyKind = kindOf{"ClusterSchedulerConfig", "SchedulerConfig", "cluster-scheduler-config", func(s *Server) *Table[governed] { return s.governance.policies }}
)

func newGovernance() governance {
	return governance{quotas: NewTable[governed](), policies: NewTable[governed](), plans: map[string]*Ending{}, pace: 1}
}

// govern returns the operations on compute allocations and cluster policies.
func (s *Server) govern(operation string) answer {
	if operation == "ListTags" {
		return s.listTags
	}
	for _, k := range []kindOf{quotaKind, policyKind} {
		switch operation {
		case "Create" + k.name:
			return s.createGoverned(k)
		case "Update" + k.name:
			return s.updateGoverned(k)
		case "Describe" + k.name:
			return s.describeGoverned(k)
		case "Delete" + k.name:
			return s.deleteGoverned(k)
		case "List" + k.name + "s":
			return s.listGoverned(k)
		}
	}
	return nil
}

// EndsIn lets changes of the resource of a name end in a status.
func (s *Server) EndsIn(name string, e Ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.governance.plans[name] = &e
}

// Allow lets requests have a member or a value that the service model does not have yet.
func (s *Server) Allow(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.governance.future = append(s.governance.future, name)
}

// SetPace is how many times a status is read before it moves on.
func (s *Server) SetPace(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.governance.pace = n
}

// Do carries out an operation as another administrator, with a request as JSON, and
// ends it at once.
func (s *Server) Do(operation, request string) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	do := s.govern(operation)
	if do == nil {
		return failf("UnknownOperationException", "%s", operation)
	}
	s.other = true
	defer func() { s.other = false }()
	if _, failure := do(&call{operation: operation, body: []byte(request)}); failure != nil {
		return failure
	}
	for _, t := range []*Table[governed]{s.governance.quotas, s.governance.policies} {
		for _, r := range t.All() {
			for r.Busy() && t.Get(r.Key) != nil {
				t.Seen(r)
			}
		}
	}
	return nil
}

// IDOf is the id and version of a resource by its name, "" if there is none.
func (s *Server) IDOf(name string) (id string, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []*Table[governed]{s.governance.quotas, s.governance.policies} {
		if r := t.Find(func(r *Record[governed]) bool { return r.Value.name == name }); r != nil {
			return r.Key, r.Version
		}
	}
	return "", 0
}

// ClusterARN is the ARN of a cluster, "" if there is none.
func (s *Server) ClusterARN(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.clusters.Get(name); r != nil {
		return s.clusterARN(&r.Value)
	}
	return ""
}

// Show is the configuration of a resource by its name, nil if there is none.
func (s *Server) Show(name string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []*Table[governed]{s.governance.quotas, s.governance.policies} {
		if r := t.Find(func(r *Record[governed]) bool { return r.Value.name == name }); r != nil {
			return object{"Config": r.Value.config, "Target": r.Value.target, "Description": r.Value.description, "Tags": r.Value.tags, "Activation": r.Value.activation, "Status": r.Status}
		}
	}
	return nil
}

// Other is the ARN of the administrator whom Do stands for.
func (s *Server) Other() string { return "arn:" + s.partition + ":iam::" + Account + ":user/grace" }

// who is the ARN of the one who makes a change.
func (s *Server) who() string {
	if s.other {
		return s.Other()
	}
	return s.Caller()
}

// begin begins a change: at work, then done or as the test wants it.
func (s *Server) begin(r *Record[governed], work, done string) (fails bool) {
	r.Value.failure = ""
	next := []string{}
	for range s.governance.pace - 1 {
		next = append(next, work)
	}
	if e := s.governance.plans[r.Value.name]; e != nil && (e.Times == 0 || e.used < e.Times) && strings.HasPrefix(e.Status, strings.TrimSuffix(work, "ing")) {
		e.used++
		r.Value.failure = e.Reason
		r.Begin(work, append(next, e.Status)...)
		return strings.HasSuffix(e.Status, "Failed")
	}
	r.Begin(work, append(next, done)...)
	return false
}

func decode(c *call) (object, *Error) {
	var in object
	if err := json.Unmarshal(c.body, &in); err != nil {
		return nil, failf("SerializationException", "%v", err)
	}
	return in, nil
}

func (s *Server) createGoverned(k kindOf) answer {
	return func(c *call) (any, *Error) {
		in, failure := decode(c)
		if failure == nil {
			failure = s.obey("Create"+k.name+"Request", in, "")
		}
		if failure != nil {
			return nil, failure
		}
		v := governed{created: s.now(), modified: s.now(), createdBy: s.who(), modifiedBy: s.who()}
		v.name, _ = in["Name"].(string)
		v.description, _ = in["Description"].(string)
		v.activation, _ = in["ActivationState"].(string)
		v.clusterARN, _ = in["ClusterArn"].(string)
		v.config, _ = in[k.config].(object)
		v.target, _ = in["ComputeQuotaTarget"].(object)
		v.tags, _ = in["Tags"].([]any)
		cluster, failure := s.find(v.clusterARN)
		if failure != nil {
			return nil, failure
		}
		if orchestrator, _ := cluster.Value.given["Orchestrator"].(object); orchestrator["Eks"] == nil {
			return nil, failf("ValidationException", "Task governance is supported for clusters with the orchestrator EKS only.")
		}
		t := k.table(s)
		same := t.Find(func(r *Record[governed]) bool {
			return r.Value.clusterARN == v.clusterARN && (r.Value.name == v.name || v.target != nil && r.Value.target["TeamName"] == v.target["TeamName"])
		})
		if same != nil {
			return nil, failf("ConflictException", "%s %s already exists in the cluster.", k.name, same.Value.name)
		}
		r, failure := t.Add(s.id(), v)
		if failure != nil {
			return nil, failure
		}
		s.begin(r, "Creating", "Created")
		return object{k.name + "Arn": s.arn("sagemaker", s.region, k.path+"/"+r.Key), k.name + "Id": r.Key}, nil
	}
}

func (s *Server) updateGoverned(k kindOf) answer {
	return func(c *call) (any, *Error) {
		in, failure := decode(c)
		if failure == nil {
			failure = s.obey("Update"+k.name+"Request", in, "")
		}
		if failure != nil {
			return nil, failure
		}
		id, _ := in[k.name+"Id"].(string)
		target := int(in["TargetVersion"].(float64))
		t := k.table(s)
		failure = t.Change(id, &target, func(r *Record[governed]) *Error {
			v := &r.Value
			if strings.Contains(r.Status, "Rollback") || r.Status == "CreateFailed" || strings.HasPrefix(r.Status, "Delete") {
				return failf("ConflictException", "%s is in status %s.", v.name, r.Status)
			}
			if given, ok := in["ComputeQuotaTarget"].(object); ok && given["TeamName"] != v.target["TeamName"] {
				return failf("ValidationException", "The team of a compute quota cannot be changed.")
			}
			if s.begin(r, "Updating", "Updated") {
				return nil // it is rolled back
			}
			v.modified, v.modifiedBy = s.now(), s.who()
			if config, ok := in[k.config].(object); ok {
				v.config = config
			}
			if given, ok := in["ComputeQuotaTarget"].(object); ok {
				v.target = given
			}
			if text, ok := in["ActivationState"].(string); ok {
				v.activation = text
			}
			if text, ok := in["Description"].(string); ok {
				v.description = text
			}
			return nil
		})
		if failure != nil {
			return nil, failure
		}
		return object{k.name + "Arn": s.arn("sagemaker", s.region, k.path+"/"+id), k.name + "Version": t.Get(id).Version}, nil
	}
}

// listTags answers two tags at a time.
func (s *Server) listTags(c *call) (any, *Error) {
	in, failure := decode(c)
	if failure != nil {
		return nil, failure
	}
	arn, _ := in["ResourceArn"].(string)
	token, _ := in["NextToken"].(string)
	for _, k := range []kindOf{quotaKind, policyKind} {
		for _, r := range k.table(s).All() {
			if s.arn("sagemaker", s.region, k.path+"/"+r.Key) != arn {
				continue
			}
			page, next, failure := Page(r.Value.tags, token, 2)
			if failure != nil {
				return nil, failure
			}
			out := object{"Tags": append([]any{}, page...)}
			if next != "" {
				out["NextToken"] = next
			}
			return out, nil
		}
	}
	return nil, failf("ResourceNotFound", "%s not found.", arn)
}

// summary is a resource as lists have it; the lists of policies have no configuration.
func (s *Server) summary(k kindOf, r *Record[governed]) object {
	v := &r.Value
	out := object{k.name + "Arn": s.arn("sagemaker", s.region, k.path+"/"+r.Key), k.name + "Id": r.Key, "Name": v.name, k.name + "Version": r.Version,
		"Status": r.Status, "ClusterArn": v.clusterARN, "CreationTime": seconds(v.created), "LastModifiedTime": seconds(v.modified)}
	if k.name == quotaKind.name {
		out[k.config], out["ComputeQuotaTarget"] = v.config, v.target
		if v.activation != "" {
			out["ActivationState"] = v.activation
		}
	}
	return out
}

func (s *Server) describeGoverned(k kindOf) answer {
	return func(c *call) (any, *Error) {
		in, failure := decode(c)
		if failure != nil {
			return nil, failure
		}
		id, _ := in[k.name+"Id"].(string)
		t := k.table(s)
		r := t.Get(id)
		if r == nil {
			return nil, failf("ResourceNotFound", "%s %s not found.", k.name, id)
		}
		out := s.summary(k, r)
		v := &r.Value
		out[k.config] = v.config
		out["CreatedBy"], out["LastModifiedBy"] = object{"IamIdentity": object{"Arn": v.createdBy}}, object{"IamIdentity": object{"Arn": v.modifiedBy}}
		if v.description != "" {
			out["Description"] = v.description
		}
		if v.failure != "" && strings.HasSuffix(r.Status, "Failed") {
			out["FailureReason"] = v.failure
		}
		t.Seen(r)
		return out, nil
	}
}

func (s *Server) deleteGoverned(k kindOf) answer {
	return func(c *call) (any, *Error) {
		in, failure := decode(c)
		if failure != nil {
			return nil, failure
		}
		id, _ := in[k.name+"Id"].(string)
		r := k.table(s).Get(id)
		if r == nil {
			return nil, failf("ResourceNotFound", "%s %s not found.", k.name, id)
		}
		if r.Busy() {
			return nil, failf("ConflictException", "%s is in status %s.", r.Value.name, r.Status)
		}
		s.begin(r, "Deleting", "")
		return object{}, nil
	}
}

func (s *Server) listGoverned(k kindOf) answer {
	return func(c *call) (any, *Error) {
		in, failure := read[struct {
			ClusterArn, NameContains, NextToken, SortBy, SortOrder, Status string
			MaxResults                                                     int
			CreatedAfter, CreatedBefore                                    float64
		}](c)
		if failure != nil {
			return nil, failure
		}
		all := slices.DeleteFunc(k.table(s).All(), func(r *Record[governed]) bool {
			return in.ClusterArn != "" && r.Value.clusterARN != in.ClusterArn || !strings.Contains(r.Value.name, in.NameContains) || in.Status != "" && r.Status != in.Status
		})
		sortBy(all, in.SortBy == "Name", in.SortOrder, func(r *Record[governed]) (string, time.Time) { return r.Value.name, r.Value.created })
		page, next, failure := Page(all, in.NextToken, in.MaxResults)
		if failure != nil {
			return nil, failure
		}
		list := []object{}
		for _, r := range page {
			list = append(list, s.summary(k, r))
		}
		return withToken(object{k.name + "Summaries": list}, next), nil
	}
}
