package policy

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestAmounts: the figures of SageMaker's documents and of clusters (as seen).
func TestAmounts(t *testing.T) {
	for name, c := range map[string]struct {
		q    Quota
		want string
	}{
		"instances":       {Quota{InstanceType: "ml.g5.12xlarge", Count: ptr.To(1)}, `{"cpu":48000,"memory":206158430208,"nvidia.com/gpu":4,"vpc.amazonaws.com/efa":1}`},
		"without devices": {Quota{InstanceType: "ml.m5.xlarge", Count: ptr.To(4)}, `{"cpu":16000,"memory":68719476736}`},
		"accelerators":    {Quota{InstanceType: "ml.p5.48xlarge", Accelerators: ptr.To(3)}, `{"cpu":72000,"memory":824633720832,"nvidia.com/gpu":3,"vpc.amazonaws.com/efa":12}`},
		"vcpu":            {Quota{InstanceType: "ml.m5.xlarge", VCPU: ptr.To(2.0)}, `{"cpu":2000,"memory":8589934592}`},
		"memory":          {Quota{InstanceType: "ml.m5.xlarge", MemoryInGiB: ptr.To(4.0)}, `{"cpu":1000,"memory":4294967296}`},
		"both":            {Quota{InstanceType: "ml.m5.xlarge", VCPU: ptr.To(4.0), MemoryInGiB: ptr.To(16.0)}, `{"cpu":4000,"memory":17179869184}`},
		"slices":          {Quota{InstanceType: "ml.p4d.24xlarge", AcceleratorPartition: &Partition{"mig-3g.20gb", 7}}, `{"cpu":36000,"memory":463856467968,"nvidia.com/mig-3g.20gb":7}`},
		"trainium":        {Quota{InstanceType: "ml.trn1.32xlarge", Count: ptr.To(1)}, `{"aws.amazon.com/neurondevice":16,"cpu":128000,"memory":549755813888,"vpc.amazonaws.com/efa":8}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := c.q.Amounts()
			if !ok {
				t.Fatal("no amounts")
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
			if q, ok := inferQuota(c.q.InstanceType, got); !ok || cmp.Diff(q, c.q) != "" && name != "vcpu" && name != "memory" && name != "both" {
				t.Errorf("inferred %+v", q)
			}
		})
	}
}

func TestRounding(t *testing.T) {
	for _, c := range []struct {
		round   string
		nominal int64
		percent int
		want    int64
	}{
		{Down, 3, 50, 1}, {Up, 3, 50, 2}, {Nearest, 3, 50, 2}, {Nearest, 1, 49, 0}, {Down, 1, 50, 0}, {Down, 8, 100, 8}, {Down, 7, 10000, 700},
		{Down, 1 << 55, 10000, 100 << 55}, {Up, 8, 0, 0},
	} {
		m := &mapper{Mapping: Mapping{Round: c.round}, assumed: map[Assumption]bool{}}
		if got := m.percent(c.nominal, c.percent, "nvidia.com/gpu"); got != c.want {
			t.Errorf("%s: %d %% of %d = %d, want %d", c.round, c.percent, c.nominal, got, c.want)
		}
	}
}

func TestDiff(t *testing.T) {
	parse := func(text string) *Document {
		d, _, faults := Parse([]byte(text))
		if len(faults) > 0 {
			t.Fatalf("%+v", faults)
		}
		return d
	}
	from := parse(valid)
	to := parse(strings.NewReplacer("weight: 100", "weight: 90", "count: 2", "accelerators: 8", "fairShareWeight: 10", "borrowLimit: 100", "team: b", "team: c").Replace(valid))
	var got []string
	for _, c := range Diff(from, to, true) {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(text))
	}
	want := []string{
		`{"Action":"Update","Field":"policy.priorityClasses.inference","From":100,"To":90}`,
		`{"Action":"Update","Team":"a","Field":"borrowLimit","From":50,"To":100}`,
		`{"Action":"Update","Team":"a","Field":"fairShareWeight","From":10,"To":0}`,
		`{"Action":"Create","Team":"a","Field":"quota[ml.p5.48xlarge].accelerators","To":8}`,
		`{"Action":"Delete","Team":"a","Field":"quota[ml.p5.48xlarge].count","From":2}`,
		`{"Action":"Create","Team":"c"}`,
		`{"Action":"Delete","Team":"b"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if Form(from.Team("b")) != Form(to.Team("c")) || Form(from.Team("a")) == Form(to.Team("c")) {
		t.Error("b and c differ in their name alone")
	}
}

// TestRewriteKeepsComments: an updated file keeps what people wrote.
func TestRewriteKeepsComments(t *testing.T) {
	text := `# Teams of the research cluster.
version: hyperpod.policy/v1
teams:
  # paid by the vision grant
  - team: a
    fairShareWeight: 10 # agreed in May
    quota:
      - {instanceType: ml.p5.48xlarge, count: 2}
  - team: gone
    quota: []
`
	d, _, faults := Parse([]byte(text))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	d.Teams = append(d.Teams[:1:1], Team{Team: "new"})
	*d.Teams[0].FairShareWeight, *d.Teams[0].Quota[0].Count = 20, 3
	out, err := Rewrite([]byte(text), d)
	if err != nil {
		t.Fatal(err)
	}
	want := `# Teams of the research cluster.
version: hyperpod.policy/v1
teams:
  # paid by the vision grant
  - team: a
    fairShareWeight: 20 # agreed in May
    quota:
      - {instanceType: ml.p5.48xlarge, count: 3}
  - {team: new}
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
}

func TestOrderOfOperations(t *testing.T) {
	live := lives(t)["enterprise"]
	doc, _ := FromKueue(live, DefaultMapping())
	*doc.Team("ml-engineers").Quota[0].Count = 1 // falls
	*doc.Team("researchers").Quota[0].Count = 4  // rises
	doc.Teams = append(doc.Teams, Team{Team: "new", Quota: []Quota{{InstanceType: "ml.g5.12xlarge", Count: ptr.To(1)}}})
	want, err := ToKueue(doc, DefaultMapping())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, op := range Differences(live, want, Prune{Queues: []string{"hyperpod-ns-interns-clusterqueue"}}) {
		got = append(got, string(op.Action)+" "+op.Kind+" "+op.Name)
	}
	if diff := cmp.Diff([]string{
		"Create Namespace hyperpod-ns-new",
		"Create ResourceFlavor ml.g5.12xlarge",
		"Update ClusterQueue hyperpod-ns-researchers-clusterqueue",
		"Create ClusterQueue hyperpod-ns-new-clusterqueue",
		"Create LocalQueue hyperpod-ns-new-localqueue",
		"Update ClusterQueue hyperpod-ns-ml-engineers-clusterqueue",
		"Delete LocalQueue hyperpod-ns-interns-localqueue",
		"Delete ClusterQueue hyperpod-ns-interns-clusterqueue",
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestV1Beta1(t *testing.T) {
	object := map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "spec": map[string]any{
		"cohortName": "pool", "flavorFungibility": map[string]any{"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"}}}
	got := V1Beta1(object)
	want := map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "spec": map[string]any{
		"cohort": "pool", "flavorFungibility": map[string]any{"whenCanBorrow": "Borrow", "whenCanPreempt": "TryNextFlavor"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if object["spec"].(map[string]any)["cohortName"] != "pool" {
		t.Error("the object given was changed")
	}
}
