package aws

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// shape is what the service model says of a type: shapes_test.go compares each with the
// model that comes with botocore.
type shape struct {
	// kind is structure, list, string, integer or float.
	kind     string
	min, max float64 // length of a string or list, value of a number; max 0: none
	pattern  string
	enum     []string
	// members are the shapes of a structure's members, element that of a list.
	members  map[string]string
	required []string
	element  string
}

var (
	onOff = []string{"Enabled", "Disabled"}
)

// shapes are those of the requests about governance.
var shapes = map[string]shape{
	"EntityName":                             {kind: "string", min: 1, max: 63, pattern: `[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}`},
	"EntityDescription":                      {kind: "string", max: 1024, pattern: `[\p{L}\p{M}\p{Z}\p{S}\p{N}\p{P}]*`},
	"ClusterArn":                             {kind: "string", max: 256, pattern: `arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:cluster/[a-z0-9]{12}`},
	"ClusterSchedulerPriorityClassName":      {kind: "string", pattern: `[a-z0-9]([-a-z0-9]*[a-z0-9]){0,39}?`},
	"ComputeQuotaTargetTeamName":             {kind: "string", pattern: `[a-z0-9]([-a-z0-9]*[a-z0-9]){0,39}?`},
	"ClusterSchedulerConfigId":               {kind: "string", max: 12, pattern: `[a-z0-9]{12}`},
	"ComputeQuotaId":                         {kind: "string", pattern: `[a-z0-9]{12}`},
	"PriorityWeight":                         {kind: "integer", max: 100},
	"FairShareWeight":                        {kind: "integer", max: 100},
	"BorrowLimit":                            {kind: "integer", max: 10000},
	"InstanceCount":                          {kind: "integer", max: 10000000},
	"AcceleratorsAmount":                     {kind: "integer", max: 10000000},
	"VCpuAmount":                             {kind: "float", max: 10000000},
	"MemoryInGiBAmount":                      {kind: "float", max: 10000000},
	"AcceleratorPartitionConfigCountInteger": {kind: "integer", max: 10000000},
	"Integer":                                {kind: "integer"},
	"FairShare":                              {kind: "string", enum: onOff},
	"IdleResourceSharing":                    {kind: "string", enum: onOff},
	"ActivationState":                        {kind: "string", enum: onOff},
	"ResourceSharingStrategy":                {kind: "string", enum: []string{"Lend", "DontLend", "LendAndBorrow"}},
	"PreemptTeamTasks":                       {kind: "string", enum: []string{"Never", "LowerPriority"}},
	"ClusterInstanceType":                    {kind: "string"}, // a list that grows
	"MIGProfileType":                         {kind: "string"}, // likewise
	"PriorityClass":                          {kind: "structure", members: map[string]string{"Name": "ClusterSchedulerPriorityClassName", "Weight": "PriorityWeight"}, required: []string{"Name", "Weight"}},
	"PriorityClassList":                      {kind: "list", max: 10, element: "PriorityClass"},
	"SchedulerConfig":                        {kind: "structure", members: map[string]string{"PriorityClasses": "PriorityClassList", "FairShare": "FairShare", "IdleResourceSharing": "IdleResourceSharing"}},
	"AcceleratorPartitionConfig":             {kind: "structure", members: map[string]string{"Type": "MIGProfileType", "Count": "AcceleratorPartitionConfigCountInteger"}, required: []string{"Type", "Count"}},
	"ComputeQuotaResourceConfig":             {kind: "structure", members: map[string]string{"InstanceType": "ClusterInstanceType", "Count": "InstanceCount", "Accelerators": "AcceleratorsAmount", "VCpu": "VCpuAmount", "MemoryInGiB": "MemoryInGiBAmount", "AcceleratorPartition": "AcceleratorPartitionConfig"}, required: []string{"InstanceType"}},
	"ComputeQuotaResourceConfigList":         {kind: "list", max: 15, element: "ComputeQuotaResourceConfig"},
	"AbsoluteBorrowLimitResourceList":        {kind: "list", max: 15, element: "ComputeQuotaResourceConfig"},
	"ResourceSharingConfig":                  {kind: "structure", members: map[string]string{"Strategy": "ResourceSharingStrategy", "BorrowLimit": "BorrowLimit", "AbsoluteBorrowLimits": "AbsoluteBorrowLimitResourceList"}, required: []string{"Strategy"}},
	"ComputeQuotaConfig":                     {kind: "structure", members: map[string]string{"ComputeQuotaResources": "ComputeQuotaResourceConfigList", "ResourceSharingConfig": "ResourceSharingConfig", "PreemptTeamTasks": "PreemptTeamTasks"}},
	"ComputeQuotaTarget":                     {kind: "structure", members: map[string]string{"TeamName": "ComputeQuotaTargetTeamName", "FairShareWeight": "FairShareWeight"}, required: []string{"TeamName"}},
	"CreateComputeQuotaRequest": {kind: "structure", required: []string{"Name", "ClusterArn", "ComputeQuotaConfig", "ComputeQuotaTarget"}, members: map[string]string{"Name": "EntityName", "Description": "EntityDescription", "ClusterArn": "ClusterArn",
		"ComputeQuotaConfig": "ComputeQuotaConfig", "ComputeQuotaTarget": "ComputeQuotaTarget", "ActivationState": "ActivationState", "Tags": "TagList"}},
	"TagKey":   {kind: "string", min: 1, max: 128, pattern: `([\p{L}\p{Z}\p{N}_.:/=+\-@]*)`},
	"TagValue": {kind: "string", max: 256, pattern: `([\p{L}\p{Z}\p{N}_.:/=+\-@]*)`},
	"Tag":      {kind: "structure", required: []string{"Key", "Value"}, members: map[string]string{"Key": "TagKey", "Value": "TagValue"}},
	"TagList":  {kind: "list", max: 50, element: "Tag"},
	"UpdateComputeQuotaRequest": {kind: "structure", required: []string{"ComputeQuotaId", "TargetVersion"}, members: map[string]string{"ComputeQuotaId": "ComputeQuotaId", "TargetVersion": "Integer",
		"ComputeQuotaConfig": "ComputeQuotaConfig", "ComputeQuotaTarget": "ComputeQuotaTarget", "ActivationState": "ActivationState", "Description": "EntityDescription"}},
	"CreateClusterSchedulerConfigRequest": {kind: "structure", required: []string{"Name", "ClusterArn", "SchedulerConfig"}, members: map[string]string{"Name": "EntityName", "ClusterArn": "ClusterArn", "SchedulerConfig": "SchedulerConfig", "Description": "EntityDescription", "Tags": "TagList"}},
	"UpdateClusterSchedulerConfigRequest": {kind: "structure", required: []string{"ClusterSchedulerConfigId", "TargetVersion"}, members: map[string]string{"ClusterSchedulerConfigId": "ClusterSchedulerConfigId", "TargetVersion": "Integer",
		"SchedulerConfig": "SchedulerConfig", "Description": "EntityDescription"}},
}

