package inputs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

const workloadText = `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w","namespace":"n","uid":"u","creationTimestamp":"2026-01-02T11:00:00Z","labels":{"kueue.x-k8s.io/job-uid":"j"},"annotations":{"a":"b"},"managedFields":[{"manager":"m"}],"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"o","uid":"j","controller":true}]},
"spec":{"active":true,"queueName":"q","priority":7,"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"p"},"maximumExecutionTimeSeconds":60,
"podSets":[{"name":"main","count":4,"minCount":2,"topologyRequest":{"required":"rack","podIndexLabel":"i"},"template":{"metadata":{"labels":{"x":"y"},"annotations":{"k":"v"}},"spec":{
"initContainers":[{"name":"side","restartPolicy":"Always","image":"i","resources":{"requests":{"cpu":"100m"}}}],
"containers":[{"name":"c","image":"i","command":["x"],"env":[{"name":"A","value":"1"}],"ports":[{"containerPort":80}],"resources":{"requests":{"cpu":"1500m","memory":"1Gi","nvidia.com/gpu":"8"},"limits":{"nvidia.com/gpu":"8"}}}],
"nodeSelector":{"t":"u"},"tolerations":[{"key":"k","operator":"Exists"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}]}}},
"overhead":{"cpu":"10m"},"priorityClassName":"pc","runtimeClassName":"rc","schedulingGates":[{"name":"g"}],"volumes":[{"name":"v"}]}}}]},
"status":{"admission":{"clusterQueue":"cq","podSetAssignments":[{"name":"main","count":4,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"6"},"topologyAssignment":{"levels":["rack"],"slices":[{"domainCount":1,"valuesPerLevel":[{"universal":"r1"}],"podCounts":{"universal":4}}]}}]},
"conditions":[{"type":"QuotaReserved","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-02T11:00:01Z"}],"requeueState":{"count":2,"requeueAt":"2026-01-02T12:30:00Z"},"admissionChecks":[{"name":"c","state":"Pending","message":"m","lastTransitionTime":"2026-01-02T11:00:01Z"}],"reclaimablePods":[{"name":"main","count":1}]}}`

// TestWholeObjects: what is read from the stream is what Kueue's own decoder makes
// of the object, without what is left out on purpose.
func TestWholeObjects(t *testing.T) {
	in := load(t, fixture.New(json.RawMessage(workloadText)).Client())
	if len(in.Workloads) != 1 {
		t.Fatalf("%d workloads", len(in.Workloads))
	}
	objs, err := decode.Objects([]byte(workloadText))
	if err != nil || len(objs) != 1 {
		t.Fatal(objs, err)
	}
	want := objs[0].(*kueue.Workload)
	want.ManagedFields = nil
	spec := &want.Spec.PodSets[0].Template.Spec
	spec.Volumes = nil
	spec.InitContainers[0].Image = ""
	spec.Containers[0].Image, spec.Containers[0].Command, spec.Containers[0].Env = "", nil, nil
	got := in.Workloads[0]
	got.TypeMeta = want.TypeMeta
	if !equality.Semantic.DeepEqual(got, want) {
		a, _ := json.MarshalIndent(got, "", " ")
		b, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

// TestOldServer: a server of v1beta1 gives the same.
func TestOldServer(t *testing.T) {
	old := fixture.New(
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"cq"},"spec":{"cohort":"all","namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"3","borrowingLimit":"1"}]}]}]}}`),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","metadata":{"name":"w","namespace":"n","managedFields":[{"manager":"m"}]},"spec":{"queueName":"q","priorityClassName":"p","priorityClassSource":"kueue.x-k8s.io/workloadpriorityclass","podSets":[{"name":"main","count":1,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}]}}`),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"LocalQueue","metadata":{"name":"q","namespace":"n"},"spec":{"clusterQueue":"cq"}}`),
	)
	old.KueueVersion = "v1beta1"
	in := load(t, old.Client())
	if len(in.ClusterQueues) != 1 || in.ClusterQueues[0].Spec.CohortName != "all" {
		t.Errorf("queues %+v", in.ClusterQueues)
	}
	if len(in.Workloads) != 1 || in.Workloads[0].Spec.PriorityClassRef == nil || in.Workloads[0].Spec.PriorityClassRef.Name != "p" || in.Workloads[0].ManagedFields != nil {
		t.Errorf("workloads %+v", in.Workloads)
	}
	if in.LocalQueue("n", "q") == nil || in.ClusterQueue("cq") == nil || in.ClusterQueue("none") != nil {
		t.Error("lookups")
	}
}

