package terraform

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// documents are governance files, with one that has every field.
func documents(t *testing.T) map[string]*policy.Document {
	t.Helper()
	files, err := filepath.Glob("../../../docs/scenarios/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*policy.Document{}
	for _, file := range append(files, "testdata/all.yaml") {
		if filepath.Base(file) == "train.yaml" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, _, faults := policy.Parse(text)
		if len(faults) > 0 {
			t.Fatalf("%s: %v", file, faults)
		}
		out[file] = d
	}
	if len(out) < 5 {
		t.Fatalf("%d documents", len(out))
	}
	return out
}

// TestRoundTrip: what Write writes is HCL in the form of terraform fmt, has attributes that
// the providers have, and means the document: its values in the form of a plan are read as
// the document.
func TestRoundTrip(t *testing.T) {
	known := attributesOf(t)
	for file, d := range documents(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := Write(d)
			if formatted := hclwrite.Format(text); string(formatted) != string(text) {
				t.Errorf("not in the form of terraform fmt: %s", cmp.Diff(string(formatted), string(text)))
			}
			parsed, diags := hclparse.NewParser().ParseHCL(text, "x.tf")
			if diags.HasErrors() {
				t.Fatalf("%v\n%s", diags, text)
			}
			source, err := Read(planOf(t, parsed.Body.(*hclsyntax.Body), known))
			if err != nil {
				t.Fatal(err)
			}
			want := *d
			for i := range want.Teams {
				want.Teams[i].Strategy = want.Teams[i].Shares()
			}
			want.Cluster = nil
			if diff := cmp.Diff(&want, source.Document); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// listed returns the lines of a file in testdata: their words by the first one.
func listed(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] != "#" {
			out[words[0]] = append(out[words[0]], words[1:]...)
		}
	}
	return out
}

// fromProperties are the resources that the awscc provider makes from types of CloudFormation.
var fromProperties = map[string]string{QuotaType: "AWS::SageMaker::ComputeQuota", PolicyType: "AWS::SageMaker::ClusterSchedulerConfig"}

// attributesOf returns the attributes of the resources, with dots between an object's and its own.
func attributesOf(t *testing.T) map[string][]string {
	t.Helper()
	out := listed(t, "attributes.txt")
	properties := listed(t, "properties.txt")
	for resource, of := range fromProperties {
		var paths []string
		for _, property := range properties[of] {
			path := ""
			for name := range strings.SplitSeq(property, ".") {
				path = strings.TrimPrefix(path+"."+attributeOf(name), ".")
				paths = append(paths, path)
			}
		}
		out[resource] = paths
	}
	return out
}

// wordEnds are the places in a CloudFormation name where a word ends for the awscc provider: before a capital after a small
// letter, and before the last capital of several that a small letter follows (internal/naming/naming.go of
// hashicorp/terraform-provider-awscc at 04dd387ea44940239c0999ec4ad303d1109196e6).
var wordEnds = []*regexp.Regexp{regexp.MustCompile("([a-z])([A-Z])"), regexp.MustCompile("([A-Z])([A-Z][a-z])")}

// attributeOf returns the provider's name of a CloudFormation property.
func attributeOf(property string) string {
	for _, end := range wordEnds {
		property = end.ReplaceAllString(property, "${1}_${2}")
	}
	return strings.ToLower(property)
}

// TestNames: the provider's rule makes the names that its documentation has from CloudFormation's, where both are published.
func TestNames(t *testing.T) {
	names := map[string]bool{}
	for _, path := range attributesOf(t)[PolicyType] {
		names[path[strings.LastIndex(path, ".")+1:]] = true
	}
	published := listed(t, "attributes.txt")[PolicyType]
	slices.Sort(published)
	if diff := cmp.Diff(published, slices.Sorted(maps.Keys(names))); diff != "" {
		t.Error(diff)
	}
	// Names with several capitals: docs/resources/ecs_capacity_provider of awscc 1.101.0. The other: naming_test.go beside the rule.
	for property, want := range map[string]string{"MemoryGiBPerVCpu": "memory_gi_b_per_v_cpu", "GlobalReplicationGroupDescription": "global_replication_group_description"} {
		if got := attributeOf(property); got != want {
			t.Errorf("%s: %s, want %s", property, got, want)
		}
	}
}

// planOf evaluates the resources of a file as terraform plan does.
func planOf(t *testing.T, body *hclsyntax.Body, known map[string][]string) []byte {
	t.Helper()
	context := &hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(map[string]cty.Value{
		"cluster_arn": cty.StringVal("arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"), "eks_cluster_name": cty.StringVal("eks")})}}
	var resources []string
	addresses := map[string]bool{}
	for _, b := range body.Blocks {
		if b.Type != "resource" {
			continue
		}
		kind, name := b.Labels[0], b.Labels[1]
		values := map[string]json.RawMessage{}
		for _, a := range b.Body.Attributes {
			if a.Name == "depends_on" {
				continue
			}
			v, diags := a.Expr.Value(context)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			_ = cty.Walk(v, func(p cty.Path, _ cty.Value) (bool, error) {
				path := a.Name
				for _, step := range p {
					if at, ok := step.(cty.GetAttrStep); ok {
						path += "." + at.Name
					}
				}
				if !slices.Contains(known[kind], path) {
					t.Errorf("%s has no attribute %s", kind, path)
				}
				return true, nil
			})
			js, err := ctyjson.Marshal(v, v.Type())
			if err != nil {
				t.Fatal(err)
			}
			values[a.Name] = js
		}
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		address := kind + "." + name
		if addresses[address] {
			t.Errorf("two resources %s", address)
		}
		addresses[address] = true
		resources = append(resources, fmt.Sprintf(`{"address": %q, "mode": "managed", "type": %q, "name": %q, "values": %s}`, address, kind, name, text))
	}
	return fmt.Appendf(nil, `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [%s]}}}`, strings.Join(resources, ","))
}