// obey checks a value against a shape. A member that the shape does not have is an
// error, which AWS would pass over, unless a test added it (Allow).
func (s *Server) obey(name string, v any, path string) *Error {
	is := shapes[name]
	bad := func(why string) *Error {
		return failf("ValidationException", "1 validation error detected: Value '%v' at '%s' failed to satisfy constraint: %s", v, path, why)
	}
	bounds := func(n float64, what string) *Error {
		if n < is.min || is.max > 0 && n > is.max {
			return bad(fmt.Sprintf("Member must have %s between %v and %v", what, is.min, is.max))
		}
		return nil
	}
	switch is.kind {
	case "structure":
		d, ok := v.(object)
		if !ok {
			return failf("SerializationException", "%s must be a structure", path)
		}
		for _, key := range is.required {
			if _, ok := d[key]; !ok {
				return bad("Member " + key + " must not be null")
			}
		}
		keys := make([]string, 0, len(d))
		for key := range d {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			member, ok := is.members[key]
			switch {
			case !ok && slices.Contains(s.governance.future, key):
			case !ok:
				return failf("SerializationException", "%s has no member %s", name, key)
			default:
				if failure := s.obey(member, d[key], path+"."+key); failure != nil {
					return failure
				}
			}
		}
	case "list":
		list, ok := v.([]any)
		if !ok {
			return failf("SerializationException", "%s must be a list", path)
		}
		for i, e := range list {
			if failure := s.obey(is.element, e, fmt.Sprintf("%s.%d.member", path, i+1)); failure != nil {
				return failure
			}
		}
		return bounds(float64(len(list)), "length")
	case "string":
		value, ok := v.(string)
		switch {
		case !ok:
			return failf("SerializationException", "%s must be a string", path)
		case is.enum != nil && !slices.Contains(is.enum, value) && !slices.Contains(s.governance.future, value):
			return bad(fmt.Sprintf("Member must satisfy enum value set: %v", is.enum))
		case is.pattern != "" && !matches(is.pattern, value):
			return bad("Member must satisfy regular expression pattern: " + is.pattern)
		}
		return bounds(float64(utf8.RuneCountInString(value)), "length")
	default:
		n, ok := v.(float64)
		if !ok || is.kind == "integer" && n != float64(int64(n)) {
			return failf("SerializationException", "%s must be a number", path)
		}
		return bounds(n, "value")
	}
	return nil
}

// matches reports that a whole text has a pattern of the model.
func matches(pattern, value string) bool {
	if pattern == shapes["EntityDescription"].pattern {
		for _, r := range value {
			if !unicode.In(r, unicode.L, unicode.M, unicode.Z, unicode.S, unicode.N, unicode.P) {
				return false
			}
		}
		return true
	}
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(value)
}
