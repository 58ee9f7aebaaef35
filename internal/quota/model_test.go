package quota

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"k8s.io/apimachinery/pkg/api/resource"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func cond(kind, status string, ago time.Duration) state.Condition {
	return state.Condition{Type: kind, Status: status, Reason: kind, LastTransitionTime: noon.Add(-ago)}
}

// running is an admitted workload of some GPUs of flavor "f" in a queue's namespace.
func running(queue string, gpus int64) state.Workload {
	return state.Workload{Meta: state.Meta{Name: fmt.Sprint(queue, "-", gpus), Namespace: "ns-" + queue}, Active: true, QueueName: "lq",
		Conditions: []state.Condition{cond(QuotaReserved, "True", time.Hour), cond(Admitted, "True", time.Hour)},
		PodSets:    []state.PodSet{{Name: "main", Count: 1, Requests: state.Amounts{gpu: gpus}}},
		Admission: &state.Admission{ClusterQueue: queue, PodSets: []state.PodSetAssignment{{Name: "main", Count: 1, Flavors: map[string]string{gpu: "f"},
			Usage: map[string]string{gpu: fmt.Sprint(gpus)}}}}}
}

// waiting is one that waits, of pods each asking for some GPUs.
func waiting(queue string, pods, gpus int64) state.Workload {
	return state.Workload{Meta: state.Meta{Name: fmt.Sprint(queue, "-waits-", gpus), Namespace: "ns-" + queue}, Active: true, QueueName: "lq",
		PodSets: []state.PodSet{{Name: "main", Count: pods, Requests: state.Amounts{gpu: gpus}}}}
}

func local(queue string) state.LocalQueue {
	return state.LocalQueue{Meta: state.Meta{Name: "lq", Namespace: "ns-" + queue}, ClusterQueue: queue}
}

func flavor(name string) state.ResourceFlavor {
	return state.ResourceFlavor{Meta: state.Meta{Name: name}, NodeLabels: map[string]string{kinds.InstanceTypeLabel: "ml.p5.48xlarge"}}
}

func gpuNode(name, health string, gpus int64) state.Node {
	n := state.Node{Meta: state.Meta{Name: name, Labels: map[string]string{kinds.InstanceTypeLabel: "ml.p5.48xlarge", NodeGroupLabel: "workers"}}, Ready: true,
		Capacity: state.Amounts{gpu: gpus}, Allocatable: state.Amounts{gpu: gpus}}
	if health != "" {
		n.Labels[kinds.NodeHealthLabel] = health
	}
	return n
}

func forbidden(r kinds.Resource) state.Missing {
	return state.Missing{Resource: r, Verb: "list", Reason: state.Forbidden}
}

// text writes figures in one line; ? is not known.
func text(f Figures, pending *int64) string {
	n := func(p *int64) string {
		if p == nil {
			return "?"
		}
		return fmt.Sprint(*p)
	}
	return fmt.Sprintf("nominal %d reserved %d used %d borrowed %s over %s lent %s limit %s free %s borrowable %s pending %s", f.Nominal, f.Reserved, f.Used,
		n(f.Borrowed), n(f.Overcommit), n(f.Lent), n(f.Limit), n(f.Free), n(f.Borrowable), n(pending))
}

