package fidelity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload/concurrentadmission"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// variantJob is a job, the verdict on it, its flavor in the end and the job that it preempts. With grown, flavor f gets 8 more
// GPUs before, and the job before this one has flavor grown then.
type variantJob struct {
	job            job
	want           admission.Outcome
	flavor, evicts string
	grown          string
}

// variantJobs are submitted one after another to a queue with two flavors of 8 GPUs.
var variantJobs = []variantJob{
	{job: job{team: "a", name: "first", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "f"},
	{job: job{team: "a", name: "second", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "g"},
	{job: job{team: "a", name: "third", gpus: 8, priority: 1}, want: admission.Waits},
	{job: job{team: "a", name: "huge", gpus: 9, priority: 1}, want: admission.Never},
	{job: job{team: "a", name: "high", gpus: 8, priority: 5}, want: admission.AdmittedByPreempting, flavor: "f", evicts: "first"},
}

// roomLater are jobs on both flavors. The first flavor gets room: the mode decides whether a job moves there.
var roomLater = map[string][]variantJob{
	"TryPreferredFlavors": {
		{job: job{team: "a", name: "first", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "f"},
		{job: job{team: "a", name: "second", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "g"},
		{job: job{team: "a", name: "last", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "g", grown: "f"},
	},
	"RetainFirstAdmission": {
		{job: job{team: "a", name: "first", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "f"},
		{job: job{team: "a", name: "second", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "g"},
		{job: job{team: "a", name: "last", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "f", grown: "g"},
	},
}

// preempters preempt on the first flavor while the second one is free. Under RetainFirstAdmission they would stay on the flavor
// that is faster: Kueue's controller opens the gate of one variant while its scheduler admits the other.
var preempters = []variantJob{
	{job: job{team: "a", name: "first", gpus: 8, priority: 1}, want: admission.Admitted, flavor: "f"},
	{job: job{team: "a", name: "high", gpus: 8, priority: 5}, want: admission.AdmittedByPreempting, flavor: "f", evicts: "first"},
}

// TestFidelityConcurrentAdmission: Kueue does with the variants of a job what the verdict on the job says.
func TestFidelityConcurrentAdmission(t *testing.T) {
	on := map[string]bool{"ConcurrentAdmission": true}
	for _, mode := range []string{"TryPreferredFlavors", "RetainFirstAdmission"} {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, cluster.ForTest(t, cluster.Options{KueueFeatureGates: on, NoFairSharing: true, KueueOnly: true}), on)
			if err := b.bed.ApplyObjects(t.Context(), priorities()...); err != nil {
				t.Fatal(err)
			}
			b.family(mode, "ca", variantJobs)
			b.family(mode, "cm", roomLater[mode])
			if mode == "TryPreferredFlavors" {
				b.family(mode, "cp", preempters)
			}
		})
	}
}

// family submits jobs to a queue with two flavors, and compares what Kueue does with the verdicts.
func (b *bench) family(mode, prefix string, list []variantJob) {
	t := b.t
	eight := [3]string{"8", "", ""}
	m := maker{scenario{name: mode, flavors: []flavor{{name: "f"}, {name: "g"}},
		teams: []team{{name: "a", quota: map[string][3]string{"f": eight, "g": eight}, within: lower}}}, "v1beta2", prefix}
	for _, o := range m.policy() {
		if o["kind"] == "ClusterQueue" {
			kinds.Set(o, object{"migration": object{"mode": mode}}, "spec", "concurrentAdmissionPolicy")
		}
		if err := b.create(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.active(m); err != nil {
		t.Fatal(err)
	}
	for i, c := range list {
		if c.grown != "" {
			if err := b.grow(m); err != nil {
				t.Fatal(err)
			}
			b.becomes(m, list[i-1].job, c.grown, "")
		}
		d := b.verdictNow(m, c.job)
		if d.Outcome != c.want || len(d.NotModelled) > 0 {
			t.Errorf("%s: the verdict is %s %s %v", c.job.name, d.Outcome, d.Message, d.NotModelled)
		}
		if err := b.submit(m.batchJob(c.job), m.at("a")); err != nil {
			t.Fatal(err)
		}
		b.becomes(m, c.job, c.flavor, c.evicts)
	}
	in, err := inputs.Load(t.Context(), b.client, inputs.Options{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := func(w *kueue.Workload) bool { return w.Namespace != m.at("a") }
	jobs, variants := slices.DeleteFunc(in.Workloads, elsewhere), slices.DeleteFunc(in.Variants, elsewhere)
	if len(jobs) != len(list) || len(variants) != 2*len(list) {
		t.Errorf("%d jobs and %d variants were read", len(jobs), len(variants))
	}
}

// becomes waits until a job is what a decision says.
func (b *bench) becomes(m maker, j job, flavor, evicts string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 45*time.Second)
	defer cancel()
	err := b.bed.WaitFor(ctx, "Kueue to do what the verdict says", func(ctx context.Context) error { return b.asFamily(ctx, m, j, flavor, evicts) })
	if err != nil {
		b.t.Errorf("%s: %v; %v", j.name, err, b.asFamily(b.t.Context(), m, j, flavor, evicts))
	}
}

// grow gives the first flavor of the queue 8 more GPUs.
func (b *bench) grow(m maker) error {
	patch := `[{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "16"}]`
	_, err := b.bed.Request(b.t.Context(), http.MethodPatch, kinds.ClusterQueue.Path("", m.at("a")), "application/json-patch+json", []byte(patch))
	return err
}

// verdictNow reads the state as the product does, and asks about one job.
func (b *bench) verdictNow(m maker, j job) admission.Decision {
	b.t.Helper()
	in, err := inputs.Load(b.t.Context(), b.client, inputs.Options{}, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	cfg := in.Rules().Config
	cfg.Gates = b.gates
	e, err := admission.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := e.Load(b.t.Context(), in.Objects()...); err != nil {
		b.t.Fatal(err)
	}
	raw, err := json.Marshal(m.workload(j))
	if err != nil {
		b.t.Fatal(err)
	}
	objs, err := decode.Objects(raw)
	if err != nil {
		b.t.Fatal(err)
	}
	d, err := e.Probe(b.t.Context(), objs[0].(*kueue.Workload))
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

// asFamily returns how the workload of a job and its variants differ from a decision.
func (b *bench) asFamily(ctx context.Context, m maker, j job, flavor, evicts string) error {
	w, err := b.workloadOf(ctx, m, j)
	if err != nil {
		return err
	}
	var list struct{ Items []*kueue.Workload }
	if err := b.bed.Get(ctx, "/apis/kueue.x-k8s.io/v1beta2/namespaces/"+m.at(j.team)+"/workloads", &list); err != nil {
		return err
	}
	evaluated := 0
	for _, v := range list.Items {
		if concurrentadmission.GetParentWorkloadName(v) == w.Name && live.QuotaOf(v).Status != "" {
			evaluated++
		}
	}
	got := ""
	if w.Status.Admission != nil {
		for _, f := range w.Status.Admission.PodSetAssignments[0].Flavors {
			got = string(f)
		}
	}
	want := ""
	if flavor != "" {
		want = m.at(flavor)
	}
	switch {
	case got != want:
		return fmt.Errorf("its flavor is %q, not %q", got, want)
	case flavor == "" && evaluated == 0: // Kueue skips a variant that equals one of another job
		return errors.New("none of its variants was tried")
	case evicts == "":
		return nil
	}
	out, err := b.workloadOf(ctx, m, job{team: j.team, name: evicts})
	if err != nil {
		return err
	}
	// It may have taken the flavor that the job has left.
	if c := apimeta.FindStatusCondition(out.Status.Conditions, kueue.WorkloadEvicted); c == nil || !strings.Contains(c.Message, "Admitted variant was evicted") {
		return fmt.Errorf("%s was not evicted: %+v", evicts, c)
	}
	return nil
}
