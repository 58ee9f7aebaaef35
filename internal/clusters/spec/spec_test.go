package spec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const role4 = "arn:aws:iam::123456789012:role/hyperpod"

// good is a file that has no fault.
const good = `{
  "ClusterName": "ml",
  "InstanceGroups": [
    {"InstanceGroupName": "gpu", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2, "ExecutionRole": "` + role4 + `",
     "LifeCycleConfig": {"SourceS3Uri": "s3://bucket/x", "OnCreate": "on.sh"}}
  ]
}
`

func known(name string) bool { return name == "ml.p5.48xlarge" }

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name     string
		old, new string // replaced in good
		want     string // "LINE:COLUMN KIND PATH" of the faults
	}{
		{"good", "", "", ""},
		{"a tab in JSON", "  \"ClusterName\"", "\t\"ClusterName\"", ""},
		{"lower case is understood", "LifeCycleConfig", "lifecycleConfig", "5:6 Spelling InstanceGroups[0].lifecycleConfig"},
		{"an unknown member", "OnCreate", "OnStart", `5:58 UnknownMember InstanceGroups[0].LifeCycleConfig.OnStart`},
		{"a name", `"ml"`, `"m_l"`, "2:18 Pattern ClusterName"},
		{"an empty name", `"ml"`, `""`, "2:18 Length ClusterName"},
		{"a count in quotes", ": 2,", `: "2",`, "4:85 WrongType InstanceGroups[0].InstanceCount"},
		{"too many", ": 2,", ": 6759,", "4:85 Range InstanceGroups[0].InstanceCount"},
		{"a missing role", `, "ExecutionRole": "` + role4 + `"`, "", "4:5 Missing InstanceGroups[0]"},
		{"a new instance type", "ml.p5.48xlarge", "ml.p9.48xlarge", "4:50 UnknownInstance InstanceGroups[0].InstanceType"},
		{"no instance type", "ml.p5.48xlarge", "p5", "4:50 Pattern InstanceGroups[0].InstanceType"},
		{"neither type nor requirements", `"InstanceType": "ml.p5.48xlarge", `, "", "4:5 NoInstances InstanceGroups[0]"},
		{"a word", `"ClusterName"`, `"NodeRecovery": "automatic", "ClusterName"`, "2:19 UnknownWord NodeRecovery"},
		{"two storages", `"LifeCycleConfig"`, `"InstanceStorageConfigs": [{}], "LifeCycleConfig"`, "5:33 Union InstanceGroups[0].InstanceStorageConfigs[0]"},
		{"an empty list", `"ClusterName"`, `"VpcConfig": {"SecurityGroupIds": [], "Subnets": ["s-1"]}, "ClusterName"`, "2:37 Size VpcConfig.SecurityGroupIds"},
		{"a minimum above the count", `: 2,`, `: 2, "MinInstanceCount": 3,`, "4:108 MinCount InstanceGroups[0].MinInstanceCount"},
		{"a label", `"LifeCycleConfig"`, `"KubernetesConfig": {"Labels": {"-a": "b"}}, "LifeCycleConfig"`, "5:38 Pattern InstanceGroups[0].KubernetesConfig.Labels.-a"},
		{"no JSON", "{", "{{", "Syntax"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, faults := Parse([]byte(strings.Replace(good, tt.old, tt.new, 1)), Rules{Shape: CreateCluster(), Known: known})
			var got []string
			for _, f := range faults {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Kind, f.Path)))
			}
			if text := strings.Join(got, "\n"); text != tt.want && (tt.want != "Syntax" || !strings.Contains(text, "Syntax")) {
				t.Errorf("%s\nwant %s", text, tt.want)
			}
			if group, _ := doc["InstanceGroups"].([]any); tt.want == "" || tt.name == "lower case is understood" {
				if g, _ := group[0].(map[string]any); g["LifeCycleConfig"] == nil {
					t.Errorf("%v", doc)
				}
			}
		})
	}
}

// TestYAML: the same document in YAML is the same request.
func TestYAML(t *testing.T) {
	const text = `
ClusterName: ml
InstanceGroups:
- InstanceGroupName: gpu
  InstanceType: ml.p5.48xlarge
  InstanceCount: 2
  ExecutionRole: ` + role4 + `
  LifeCycleConfig: {SourceS3Uri: s3://bucket/x, OnCreate: on.sh}
`
	a, faults := Parse([]byte(text), Rules{Shape: CreateCluster()})
	b, more := Parse([]byte(good), Rules{Shape: CreateCluster()})
	if len(faults)+len(more) > 0 || !reflect.DeepEqual(a, b) {
		t.Errorf("%v %v\n%v\n%v", faults, more, a, b)
	}
}