func codes(r *Report) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, p.Code+":"+p.Subject)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestBuild(t *testing.T) {
	checked := running("a", 2) // quota reserved, admission checks not passed
	checked.Conditions = checked.Conditions[:1]
	done := running("a", 5)
	done.Conditions = append(done.Conditions, cond(Finished, "True", 0))
	off := running("a", 5)
	off.Active = false
	shrunk := running("b", 8) // 4 pods, one of which has given back its 2
	shrunk.PodSets[0].Count, shrunk.Admission.PodSets[0].Count, shrunk.Reclaimable = 4, 4, map[string]int64{"main": 1}

	base := func() *state.State {
		return &state.State{Taken: noon, ClusterQueues: []state.ClusterQueue{queue("a", "pool", 12, 6, -1), queue("b", "pool", 4, 4, -1)},
			LocalQueues: []state.LocalQueue{local("a"), local("b")}, Flavors: []state.ResourceFlavor{flavor("f")}}
	}
	for _, c := range []struct {
		name     string
		change   func(*state.State)
		want     map[string]string
		problems string
	}{
		{"john and smith", func(s *state.State) {
			s.Workloads = []state.Workload{running("a", 8), running("b", 8), waiting("b", 2, 3)}
		}, map[string]string{
			"a": "nominal 12 reserved 8 used 8 borrowed 0 over 0 lent 4 limit 16 free 0 borrowable 0 pending 0",
			"b": "nominal 4 reserved 8 used 8 borrowed 4 over 0 lent 0 limit 8 free 0 borrowable 0 pending 6"}, ""},
		{"what counts", func(s *state.State) { s.Workloads = []state.Workload{checked, done, off, shrunk} }, map[string]string{
			"a": "nominal 12 reserved 2 used 0 borrowed 0 over 0 lent 2 limit 16 free 8 borrowable 0 pending 0",
			"b": "nominal 4 reserved 6 used 6 borrowed 2 over 0 lent 0 limit 8 free 0 borrowable 2 pending 0"}, ""},
		{"quota lowered below use", func(s *state.State) {
			s.ClusterQueues[0] = queue("a", "pool", 2, 6, -1)
			s.Workloads = []state.Workload{running("a", 8), running("b", 1)}
		}, map[string]string{
			"a": "nominal 2 reserved 8 used 8 borrowed 3 over 3 lent 0 limit 6 free 0 borrowable 0 pending 0",
			"b": "nominal 4 reserved 1 used 1 borrowed 0 over 0 lent 3 limit 6 free 0 borrowable 0 pending 0"}, "Overcommitted:a"},
		{"lowered without a cohort", func(s *state.State) {
			s.ClusterQueues = []state.ClusterQueue{queue("a", "", 2, -1, -1)}
			s.LocalQueues = s.LocalQueues[:1]
			s.Workloads = []state.Workload{running("a", 8)}
		}, map[string]string{"a": "nominal 2 reserved 8 used 8 borrowed 0 over 6 lent 0 limit 2 free 0 borrowable 0 pending 0"}, "Overcommitted:a"},
		{"a member sees the own queue", func(s *state.State) {
			s.ClusterQueues = s.ClusterQueues[1:]
			s.ClusterQueues[0].Reservation = []state.FlavorUsage{{Name: "f", Resources: []state.ResourceUsage{{Name: gpu, Total: resource.MustParse("3")}}}}
			s.ClusterQueues[0].Pending = 1
			s.LocalQueues = nil
			s.Workloads = []state.Workload{}
			s.Missing = []state.Missing{forbidden(kinds.ClusterQueue), forbidden(kinds.Cohort), forbidden(kinds.Workload), forbidden(kinds.LocalQueue)}
		}, map[string]string{"b": "nominal 4 reserved 3 used 0 borrowed 0 over 0 lent ? limit ? free ? borrowable ? pending ?"}, ""},
		{"a member of a team that neither lends nor borrows", func(s *state.State) {
			s.ClusterQueues = []state.ClusterQueue{queue("b", "alone", 4, 0, 0)}
			s.Workloads = nil
			s.Missing = []state.Missing{forbidden(kinds.ClusterQueue), forbidden(kinds.Cohort), forbidden(kinds.Workload)}
		}, map[string]string{"b": "nominal 4 reserved 0 used 0 borrowed 0 over 0 lent 0 limit 4 free 4 borrowable 0 pending 0"}, ""},
		{"no resource groups", func(s *state.State) { s.ClusterQueues[1].ResourceGroups = nil }, map[string]string{
			"a": "nominal 12 reserved 0 used 0 borrowed 0 over 0 lent 0 limit 12 free 12 borrowable 0 pending 0", "b": ""}, "NoQuota:b"},
		{"a flavor nobody defines", func(s *state.State) { s.Flavors = nil }, map[string]string{
			"a": "nominal 12 reserved 0 used 0 borrowed 0 over 0 lent 0 limit 16 free 12 borrowable 4 pending 0"}, "UndefinedFlavor:a UndefinedFlavor:b"},
		{"flavors that may not be read are not missed", func(s *state.State) {
			s.Flavors, s.Missing = nil, []state.Missing{forbidden(kinds.ResourceFlavor)}
		}, nil, ""},
		{"a cohort that names itself", func(s *state.State) { s.Cohorts = []state.Cohort{cohort("pool", "pool", 5, -1, -1)} }, map[string]string{
			"a": "nominal 12 reserved 0 used 0 borrowed 0 over 0 lent 0 limit 0 free 0 borrowable 0 pending 0"}, "CohortCycle:pool CohortCycle:pool"},
		{"a LocalQueue to a missing ClusterQueue", func(s *state.State) {
			s.LocalQueues = append(s.LocalQueues, local("nowhere"))
			s.Workloads = []state.Workload{waiting("nowhere", 1, 4)}
		}, nil, "MissingClusterQueue:ns-nowhere/lq"},
		{"a workload in no queue", func(s *state.State) { s.Workloads = []state.Workload{waiting("lost", 1, 4)} }, nil, "LostWorkloads:"},
		{"a deleted team with running jobs", func(s *state.State) { s.Workloads = []state.Workload{running("gone", 8)} }, map[string]string{
			"gone": "nominal 0 reserved 8 used 8 borrowed 0 over 8 lent 0 limit 0 free 0 borrowable 0 pending 0"}, "QueueDeleted:gone"},
		{"a deleted team with jobs in two flavors, and one that waits", func(s *state.State) {
			other := running("gone", 3)
			other.Admission.PodSets[0].Flavors[gpu] = "g"
			s.LocalQueues = append(s.LocalQueues, local("gone"))
			s.Workloads = []state.Workload{running("gone", 8), other, waiting("gone", 2, 2)}
		}, map[string]string{
			"gone": "nominal 0 reserved 11 used 11 borrowed 0 over 11 lent 0 limit 0 free 0 borrowable 0 pending 4"}, "MissingClusterQueue:ns-gone/lq QueueDeleted:gone"},
		{"a stopped queue gets nothing", func(s *state.State) { s.ClusterQueues[1].StopPolicy = "HoldAndDrain" }, map[string]string{
			"b": "nominal 4 reserved 0 used 0 borrowed 0 over 0 lent 0 limit 8 free 0 borrowable 0 pending 0"}, "QueueStopped:b"},
		{"an inactive queue", func(s *state.State) {
			s.ClusterQueues[1].Conditions = []state.Condition{{Type: "Active", Status: "False", Reason: "FlavorNotFound"}}
		}, nil, "QueueInactive:b"},
		{"more quota than nodes", func(s *state.State) { s.Nodes = []state.Node{gpuNode("n", "Schedulable", 8)} }, nil, "OverCapacity:ml.p5.48xlarge"},
		{"nodes enough", func(s *state.State) {
			s.Nodes = []state.Node{gpuNode("n", "Schedulable", 8), gpuNode("m", "", 8)}
		}, nil, ""},
		{"more quota than healthy nodes", func(s *state.State) {
			s.Nodes = []state.Node{gpuNode("n", "Schedulable", 8), gpuNode("m", "Unschedulable", 8)}
		}, nil, "OverCapacity:ml.p5.48xlarge"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := base()
			c.change(s)
			r := Build(s)
			for name, want := range c.want {
				at := slices.IndexFunc(r.Teams, func(t Team) bool { return t.Name == name })
				if at < 0 {
					t.Fatalf("there is no team %s in %+v", name, r.Teams)
				}
				row, ok := r.Teams[at].Of(gpu)
				got := ""
				if ok {
					got = text(row.Figures, row.Pending)
				}
				if got != want {
					t.Errorf("%s:\n got %s\nwant %s", name, got, want)
				}
			}
			if got := codes(r); got != c.problems {
				t.Errorf("problems %q, want %q: %+v", got, c.problems, r.Problems)
			}
			if _, err := json.Marshal(r.Document(r.Resources(true), r.Teams)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDecoded goes through the API's JSON: quantities as people write them, both
// API versions.
func TestDecoded(t *testing.T) {
	for _, cohortField := range []string{"cohortName", "cohort"} {
		var q struct {
			Spec struct {
				ResourceGroups []state.ResourceGroup `json:"resourceGroups"`
			} `json:"spec"`
		}
		data := fmt.Sprintf(`{"metadata":{"name":"q"},"spec":{%q:"pool","resourceGroups":[
			{"coveredResources":["cpu","memory"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"1500m"},{"name":"memory","nominalQuota":"16Gi","borrowingLimit":"1.5Gi"}]}]},
			{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"g","resources":[{"name":"nvidia.com/gpu","nominalQuota":"0"}]}]}]}}`, cohortField)
		if err := kube.Decode([]byte(data), &q); err != nil {
			t.Fatal(err)
		}
		r := Build(&state.State{Taken: noon, ClusterQueues: []state.ClusterQueue{{Meta: state.Meta{Name: "q"}, Cohort: "pool", ResourceGroups: q.Spec.ResourceGroups}}})
		got := map[string]string{}
		for _, row := range r.Teams[0].Resources {
			got[row.Resource] = Text(row.Resource, row.Nominal)
		}
		if got["cpu"] != "1.5" || got["memory"] != "16Gi" || got["nvidia.com/gpu"] != "0" {
			t.Errorf("%v", got)
		}
		if limit := r.Teams[0].Resources[slices.IndexFunc(r.Teams[0].Resources, func(r ResourceRow) bool { return r.Resource == "memory" })].Flavors[0].BorrowingLimit; *limit != 3<<29 {
			t.Errorf("borrowing limit %d", *limit)
		}
	}
}

func TestNames(t *testing.T) {
	for queue, want := range map[string]string{
		"hyperpod-ns-ml-engineers-clusterqueue": "ml-engineers", "cluster-queue": "cluster-queue", "hyperpod-ns--clusterqueue": "hyperpod-ns--clusterqueue",
		"hyperpod-ns-idle-resource-sharing-cq-0": "idle-resource-sharing-cq-0", "hyperpod-ns-x": "hyperpod-ns-x", "研究": "研究",
	} {
		if got := TeamOf(queue); got != want {
			t.Errorf("TeamOf(%s) = %s", queue, got)
		}
	}
	two := Build(&state.State{ClusterQueues: []state.ClusterQueue{queue("hyperpod-ns-t-clusterqueue", "", 1, -1, -1), queue("hyperpod-ns-idle-resource-sharing-0", "", 1, -1, -1)},
		LocalQueues: []state.LocalQueue{{Meta: state.Meta{Name: "a", Namespace: "z"}, ClusterQueue: "hyperpod-ns-t-clusterqueue"},
			{Meta: state.Meta{Name: "b", Namespace: "y"}, ClusterQueue: "hyperpod-ns-t-clusterqueue"}}})
	if fmt.Sprint(two.Teams[0].Namespaces) != "[y z]" || !two.Teams[1].IdleSharing {
		t.Errorf("%+v", two.Teams)
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		resource string
		n        int64
		want     string
	}{
		{"cpu", 1500, "1.5"}, {"cpu", 192000, "192"}, {"memory", 16 << 30, "16Gi"}, {"memory", 2048 << 30, "2048Gi"}, {"memory", 12 << 40, "12Ti"},
		{"memory", 3 << 29, "1.5Gi"}, {"memory", 100, "100"}, {gpu, 8, "8"}, {gpu, Unlimited, "unlimited"}, {"memory", -1 << 30, "-1Gi"},
	} {
		if got := Text(c.resource, c.n); got != c.want {
			t.Errorf("Text(%s, %d) = %s, want %s", c.resource, c.n, got, c.want)
		}
	}
	for name, want := range map[string]float64{"nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 1.0 / 7, "nvidia.com/mig-3g.40gb": 3.0 / 7, "nvidia.com/mig-7g.80gb": 1} {
		if got, ok := GPUs(name); !ok || got != want {
			t.Errorf("GPUs(%s) = %v", name, got)
		}
	}
	for _, name := range []string{"cpu", "aws.amazon.com/neurondevice", "nvidia.com/mig-", "nvidia.com/mig-9g.1gb", "nvidia.com/mig-xg.1gb"} {
		if got, ok := GPUs(name); ok {
			t.Errorf("GPUs(%s) = %v", name, got)
		}
	}
}

func TestShortNames(t *testing.T) {
	got := ShortNames([]string{gpu, "amd.com/gpu", "cpu", "aws.amazon.com/neurondevice", "nvidia.com/mig-1g.10gb"})
	want := map[string]string{gpu: gpu, "amd.com/gpu": "amd.com/gpu", "cpu": "cpu", "aws.amazon.com/neurondevice": "neurondevice", "nvidia.com/mig-1g.10gb": "mig-1g.10gb"}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestFindResource(t *testing.T) {
	all := []string{"aws.amazon.com/neurondevice", "cpu", "memory", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "vpc.amazonaws.com/efa"}
	for name, want := range map[string]string{"gpu": "nvidia.com/gpu", "GPU": "nvidia.com/gpu", "nvidia.com/gpu": "nvidia.com/gpu", "mem": "memory", "efa": "vpc.amazonaws.com/efa",
		"mig-1g.10gb": "nvidia.com/mig-1g.10gb", "neurondevice": "aws.amazon.com/neurondevice", "tpu": "", "": ""} {
		if got, ok := FindResource(name, all); got != want || ok != (want != "") {
			t.Errorf("FindResource(%q) = %q", name, got)
		}
	}
	if got := MainResources(all); fmt.Sprint(got) != "[aws.amazon.com/neurondevice nvidia.com/gpu nvidia.com/mig-1g.10gb]" {
		t.Errorf("MainResources: %v", got)
	}
	if got := MainResources([]string{"cpu", "memory", "pods"}); fmt.Sprint(got) != "[cpu memory]" {
		t.Errorf("MainResources: %v", got)
	}
}