func TestFinished(t *testing.T) {
	s := fixture.New()
	s.Add(fixture.Team("t", "", 8, "", "")...)
	s.Add(fixture.Work("t", "runs", 1, 0, time.Hour, true))
	s.Add(json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"done","namespace":"t"},"status":{"conditions":[{"type":"Finished","status":"True","reason":"Succeeded","message":"","lastTransitionTime":"2026-01-02T11:00:01Z"}]}}`))
	s.Add(fixture.Pod("t", "runs", "n1", 1), json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"t"},"status":{"phase":"Succeeded"}}`))
	in := load(t, s.Client())
	if len(in.Workloads) != 1 || len(in.FinishedWorkloads) != 0 || len(in.Pods) != 1 {
		t.Errorf("%d workloads, %d finished, %d pods", len(in.Workloads), len(in.FinishedWorkloads), len(in.Pods))
	}
	all, err := inputs.Load(context.Background(), s.Client(), inputs.Options{Finished: true, SkipNodes: true}, fixture.Noon)
	if err != nil || len(all.FinishedWorkloads) != 1 || all.Pods != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if in.WorkloadOf("t", "uid-t-runs") == nil || in.WorkloadOf("t", "other") != nil {
		t.Error("the workload of a job")
	}
}

// member may read only namespace b and ClusterQueue b.
func member(s *fixture.Server) *fixture.Server {
	s.Forbid = func(verb, plural, namespace, name string) bool {
		switch {
		case namespace == "b" && plural != "localqueues":
			return false
		case plural == "resourceflavors" || plural == "workloadpriorityclasses":
			return false
		case plural == "clusterqueues" && name == "b", plural == "namespaces" && name == "b":
			return false
		}
		return true
	}
	return s
}

func only(names ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return names, nil }
}

// TestMember: with a team member's permissions, the own namespace and queue are
// read, and the rest is named as missing or assumed.
func TestMember(t *testing.T) {
	in, err := inputs.Load(context.Background(), member(fixture.LendThree()).Client(), inputs.Options{Namespaces: only("b")}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Workloads) != 1 || len(in.ClusterQueues) != 1 || len(in.Namespaces) != 1 || len(in.Flavors) != 1 || len(in.Pods) != 1 {
		t.Errorf("%d workloads, %d queues, %d namespaces, %d flavors, %d pods", len(in.Workloads), len(in.ClusterQueues), len(in.Namespaces), len(in.Flavors), len(in.Pods))
	}
	if q := in.LocalQueue("b", "queue"); q == nil || q.Spec.ClusterQueue != "b" {
		t.Errorf("local queue %+v", q)
	}
	if !in.Partial() || len(in.Assumed) == 0 {
		t.Errorf("assumed %v", in.Assumed)
	}
	missing := map[string]bool{}
	for _, m := range in.Missing {
		if m.Reason != state.Forbidden {
			t.Errorf("%s: %s", m.Resource.Plural, m.Reason)
		}
		missing[m.Resource.Plural] = true
	}
	for _, want := range []string{"clusterqueues", "localqueues", "workloads", "nodes", "namespaces", "cohorts"} {
		if !missing[want] {
			t.Errorf("%s is not missing: %v", want, missing)
		}
	}
	if in.Manager.Data != "" || in.Manager.State != inputs.ManagerForbidden {
		t.Errorf("manager %+v", in.Manager)
	}
}