// TestParseOfAnUpdate: groups that exist keep what the file leaves out; what cannot change
// is not sent.
func TestParseOfAnUpdate(t *testing.T) {
	const text = `
ClusterName: ml
VpcConfig: {}
InstanceGroups:
- {InstanceGroupName: gpu, InstanceCount: 4}
- {InstanceGroupName: new, InstanceCount: 4}
`
	r := Rules{Shape: UpdateCluster(), Exists: func(name string) bool { return name == "gpu" }, Fixed: []string{"VpcConfig"}}
	doc, faults := Parse([]byte(text), r)
	var got []Kind
	for _, f := range faults {
		got = append(got, f.Kind)
	}
	if !slices.Equal(got, []Kind{Fixed, Missing, NoInstances}) || doc["VpcConfig"] != nil {
		t.Errorf("%v %v", faults, doc)
	}
	for i, warning := range []bool{true, false, false} {
		if faults[i].IsWarning() != warning {
			t.Errorf("%s: a warning is %v", faults[i].Kind, !warning)
		}
	}
}

// TestFromDetails: a described group becomes a specification, with members that this
// version does not know.
func TestFromDetails(t *testing.T) {
	var details map[string]any
	if err := json.Unmarshal([]byte(`{"InstanceGroupName": "gpu", "CurrentCount": 1, "TargetCount": 2, "TargetStateCount": 2, "MinCount": 1, "Status": "Updating",
		"InstanceType": "", "InstanceRequirements": {"CurrentInstanceTypes": ["a"], "DesiredInstanceTypes": ["a", "b"]}, "CurrentImageId": "ami-1",
		"KubernetesConfig": {"CurrentLabels": {"a": "1"}, "DesiredLabels": {"a": "2"}, "CurrentTaints": []}, "FutureConfig": {"Deep": [1, {"x": null}]}}`), &details); err != nil {
		t.Fatal(err)
	}
	got := FromDetails(details)
	want := map[string]any{"InstanceGroupName": "gpu", "InstanceCount": 2.0, "MinInstanceCount": 1.0,
		"InstanceRequirements": map[string]any{"InstanceTypes": []any{"a", "b"}},
		"KubernetesConfig":     map[string]any{"Labels": map[string]any{"a": "2"}, "Taints": []any{}},
		"ImageId":              "ami-1",
		"FutureConfig":         map[string]any{"Deep": []any{1.0, map[string]any{"x": nil}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	after := Merge(got, map[string]any{"InstanceCount": int64(3), "InstanceType": "ml.p5.48xlarge"})
	changes := Diff(got, after)
	wanted := []Change{{"InstanceCount", "2", "3"}, {"InstanceRequirements.InstanceTypes[0]", "a", ""}, {"InstanceRequirements.InstanceTypes[1]", "b", ""}, {"InstanceType", "", "ml.p5.48xlarge"}}
	if !reflect.DeepEqual(changes, wanted) {
		t.Errorf("%v", changes)
	}
}

// TestOwnImage: the image of a group that follows HyperPod's releases stays unnamed; any
// other is sent back, the one that is to be before the one that is.
func TestOwnImage(t *testing.T) {
	for _, c := range []struct {
		details map[string]any
		want    any
	}{
		{map[string]any{"CurrentImageId": "ami-1", "DesiredImageId": "ami-2"}, "ami-2"},
		{map[string]any{"CurrentImageId": "ami-1"}, "ami-1"},
		{map[string]any{"CurrentImageId": "ami-1", "DesiredImageId": "ami-1", "ImageVersionStatus": "UpToDate"}, nil},
		{map[string]any{}, nil},
	} {
		if got := FromDetails(c.details)["ImageId"]; got != c.want {
			t.Errorf("%v: %v, want %v", c.details, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("ClusterName: [1]\nInstanceGroups: {a: b}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, faults := Parse(data, Rules{Shape: CreateCluster(), Known: known})
		if doc == nil && len(faults) == 0 {
			t.Error("neither a document nor a fault")
		}
		for _, x := range faults {
			if x.Line < 1 || x.Column < 1 {
				t.Errorf("%+v has no place", x)
			}
		}
		if !slices.ContainsFunc(faults, func(f Fault) bool { return !f.IsWarning() }) {
			if _, err := json.Marshal(doc); err != nil {
				t.Error(err)
			}
		}
	})
}