// TestStrings: names cannot break out of a string.
func TestStrings(t *testing.T) {
	d := &policy.Document{Teams: []policy.Team{{Team: "a", Description: "\"${var.x}\" %{ if } \\ \n end"}}}
	parsed, diags := hclparse.NewParser().ParseHCL(Write(d), "x.tf")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	source, err := Read(planOf(t, parsed.Body.(*hclsyntax.Body), attributesOf(t)))
	if err != nil || source.Document.Teams[0].Description != d.Teams[0].Description {
		t.Errorf("%v, %+v", err, source)
	}
}

// TestPlace: a finding names the resource and its attribute.
func TestPlace(t *testing.T) {
	s := &Source{policy: "module.g.awscc_sagemaker_cluster_scheduler_config.policy", teams: []string{"awscc_sagemaker_compute_quota.a", `awscc_sagemaker_compute_quota.b["x"]`}}
	for path, want := range map[string]string{
		"teams[0].quota[1].count":                     "awscc_sagemaker_compute_quota.a.compute_quota_config.compute_quota_resources[1].count",
		"teams[1].quota[0].memoryInGiB":               `awscc_sagemaker_compute_quota.b["x"].compute_quota_config.compute_quota_resources[0].memory_in_gi_b`,
		"teams[1].team":                               `awscc_sagemaker_compute_quota.b["x"].compute_quota_target.team_name`,
		"teams[0]":                                    "awscc_sagemaker_compute_quota.a",
		"policy.priorityClasses[2].name":              "module.g.awscc_sagemaker_cluster_scheduler_config.policy.scheduler_config.priority_classes[2].name",
		"policy":                                      "module.g.awscc_sagemaker_cluster_scheduler_config.policy",
		"teams[7].team":                               "",
		"teams[999999999999999999999].team":           "",
		"kueue.flavors[0]":                            "",
		"teams[0].quota[0].acceleratorPartition.type": "awscc_sagemaker_compute_quota.a.compute_quota_config.compute_quota_resources[0].accelerator_partition.type",
	} {
		if got := s.Place(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestRead: child modules are read, data sources are not; what cannot be a document is an
// error.
func TestRead(t *testing.T) {
	quota := `{"address": "module.t.awscc_sagemaker_compute_quota.a[0]", "mode": "managed", "type": "awscc_sagemaker_compute_quota",
		"values": {"name": "a", "description": null, "compute_quota_target": {"team_name": "a"}, "compute_quota_config": {"compute_quota_resources": [{"instance_type": "ml.p5.48xlarge", "count": 2, "v_cpu": null}]}}}`
	plan := `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"mode": "data", "type": "awscc_sagemaker_compute_quota", "values": {"name": 7}}],
		"child_modules": [{"resources": [` + quota + `]}]}}}`
	if !Is([]byte(plan)) || Is([]byte("version: hyperpod.policy/v1\n")) || Is([]byte(`{"version": "hyperpod.policy/v1"}`)) || Is(nil) {
		t.Error("Is")
	}
	s, err := Read([]byte(plan))
	if err != nil || len(s.Document.Teams) != 1 || *s.Document.Teams[0].Quota[0].Count != 2 || s.Place("teams[0]") != "module.t.awscc_sagemaker_compute_quota.a[0]" {
		t.Errorf("%+v, %v", s, err)
	}
	state := strings.Replace(plan, "planned_values", "values", 1)
	if s, err := Read([]byte(state)); err != nil || len(s.Document.Teams) != 1 {
		t.Errorf("a state: %+v, %v", s, err)
	}
	for _, bad := range []string{`{"format_version": "1.2", "planned_values": {}}`, strings.Replace(plan, `"count": 2`, `"count": "many"`, 1), "{"} {
		if _, err := Read([]byte(bad)); err == nil {
			t.Errorf("read: %s", bad)
		}
	}
}

// TestReadBlocks: the resource of the aws provider is read like that of awscc; places are in its terms. Its attributes
// are those of the provider's page.
func TestReadBlocks(t *testing.T) {
	values := `{"name": "a", "activation_state": "Disabled", "description": null, "region": "us-west-2", "tags": {"k": "v"},
		"compute_quota_target": [{"team_name": "a", "fair_share_weight": 300}],
		"compute_quota_config": [{"preempt_team_tasks": "Never", "resource_sharing_config": [{"strategy": "LendAndBorrow", "borrow_limit": 50, "absolute_borrow_limits": []}],
			"compute_quota_resources": [{"instance_type": "ml.p5.48xlarge", "count": 2, "accelerator_partition": []},
				{"instance_type": "ml.g5.12xlarge", "vcpu": 12.5, "memory_in_gib": 64}, {"instance_type": "ml.p4d.24xlarge", "accelerator_partition": [{"type": "mig-1g.5gb", "count": 3}]}]}]}`
	plan := func(values string) []byte {
		return []byte(`{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "aws_sagemaker_compute_quota.a", "mode": "managed", "type": "aws_sagemaker_compute_quota", "values": ` + values + `}]}}}`)
	}
	known := attributesOf(t)[BlockQuotaType]
	var names func(v any)
	names = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, of := range v {
				if name != "k" && !slices.Contains(known, name) {
					t.Errorf("%s has no attribute %s", BlockQuotaType, name)
				}
				names(of)
			}
		case []any:
			for _, of := range v {
				names(of)
			}
		}
	}
	var of any
	if err := json.Unmarshal([]byte(values), &of); err != nil {
		t.Fatal(err)
	}
	names(of)
	s, err := Read(plan(values))
	if err != nil {
		t.Fatal(err)
	}
	two, weight, limit, cpu, memory := 2, 300, 50, 12.5, 64.0
	want := []policy.Team{{Team: "a", Activation: "Disabled", FairShareWeight: &weight, PreemptTeamTasks: "Never", Strategy: policy.LendAndBorrow, BorrowLimit: &limit,
		Quota: []policy.Quota{{InstanceType: "ml.p5.48xlarge", Count: &two}, {InstanceType: "ml.g5.12xlarge", VCPU: &cpu, MemoryInGiB: &memory},
			{InstanceType: "ml.p4d.24xlarge", AcceleratorPartition: &policy.Partition{Type: "mig-1g.5gb", Count: 3}}}}}
	if diff := cmp.Diff(want, s.Document.Teams); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]string{
		"teams[0]":                                    "aws_sagemaker_compute_quota.a",
		"teams[0].team":                               "aws_sagemaker_compute_quota.a.compute_quota_target[0].team_name",
		"teams[0].quota[1].memoryInGiB":               "aws_sagemaker_compute_quota.a.compute_quota_config[0].compute_quota_resources[1].memory_in_gib",
		"teams[0].quota[1].vcpu":                      "aws_sagemaker_compute_quota.a.compute_quota_config[0].compute_quota_resources[1].vcpu",
		"teams[0].quota[2].acceleratorPartition.type": "aws_sagemaker_compute_quota.a.compute_quota_config[0].compute_quota_resources[2].accelerator_partition[0].type",
		"teams[0].borrowLimit":                        "aws_sagemaker_compute_quota.a.compute_quota_config[0].resource_sharing_config[0].borrow_limit",
	} {
		if got := s.Place(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	// The provider's default says nothing about a team that does not borrow; another limit does.
	for limit, want := range map[string]bool{"50": false, "60": true} {
		s, err := Read(plan(strings.NewReplacer("LendAndBorrow", "DontLend", `"borrow_limit": 50`, `"borrow_limit": `+limit).Replace(values)))
		if err != nil || (s.Document.Teams[0].BorrowLimit != nil) != want {
			t.Errorf("DontLend with %s: %+v, %v", limit, s, err)
		}
	}
	for _, bad := range []string{strings.Replace(values, `"count": 2`, `"count": "many"`, 1), `7`} {
		if _, err := Read(plan(bad)); err == nil {
			t.Errorf("read: %s", bad)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format_version": "1.2", "planned_values": {"root_module": {"child_modules": [{}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if Is(data) {
			if s, err := Read(data); err == nil {
				for _, x := range policy.Check(s.Document, nil, policy.Facts{}) {
					s.Place(x.Path)
				}
			}
		}
	})
}

// TestQuotaOfKueueAlone: Write leaves out a team whose quota only Kueue's fields have, and Unexpressed names it.
func TestQuotaOfKueueAlone(t *testing.T) {
	d, _, faults := policy.Parse([]byte(`version: hyperpod.policy/v1
teams:
- team: prod
  kueue: {clusterQueue: prod-cq, spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: g5, resources: [{name: cpu, nominalQuota: 4}]}]}]}}
- team: vision
  quota: [{instanceType: ml.g5.12xlarge, count: 1}]
  kueue: {clusterQueue: vision-cq}
- team: pool
`))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	text := string(Write(d))
	for name, want := range map[string]bool{"prod": false, "vision": true, "pool": true} {
		if strings.Contains(text, `resource "awscc_sagemaker_compute_quota" "`+name+`"`) != want {
			t.Errorf("team %s is a resource: %t, want %t", name, !want, want)
		}
	}
	if got, want := Unexpressed(d), []string{"team prod", "kueue of team vision"}; !slices.Equal(got, want) {
		t.Errorf("left out: %v, want %v", got, want)
	}
}
