package aws

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestShapes: the fake checks requests as the service model says, member by member.
func TestShapes(t *testing.T) {
	model, err := ServiceModel()
	if err != nil {
		t.Skip(err)
	}
	number := func(v *float64) float64 {
		if v == nil {
			return 0
		}
		return *v
	}
	for name, is := range shapes {
		m, ok := model[name]
		if !ok {
			t.Errorf("the service model has no %s", name)
			continue
		}
		if m.Type != is.kind || number(m.Min) != is.min || number(m.Max) != is.max || m.Pattern != is.pattern || m.Member.Shape != is.element {
			t.Errorf("%s is %s [%v, %v] %q of %q, in the model %s [%v, %v] %q of %q", name, is.kind, is.min, is.max, is.pattern, is.element, m.Type, number(m.Min), number(m.Max), m.Pattern, m.Member.Shape)
		}
		// Lists of instance types and MIG profiles grow; the fake takes any.
		if grows := name == "ClusterInstanceType" || name == "MIGProfileType"; !grows && !slices.Equal(slices.Sorted(slices.Values(m.Enum)), slices.Sorted(slices.Values(is.enum))) {
			t.Errorf("%s: values %v, in the model %v", name, is.enum, m.Enum)
		}
		if !slices.Equal(slices.Sorted(slices.Values(m.Required)), slices.Sorted(slices.Values(is.required))) {
			t.Errorf("%s: required %v, in the model %v", name, is.required, m.Required)
		}
		for _, key := range slices.Sorted(maps.Keys(m.Members)) {
			if shape := m.Members[key].Shape; is.members[key] != shape {
				t.Errorf("%s.%s is %q, in the model %q", name, key, is.members[key], shape)
			}
		}
		for key := range is.members {
			if _, ok := m.Members[key]; !ok {
				t.Errorf("%s.%s is not in the model", name, key)
			}
		}
	}
}

// TestGovernance: versions, conflicts, statuses and endings of both kinds.
func TestGovernance(t *testing.T) {
	s := New(Options{})
	arn := s.AddCluster(Spec{Name: "ml", EKS: s.AddEKS(EKS{Name: "ml-eks"})})
	slurm := s.AddCluster(Spec{Name: "slurm"})
	quota := func(name, arn, team string) string {
		return `{"Name":"` + name + `","ClusterArn":"` + arn + `","ComputeQuotaConfig":{},"ComputeQuotaTarget":{"TeamName":"` + team + `"}}`
	}
	for _, tt := range []struct{ operation, in, want string }{
		{"CreateComputeQuota", quota("a", arn, "a"), ""},
		{"CreateComputeQuota", quota("a", arn, "b"), "ConflictException"},
		{"CreateComputeQuota", quota("b", arn, "a"), "ConflictException"},
		{"CreateComputeQuota", quota("b", slurm, "b"), "ValidationException"},
		{"CreateComputeQuota", quota("b", arn, "B_"), "ValidationException"},
		{"CreateComputeQuota", quota("b_", arn, "b"), "ValidationException"},
		{"CreateComputeQuota", `{"Name":"b"}`, "ValidationException"},
		{"UpdateComputeQuota", `{"ComputeQuotaId":"ID","TargetVersion":2}`, "ConflictException"},
		{"UpdateComputeQuota", `{"ComputeQuotaId":"ID","TargetVersion":1,"ComputeQuotaTarget":{"TeamName":"z"}}`, "ValidationException"},
		{"UpdateComputeQuota", `{"ComputeQuotaId":"ID","TargetVersion":1,"ComputeQuotaTarget":{"TeamName":"a","FairShareWeight":101}}`, "ValidationException"},
		{"UpdateComputeQuota", `{"ComputeQuotaId":"ID","TargetVersion":1,"ActivationState":"On"}`, "ValidationException"},
		{"UpdateComputeQuota", `{"ComputeQuotaId":"ID","TargetVersion":1,"ActivationState":"Disabled"}`, ""},
		{"UpdateComputeQuota", `{"ComputeQuotaId":"ID","TargetVersion":1,"ActivationState":"Enabled"}`, "ConflictException"},
		{"UpdateComputeQuota", `{"ComputeQuotaId":"aaaaaaaaaaaa","TargetVersion":1}`, "ResourceNotFound"},
		{"DeleteComputeQuota", `{"ComputeQuotaId":"ID"}`, ""},
		{"DeleteComputeQuota", `{"ComputeQuotaId":"ID"}`, "ResourceNotFound"},
	} {
		id, _ := s.IDOf("a")
		if id == "" {
			id = "000000000000"
		}
		code := ""
		if failure := s.Do(tt.operation, strings.ReplaceAll(tt.in, `"ID"`, `"`+id+`"`)); failure != nil {
			code = failure.Code
		}
		if code != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.operation, tt.in, code, tt.want)
		}
	}
	s.EndsIn("c", Ending{Status: "CreateFailed", Reason: "no", Times: 1})
	for _, want := range []string{"CreateFailed", "Created"} {
		if failure := s.Do("CreateComputeQuota", quota("c", arn, "c")); failure != nil {
			t.Fatal(failure)
		}
		if got := s.Show("c")["Status"]; got != want {
			t.Errorf("status %v, want %s", got, want)
		}
		id, _ := s.IDOf("c")
		if failure := s.Do("DeleteComputeQuota", `{"ComputeQuotaId":"`+id+`"}`); failure != nil {
			t.Fatal(failure)
		}
	}
}
