package kinds

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	for _, tt := range []struct {
		r          Resource
		ns, name   string
		sub        []string
		want       string
		full, vers string
	}{
		{Pod, "", "", nil, "/api/v1/pods", "pods", "v1"},
		{Pod, "a", "", nil, "/api/v1/namespaces/a/pods", "pods", "v1"},
		{Pod, "a", "x", []string{"log"}, "/api/v1/namespaces/a/pods/x/log", "pods", "v1"},
		{Node, "a", "x", nil, "/api/v1/nodes/x", "nodes", "v1"},
		{Namespace, "a", "", nil, "/api/v1/namespaces", "namespaces", "v1"},
		{PyTorchJob.Resource, "a", "x", nil, "/apis/kubeflow.org/v1/namespaces/a/pytorchjobs/x", "pytorchjobs.kubeflow.org", "kubeflow.org/v1"},
		{ClusterQueue, "a", "x", nil, "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/x", "clusterqueues.kueue.x-k8s.io", "kueue.x-k8s.io/v1beta2"},
		{Workload.WithVersion("v1beta1"), "", "", nil, "/apis/kueue.x-k8s.io/v1beta1/workloads", "workloads.kueue.x-k8s.io", "kueue.x-k8s.io/v1beta1"},
		{Resource{Group: "g", Version: "v1"}, "", "", nil, "/apis/g/v1", ".g", "g/v1"},
	} {
		if got := tt.r.Path(tt.ns, tt.name, tt.sub...); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		if tt.r.FullName() != tt.full || tt.r.GroupVersion() != tt.vers {
			t.Errorf("%s %s, want %s %s", tt.r.FullName(), tt.r.GroupVersion(), tt.full, tt.vers)
		}
	}
}

func TestVersions(t *testing.T) {
	if got := Workload.Versions(); !slices.Equal(got, []string{"v1beta2", "v1beta1"}) {
		t.Errorf("got %v", got)
	}
	if Workload.WithVersion("v1beta1").Version != "v1beta1" || Workload.Version != "v1beta2" {
		t.Error("WithVersion changes the table")
	}
	versions := Workload.Versions()
	versions[1] = "x"
	if Workload.Also[0] != "v1beta1" {
		t.Error("Versions hands out the table itself")
	}
}

// What must hold of every row, so that a new one cannot forget anything.
func TestTheTable(t *testing.T) {
	var all []Resource
	for _, r := range All() {
		all = append(all, r)
		if r.Version == "" || r.Plural != strings.ToLower(r.Plural) || r.Kind == "" || !strings.HasPrefix(r.Plural, strings.ToLower(r.Kind[:1])) {
			t.Errorf("%+v", r)
		}
		for _, s := range r.Short {
			if s == r.Plural || s != strings.ToLower(s) {
				t.Errorf("%s: short name %q", r.Kind, s)
			}
		}
	}
	names := map[string]string{}
	for _, r := range all {
		for _, n := range append([]string{r.FullName()}, r.Short...) {
			if other := names[n]; other != "" {
				t.Errorf("%s and %s are both called %q", r.Kind, other, n)
			}
			names[n] = r.Kind
		}
	}
	for _, j := range Jobs() {
		if j.PodLabel == "" && len(j.SelectorAt)+len(j.SelectorText) == 0 && !j.Itself || len(j.Roles) == 0 && j.RolesOf == nil && j.Runtime == nil && j.Form == nil || j.Operator == "" || !j.Namespaced {
			t.Errorf("%s lacks something: %+v", j.Kind, j)
		}
		for _, r := range j.Roles {
			if (len(r.Path) == 0 || len(r.Template) == 0) && !j.Itself {
				t.Errorf("%s has a role without path: %+v", j.Kind, r)
			}
		}
		if !slices.ContainsFunc(all, func(r Resource) bool { return reflect.DeepEqual(r, j.Resource) }) {
			t.Errorf("%s is not in All", j.Kind)
		}
	}
}

func TestLabelsOfOurOwn(t *testing.T) {
	for _, l := range []string{IdempotencyAnnotation, CreatedByAnnotation, TemplateAnnotation, DurationAnnotation} {
		if !strings.HasPrefix(l, "cli.hyperpod/") {
			t.Errorf("%s does not start with %s", l, OwnPrefix)
		}
	}
}
