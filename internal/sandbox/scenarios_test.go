package sandbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

const gpu = "nvidia.com/gpu"

// Every scenario can be made, and its objects are ones that a real cluster's
// Kueue understands.
func TestScenarios(t *testing.T) {
	for _, sc := range Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			if sc.Help == "" || sc.JobDuration <= 0 {
				t.Errorf("incomplete: %+v", sc)
			}
			b := newBench(t, sc.Name)
			data, err := ScenarioObjects(sc.Name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decode.Objects(data); err != nil {
				t.Errorf("Kueue cannot read it: %v", err)
			}
			for _, q := range b.items(kinds.ClusterQueue.Path("", "")) {
				if !object.True(q, "Active") {
					t.Errorf("%s is not active: %v", object.Text(q, "metadata", "name"), object.At(q, "status", "conditions"))
				}
			}
			for _, p := range b.items(kinds.Pod.Path("", "")) {
				if object.Text(p, "status", "phase") == "Pending" {
					t.Errorf("pod %s has no node: %v", object.Text(p, "metadata", "name"), object.At(p, "status", "conditions"))
				}
			}
		})
	}
}

func TestEnterprise(t *testing.T) {
	b := newBench(t, "enterprise")
	var devices int64
	for _, n := range b.items(kinds.Node.Path("", "")) {
		if object.Text(n, "status", "allocatable", gpu) != "8" {
			t.Errorf("node %v", n)
		}
		devices += 8
	}
	if devices != 80 {
		t.Errorf("%d GPUs, want 80", devices)
	}
	for _, c := range []struct{ team, flavor, total, borrowed string }{
		{"ml-engineers", "ml.p5.48xlarge", "8", "0"},
		{"researchers", "ml.p5.48xlarge", "16", "0"},
		{"inference", "ml.p5.48xlarge", "8", "0"},
		{"inference", "ml.p4d.24xlarge", "12", "4"},
		{"data-platform", "ml.p4d.24xlarge", "4", "0"},
		{"interns", "ml.p4d.24xlarge", "8", "0"},
	} {
		total, borrowed := b.usage("hyperpod-ns-"+c.team+"-clusterqueue", c.flavor, gpu)
		if total != c.total || borrowed != c.borrowed {
			t.Errorf("%s %s: %s used, %s borrowed, want %s and %s", c.team, c.flavor, total, borrowed, c.total, c.borrowed)
		}
	}
	// One job of each state that people see.
	preempted := b.workload("hyperpod-ns-inference", "batch-score")
	if !object.True(preempted, "Evicted") || object.True(preempted, "QuotaReserved") {
		t.Errorf("batch-score is not preempted: %v", object.At(preempted, "status"))
	}
	if w := b.workload("hyperpod-ns-researchers", "dino-giant"); object.True(w, "Admitted") {
		t.Error("dino-giant is admitted")
	}
	for name, c := range map[string]string{"warmup-7b": "ml-engineers/Succeeded", "probe-lr": "researchers/Failed", "vit-huge": "researchers/Running"} {
		team, state, _ := strings.Cut(c, "/")
		if !object.True(b.get(kinds.PyTorchJob.Resource, "hyperpod-ns-"+team, name), state) {
			t.Errorf("%s is not %s", name, state)
		}
	}
	// Ages are real: vit-huge has been running for 5h12m.
	start, ok := object.Time(b.get(kinds.PyTorchJob.Resource, "hyperpod-ns-researchers", "vit-huge"), "status", "startTime")
	if age := b.clock.now().Sub(start); !ok || age != 5*time.Hour+12*time.Minute {
		t.Errorf("vit-huge has been running for %v", age)
	}
}

// The first command that everyone tries: it must be admitted and run at once.
func TestEnterpriseStartsTheSample(t *testing.T) {
	b := newBench(t, "enterprise")
	const ns = "hyperpod-ns-ml-engineers"
	job := pytorch("smpv2-llama2", "ml-engineers", 2, 8, func(m map[string]any) {
		requests := map[string]any{gpu: "8", "cpu": "179", "memory": "1890Gi", "vpc.amazonaws.com/efa": "32"}
		spec := object.Map(m, "spec", "pytorchReplicaSpecs", "Worker", "template", "spec")
		object.Map(object.List(spec, "containers")[0])["resources"] = map[string]any{"requests": requests, "limits": requests}
		object.Set(spec, "ml.p5.48xlarge", "nodeSelector", kinds.InstanceTypeLabel)
	}, priority("fine-tuning-priority"))
	if created := b.create(ns, job); !object.Bool(created, "spec", "runPolicy", "suspend") {
		t.Error("a new job with a queue is not suspended")
	}
	got := b.get(kinds.PyTorchJob.Resource, ns, "smpv2-llama2")
	if !object.True(got, "Running") || object.Bool(got, "spec", "runPolicy", "suspend") {
		t.Fatalf("it does not run: %v; %v", object.At(got, "status"), b.reasons(ns, "smpv2-llama2"))
	}
	if p := b.podPhases(ns, "smpv2-llama2"); len(p) != 2 || p["smpv2-llama2-worker-0"] != "Running" || p["smpv2-llama2-worker-1"] != "Running" {
		t.Errorf("pods %v", p)
	}
	if total, borrowed := b.usage(ns+"-clusterqueue", "ml.p5.48xlarge", gpu); total != "24" || borrowed != "0" {
		t.Errorf("%s used, %s borrowed", total, borrowed)
	}
	w := b.workload(ns, "smpv2-llama2")
	if !object.True(w, "Admitted") || !object.True(w, "PodsReady") || object.Text(w, "spec", "priorityClassRef", "name") != "fine-tuning-priority" {
		t.Errorf("workload %v", w)
	}
}

// The scenario that gave lend-three its name.
func TestLendThree(t *testing.T) {
	b := newBench(t, "lend-three")
	const flavor = "ml.g5.12xlarge"
	if a, _ := b.usage("hyperpod-ns-team-a-clusterqueue", flavor, gpu); a != "2" {
		t.Fatalf("team a uses %s", a)
	}
	b.create("hyperpod-ns-team-b", pytorch("task", "team-b", 1, 4))
	if total, borrowed := b.usage("hyperpod-ns-team-b-clusterqueue", flavor, gpu); total != "8" || borrowed != "3" {
		t.Errorf("team b uses %s and borrows %s, want 8 and 3", total, borrowed)
	}
	if p := b.podPhases("hyperpod-ns-team-b", "task"); p["task-worker-0"] != "Running" {
		t.Errorf("pods %v", p)
	}
	// Nothing is left to lend: one more waits.
	b.create("hyperpod-ns-team-b", pytorch("more", "team-b", 1, 4))
	if w := b.workload("hyperpod-ns-team-b", "more"); object.True(w, "Admitted") {
		t.Error("a second task of 4 is admitted too")
	}
}

func TestUnknownScenario(t *testing.T) {
	_, err := Create(context.Background(), t.TempDir()+"/x.json", "enterprice", Options{})
	checkErr(t, err, 2, `scenario "enterprice" not found`, "--scenario enterprise")
	if _, err := ScenarioObjects("x"); err == nil {
		t.Error("no error for an unknown scenario")
	}
}