// TestHiddenUsage: a queue that says more is reserved than the workloads one may
// read hold is not thought to have that free.
func TestHiddenUsage(t *testing.T) {
	s := fixture.New(fixture.Flavor("a100"),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"b"},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"8"}]}]}]},"status":{"flavorsReservation":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","total":"7"}]}]}}`))
	s.Add(fixture.Team("b", "", 0, "", "")[:2]...)
	s.Add(fixture.Work("b", "run-b", 4, 0, time.Hour, true), fixture.Work("c", "other", 3, 0, time.Hour, true))
	in, err := inputs.Load(context.Background(), member(s).Client(), inputs.Options{Namespaces: only("b")}, fixture.Noon)
	if err != nil {
		t.Fatal(err)
	}
	if free := in.Quota(in.Usage()).Available("b", "a100", "nvidia.com/gpu"); free != 1 {
		t.Errorf("%d free, want 1", free)
	}
}

// TestNothing: when nothing at all can be read, that is the error.
func TestNothing(t *testing.T) {
	s := fixture.LendThree()
	s.Forbid = func(string, string, string, string) bool { return true }
	_, err := inputs.Load(context.Background(), s.Client(), inputs.Options{}, fixture.Noon)
	if !kube.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
	none := fixture.New()
	none.KueueVersion = "none"
	in, err := inputs.Load(context.Background(), none.Client(), inputs.Options{}, fixture.Noon)
	if err != nil || in.Partial() {
		t.Errorf("without Kueue: %v", err)
	}
}

// TestRules: the configuration decides, with notes on what is unknown or not followed.
func TestRules(t *testing.T) {
	deployment := func(image string) any {
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"kueue-controller-manager","namespace":"kueue-system"},"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"p:v9.9.9"},{"name":"manager","image":%q}]}}}}`, image))
	}
	config := func(text string) any {
		return json.RawMessage(fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kueue-manager-config","namespace":"kueue-system"},"data":{"controller_manager_config.yaml":%q}}`, text))
	}
	for _, c := range []struct {
		name    string
		objects []any
		fair    bool
		known   bool
		version string
		codes   string
	}{
		{"nothing", nil, false, false, "", "ConfigurationUnknown"},
		{"fair sharing", []any{config(fixture.FairSharing), deployment("registry.example:5000/kueue:v0.19.2")}, true, true, "v0.19.2", ""},
		{"older", []any{config("apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nfairSharing: {enable: false}\n"), deployment("kueue:v0.18.1-eksbuild.1")}, false, true, "v0.18.1", "VersionDiffers"},
		{"no version", []any{config(fixture.FairSharing), deployment("kueue@sha256:abc")}, true, true, "", "VersionUnknown"},
		{"labels", []any{fixture.Rules(fixture.FairSharing)}, true, true, "v0.19.2", ""},
		{"devices", []any{config("resources: {deviceClassMappings: [{name: x}]}\n"), deployment("kueue:0.19.2")}, false, true, "v0.19.2", ""},
		{"no queue asks for it", []any{config("admissionFairSharing: {usageHalfLifeTime: 1h}\n"), deployment("kueue:0.19.2")}, false, true, "v0.19.2", ""},
		{"no YAML", []any{config("{"), deployment("kueue:v0.19.2")}, false, false, "v0.19.2", "ConfigurationUnknown"},
	} {
		in := load(t, fixture.New(c.objects...).Client())
		r := in.Rules()
		var codes []string
		for _, n := range r.Notes {
			codes = append(codes, n.Code)
		}
		if r.FairSharing != c.fair || r.Known != c.known || in.KueueVersion != c.version || strings.Join(codes, " ") != c.codes {
			t.Errorf("%s: fair %t, known %t, version %q, notes %v", c.name, r.FairSharing, r.Known, in.KueueVersion, r.Notes)
		}
	}
}

// TestEngineNotes: each fault of an object is noted once.
func TestEngineNotes(t *testing.T) {
	s := fixture.LendThree()
	s.Add(json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"x"},"spec":{"parentName":"y"}}`),
		json.RawMessage(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"y"},"spec":{"parentName":"x"}}`))
	_, notes, err := load(t, s.Client()).Engine(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(notes, func(n inputs.Note) bool { return n.Code == inputs.Invalid })
	if i < 0 || !strings.Contains(notes[i].Err.Error(), "cohorts form a cycle: x, y") {
		t.Errorf("notes %v", notes)
	}
}
