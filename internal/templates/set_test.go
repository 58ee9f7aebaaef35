package templates

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/render"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

func TestParseAssignment(t *testing.T) {
	for text, want := range map[string]fieldpath.Assignment{
		"a=b":                        {Key: "a", Value: "b"},
		"a=":                         {Key: "a", Value: ""},
		"a=b=c":                      {Key: "a", Value: "b=c"},
		" a.b =c":                    {Key: "a.b", Value: "c"},
		`metadata.labels."x=y/z"=1`:  {Key: `metadata.labels."x=y/z"`, Value: "1"},
		`metadata.labels['x=y']=1`:   {Key: `metadata.labels['x=y']`, Value: "1"},
		`spec.containers[0].image=i`: {Key: "spec.containers[0].image", Value: "i"},
	} {
		if got, err := fieldpath.ParseAssignment(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "a", "=b", `"a=b`} {
		if _, err := fieldpath.ParseAssignment(bad); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAssign(t *testing.T) {
	fresh := func() map[string]any {
		return map[string]any{"a": map[string]any{"list": []any{"x", map[string]any{"k": int64(1)}}, "text": "t"}}
	}
	for _, c := range []struct{ path, value, at, want string }{
		{"a.text", "5", "a.text", "5"},
		{"a.new.deep", "true", "a.new.deep", "true"},
		{"a.list[0]", "y", "a.list[0]", "y"},
		{"a.list[1].k", "2", "a.list[1].k", "2"},
		{"a.list[2]", "end", "a.list[2]", "end"},
		{"a.list[2].k", "end", "a.list[2].k", "end"},
		{"b[0].c[0]", "1", "b[0].c[0]", "1"},
		{`a."dotted.key"`, "1", `a["dotted.key"]`, "1"},
		{`a["dotted.key"].x`, "1", `a."dotted.key".x`, "1"},
		{`a['it]s']`, "1", `a."it]s"`, "1"},
		{"a.list", "[1, 2]", "a.list[1]", "2"},
		{"a.map", "{k: v}", "a.map.k", "v"},
		{"a.text", "''", "a.text", ""},
		{"a.text", "", "a.text", ""},
		{"a.text", "null", "a.text", ""},
		{"a.list[0]", "null", "a.list[0].k", "1"},
	} {
		o := fresh()
		v, err := plain(fieldpath.Assignment{Key: c.path, Value: c.value})
		if err == nil {
			err = fieldpath.Set(o, c.path, v)
		}
		if err != nil {
			t.Errorf("%s=%s: %v", c.path, c.value, err)
			continue
		}
		if got := manifest.TextOf(at(t, o, c.at)); got != c.want {
			t.Errorf("%s=%s: %s is %q, want %q", c.path, c.value, c.at, got, c.want)
		}
	}
	for _, bad := range []string{"", ".", "a.", "a..b", "[0]", "a[", "a[x]", "a[-1]", "a[0", `a."x`, `a["x]`, "a[0]b", `"a"b`, "a.text.x", "a.list[9]", "a.list.x", "a.text[0]", "a[99999999999]"} {
		o := fresh()
		if err := fieldpath.Set(o, bad, "v"); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v", bad, err)
		}
		if !reflect.DeepEqual(o, fresh()) {
			t.Errorf("%q changed the object", bad)
		}
	}
	if _, err := plain(fieldpath.Assignment{Key: "a", Value: "{x: "}); errs.ExitOf(err) != errs.Usage {
		t.Errorf("a broken value: %v", err)
	}
}

// Values of --set take the type of the field they are for.
func TestSetTakesTheFieldsType(t *testing.T) {
	v := values.Values{Name: "d", Image: "i", EntryScript: "t.py", Set: []fieldpath.Assignment{
		{Key: "metadata.labels.run", Value: "7"}, {Key: `metadata.annotations."example.com/on"`, Value: "true"}, {Key: "spec.runPolicy.backoffLimit", Value: "3"},
		{Key: "spec.nprocPerNode", Value: "4"}, {Key: workerContainer + ".resources.limits.memory", Value: "16Gi"}, {Key: workerContainer + ".stdin", Value: "yes"},
		{Key: workerPod + ".tolerations", Value: "[{key: a, operator: Exists}]"}, {Key: "SCRIPT_ARGS", Value: "--a 'b c'"}, {Key: workerContainer + ".securityContext", Value: "null"},
	}}
	o := rendered(t, "pytorch", v).Objects[0]
	for path, want := range map[string]any{
		"metadata.labels.run": "7", `metadata.annotations["example.com/on"]`: "true", "spec.runPolicy.backoffLimit": int64(3),
		"spec.nprocPerNode": "4", workerContainer + ".resources.limits.memory": "16Gi", workerContainer + ".stdin": true,
		workerPod + ".tolerations[0].operator": "Exists", workerContainer + ".args[4]": "b c", workerContainer + ".securityContext": nil,
	} {
		if got := at(t, o, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, want %#v", path, got, want)
		}
	}
}

func TestParseSelector(t *testing.T) {
	both := values.Selector{Required: map[string][]string{"a": {"1"}, "b": {"2", "3"}}}
	for text, want := range map[string]values.Selector{
		`{"a": "1", "b": ["2", "3"]}`:               both,
		`{"required": {"a": "1", "b": ["2", "3"]}}`: both,
		"a=1,b=2,b=3":   both,
		"a==1, b=2,b=3": both,
		`{"preferred": {"a": ["1"]}, "weights": [5]}`:    {Preferred: map[string][]string{"a": {"1"}}, Weights: []int{5}},
		`{"example.com/a": "", "required-thing": ["x"]}`: {Required: map[string][]string{"example.com/a": {""}, "required-thing": {"x"}}},
	} {
		if got, err := values.ParseSelector(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "a", "=b", "{", "{}x", `{"a": 1}`, `{"a": []}`, `{"required": {"a": "1"}, "more": 1}`, `{"required": 5}`,
		`{"preferred": {"a": "1"}, "weights": [0]}`, `{"preferred": {"a": "1"}, "weights": [1, 2]}`, `{"weights": "x"}`, "a b=c", "a=b c", `{"a/b/c": "x"}`} {
		if _, err := values.ParseSelector(bad); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestParseVolumes(t *testing.T) {
	got, err := values.ParseVolumes(
		[]string{"a:/h:/m,b:/h2:/m2:ro", "name=c,type=pvc,mount_path=/m3,claim_name=x,read_only=true", "name=d,type=emptyDir,mount_path=/m4,medium=memory,size=16Gi", "name=e,type=hostPath,mount-path=/m5,path=/h3"},
		[]string{"claim.one:/m6,two:/m7:ro"})
	want := []values.Volume{
		{Name: "a", Type: values.HostPath, Path: "/h", MountPath: "/m"}, {Name: "b", Type: values.HostPath, Path: "/h2", MountPath: "/m2", ReadOnly: true},
		{Name: "c", Type: values.PVC, Claim: "x", MountPath: "/m3", ReadOnly: true}, {Name: "d", Type: values.EmptyDir, MountPath: "/m4", Memory: true, Size: "16Gi"},
		{Name: "e", Type: values.HostPath, Path: "/h3", MountPath: "/m5"}, {Type: values.PVC, Claim: "claim.one", MountPath: "/m6"}, {Type: values.PVC, Claim: "two", MountPath: "/m7", ReadOnly: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if name := got[5].VolumeName(); name != "claim-one-volume" {
		t.Errorf("the claim's volume is named %s", name)
	}
	if name := (values.Volume{Claim: strings.Repeat("a", 253)}).VolumeName(); len(name) > 63 {
		t.Errorf("a volume's name of %d letters", len(name))
	}
	for _, bad := range []struct {
		volume, claim, want string
	}{
		{volume: "a", want: "name:/host/path:/mount/path"}, {volume: "a:/h", want: "parts"}, {volume: "a:/h:/m:rx", want: "parts"}, {volume: "A:/h:/m", want: `"A"`},
		{volume: "a:h:/m", want: "host path"}, {volume: "a:/h/../..:/m", want: "host path"}, {volume: "a:/h:m", want: "mount path"},
		{volume: "name=a,type=nfs,mount_path=/m", want: "nfs"}, {volume: "name=a,mount_path=/m", want: "type"}, {volume: "name=a,type=pvc,mount_path=/m", want: "claim"},
		{volume: "name=a,type=pvc,mount_path=/m,claim_name=c,path=/x", want: "does not apply"}, {volume: "name=a,type=emptyDir,mount_path=/m,size=x", want: "quantity"},
		{volume: "name=a,typ=pvc", want: `did you mean "type"`}, {volume: "name=a,read_only=maybe", want: "read_only"}, {volume: "name=a,x", want: "KEY=VALUE"},
		{volume: "name=a,type=emptyDir,mount_path=/m,medium=disk", want: "medium"},
		{claim: "c", want: "claim:/mount/path"}, {claim: "c:m", want: "mount path"}, {claim: "C:/m", want: `"C"`}, {claim: "c:/m:x", want: "parts"},
		{volume: "a:/h:/m,b:/h:/m", want: "mounted at /m"}, {volume: "a:/h:/m,a:/g:/n", want: "named"},
	} {
		var volumes, claims []string
		if bad.volume != "" {
			volumes = []string{bad.volume}
		} else {
			claims = []string{bad.claim}
		}
		if _, err := values.ParseVolumes(volumes, claims); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), bad.want) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestParseEnvironment(t *testing.T) {
	got, err := values.ParseEnvironment([]string{"A=1=2", `{"B": "x", "C": 3, "D": true, "F": 1.50}`, "A=last"})
	want := map[string]string{"A": "last", "B": "x", "C": "3", "D": "true", "F": "1.50"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"hunter2", "=hunter2", `{"A": ["hunter2"]}`, `{"A": "hunter2"`} {
		_, err := values.ParseEnvironment([]string{bad})
		if errs.ExitOf(err) != errs.Usage {
			t.Errorf("%s: %v", bad, err)
		} else if strings.Contains(errs.Text(err, true), "hunter2") {
			t.Errorf("the value is in the error: %v", err)
		}
	}
	if got, err := values.ParseAssignments([]string{"a=1", "b=2"}); err != nil || len(got) != 2 || got[1] != (fieldpath.Assignment{Key: "b", Value: "2"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := values.ParseAssignments([]string{"a=1", "b"}); err == nil {
		t.Error("b was accepted")
	}
}

// A name that means nothing is answered with what it may mean: the flag, the fields
// of the manifest, and the ones that its kind could have.
func TestUnknownNames(t *testing.T) {
	tm := mustParse(t, `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: j}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: pytorch, image: i}]}}
`)
	for key, want := range map[string]string{
		"backofLimit":              "spec.runPolicy.backoffLimit",
		"replicas":                 "spec.pytorchReplicaSpecs.Worker.replicas",
		"NODE_COUNT":               "--node-count 7",
		"image":                    "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].image",
		"nodeSelector":             "spec.pytorchReplicaSpecs.Worker.template.spec.nodeSelector",
		"runPolicy.backoffLimit":   "spec.runPolicy.backoffLimit",
		"Worker.replicas":          "spec.pytorchReplicaSpecs.Worker.replicas",
		"specs.nprocPerNode":       `did you mean "spec"`,
		"zzz":                      "the path of any field",
		"spec.runPolicy.suspended": `did you mean "suspend"`,
	} {
		_, err := render.Objects(tm, values.Values{Name: "j", Set: []fieldpath.Assignment{{Key: key, Value: "7"}}})
		if text := errs.Text(err, false); errs.ExitOf(err) != errs.Usage || !strings.Contains(text, want) {
			t.Errorf("--set %s=7: %s want %q", key, text, want)
		}
	}
}

// plain is the value of an assignment without its lines.
func plain(a fieldpath.Assignment) (any, error) {
	n, err := a.Parsed()
	if n == nil || err != nil {
		return nil, err
	}
	return n.Plain(), nil
}
