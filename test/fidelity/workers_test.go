package fidelity

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// sent is a job that MultiKueue sends to worker clusters.
type sent struct {
	name string
	// workers are the worker clusters by name: "east", "west" or "down", which Kueue cannot connect to.
	workers map[string]*onWorker
	target  job
	verdict check.Outcome
}

// onWorker is the team's queue on a worker, nil for none.
type onWorker struct {
	quota   int
	running []job
	empty   bool // it has the namespace, and no queue
}

// sents are the scenarios.
func sents() []sent {
	full := func(priority int) *onWorker {
		return &onWorker{quota: 4, running: []job{{team: "a", name: "other", gpus: 4, priority: priority}}}
	}
	four := job{team: "a", name: "target", gpus: 4, priority: 5}
	return []sent{
		{"fits on both", map[string]*onWorker{"east": {quota: 4}, "west": {quota: 4}}, four, check.Admitted},
		{"fits on one", map[string]*onWorker{"east": {quota: 2}, "west": {quota: 4}}, four, check.Admitted},
		{"two pods", map[string]*onWorker{"east": {quota: 7}, "west": {quota: 8}}, job{team: "a", name: "target", gpus: 4, pods: 2}, check.Admitted},
		{"in use on both", map[string]*onWorker{"east": full(5), "west": full(7)}, four, check.Waits},
		{"in use on one, too large for the other", map[string]*onWorker{"east": full(5), "west": {quota: 2}}, four, check.Waits},
		{"preempts on one", map[string]*onWorker{"east": full(1), "west": full(7)}, four, check.Admitted},
		{"free on one, in use on the other", map[string]*onWorker{"east": full(7), "west": {quota: 4}}, four, check.Admitted},
		{"too large for both", map[string]*onWorker{"east": {quota: 3}, "west": {quota: 2}}, four, check.Never},
		{"no queue on one", map[string]*onWorker{"east": {empty: true}, "west": {quota: 4}}, four, check.Admitted},
		{"no queue on both", map[string]*onWorker{"east": {empty: true}, "west": {empty: true}}, four, check.Never},
		{"no namespace on one", map[string]*onWorker{"east": nil, "west": {quota: 4}}, four, check.Admitted},
		{"one is down", map[string]*onWorker{"down": nil, "west": {quota: 4}}, four, check.Admitted},
		{"one is down, too large for the other", map[string]*onWorker{"down": nil, "west": {quota: 2}}, four, check.Waits},
		{"one worker", map[string]*onWorker{"west": {quota: 4}}, four, check.Admitted},
	}
}

// worker is a bed to which Kueue sends jobs.
func worker(t *testing.T) *bench {
	t.Helper()
	bed := cluster.ForTest(t, cluster.Options{KueueFeatureGates: everyGate(), NoFairSharing: true, KueueOnly: true, AllKinds: true})
	b := newBench(t, bed, everyGate())
	if err := errors.Join(bed.ApplyNodes(t.Context(), cluster.Nodes("ml.g5.12xlarge", 4)), bed.ApplyObjects(t.Context(), priorities()...)); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFidelityWorkers: what the verdict says about worker clusters is what Kueue and the Kueue of each worker then do.
func TestFidelityWorkers(t *testing.T) {
	workers := map[string]*bench{"east": worker(t), "west": worker(t)}
	bed := cluster.ForTest(t, cluster.Options{KueueFeatureGates: everyGate(), NoFairSharing: true, KueueOnly: true, AllKinds: true,
		Reaches: []*cluster.Bed{workers["east"].bed, workers["west"].bed}})
	b := newBench(t, bed, everyGate())
	if err := errors.Join(bed.ApplyObjects(t.Context(), priorities()...), b.connect(workers)); err != nil {
		t.Fatal(err)
	}
	list := sents()
	t.Run("kinds", func(t *testing.T) { b.sentKinds(t, workers["west"]) })
	verdicts := make([]*check.Verdict, len(list))
	for i, s := range list {
		if err := b.prepare(workers, s, i); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	for i, s := range list {
		verdicts[i] = b.sentVerdict(t, s, i)
	}
	for i, s := range list {
		m := senderOf(s, i)
		if err := b.submit(m.batchJob(s.target), m.at("a")); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
	for i, s := range list {
		t.Run(s.name, func(t *testing.T) {
			v := verdicts[i]
			if v.Verdict != s.verdict {
				t.Errorf("the verdict is %s %s", v.Verdict, v.Detail)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
			defer cancel()
			if err := b.bed.WaitFor(ctx, "Kueue to do what the verdict says", func(ctx context.Context) error { return b.asWorkers(ctx, workers, s, i, v) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// priorities are the classes of the priorities that jobs have in scenarios.
func priorities() (out []object) {
	for i := range 10 {
		out = append(out, object{"apiVersion": group + "v1beta2", "kind": "WorkloadPriorityClass", "metadata": object{"name": fmt.Sprint("p", i)}, "value": i})
	}
	return out
}

// connect makes the worker clusters, and waits until Kueue is connected to those that run.
func (b *bench) connect(workers map[string]*bench) error {
	for _, name := range []string{"east", "west", "down"} {
		text := []byte("none")
		if w := workers[name]; w != nil {
			var err error
			if text, err = os.ReadFile(w.bed.Kubeconfig); err != nil {
				return err
			}
		}
		err := b.bed.ApplyObjects(b.t.Context(),
			object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": name, "namespace": "kueue-system"}, "data": object{"kubeconfig": base64.StdEncoding.EncodeToString(text)}},
			object{"apiVersion": group + "v1beta2", "kind": "MultiKueueCluster", "metadata": object{"name": name}, "spec": object{"clusterSource": object{"kubeConfig": object{"location": name, "locationType": "Secret"}}}})
		if err != nil {
			return err
		}
		active := "False"
		if workers[name] != nil {
			active = "True"
		}
		if err := b.bed.WaitForCondition(b.t.Context(), kinds.MultiKueueCluster.Path("", name), "Active", active); err != nil {
			return err
		}
	}
	return nil
}

// senderOf writes the objects of a scenario on the cluster that sends its job.
func senderOf(s sent, i int) maker {
	return maker{scenario{name: s.name, flavors: one, covers: []string{"cpu", "memory"}, teams: []team{{name: "a", quota: nominal(16), check: true}}}, "v1beta2", fmt.Sprintf("w%02d", i)}
}

// prepare makes the queues of a scenario, and starts what runs on its workers.
func (b *bench) prepare(workers map[string]*bench, s sent, i int) error {
	for name, on := range s.workers {
		w := workers[name]
		if w == nil || on == nil {
			continue
		}
		m := maker{scenario{name: s.name, flavors: one, teams: []team{{name: "a", quota: nominal(on.quota), within: lower}}}, "v1beta2", fmt.Sprintf("w%02d", i)}
		for _, o := range m.policy() {
			if on.empty && o["kind"] != "Namespace" {
				continue
			}
			if err := w.create(o); err != nil {
				return err
			}
		}
		for _, j := range on.running {
			if err := errors.Join(w.active(m), w.submit(m.batchJob(j), m.at("a")), w.seen(m, j)); err != nil {
				return err
			}
		}
	}
	m := senderOf(s, i)
	objects := []object{{"apiVersion": group + "v1beta2", "kind": "MultiKueueConfig", "metadata": object{"name": m.at("config")}, "spec": object{"clusters": slices.Sorted(maps.Keys(s.workers))}}}
	for _, o := range m.policy() {
		if o["kind"] == "AdmissionCheck" {
			o["spec"] = object{"controllerName": kueue.MultiKueueControllerName, "parameters": object{"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": m.at("config")}}
		}
		objects = append(objects, o)
	}
	return errors.Join(b.bed.ApplyObjects(b.t.Context(), objects...), b.active(m))
}

// sentVerdict is the verdict of a dry run with --workers.
func (b *bench) sentVerdict(t *testing.T, s sent, i int) *check.Verdict {
	t.Helper()
	home := t.TempDir()
	io, _ := output.Test()
	f := &factory.Factory{IO: io, Now: time.Now, Version: "test", Env: func(name string) string { return map[string]string{"HOME": home}[name] }}
	c := &factory.Cluster{Client: b.client, Now: time.Now}
	m := senderOf(s, i)
	data, err := json.Marshal(m.batchJob(s.target))
	if err != nil {
		t.Fatal(err)
	}
	job := map[string]any{}
	if err := json.Unmarshal(data, &job); err != nil {
		t.Fatal(err)
	}
	in, err := admissioncheck.Load(t.Context(), c, m.at("a"))
	if err != nil {
		t.Fatal(err)
	}
	in.Manager.Gates = b.gates
	checker, err := check.New(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	asked := admissioncheck.Workers{Given: []string{"kueue"}}
	v, err := checker.Check(t.Context(), check.Request{Object: job, Namespace: m.at("a"), Workers: asked.Reader(f, c, in, m.at("a"), []map[string]any{job}, 0)})
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return v
}

// asWorkers returns an error while something is not as the verdict says.
func (b *bench) asWorkers(ctx context.Context, workers map[string]*bench, s sent, i int, v *check.Verdict) error {
	m := senderOf(s, i)
	local, err := b.workloadOf(ctx, m, s.target)
	if err != nil {
		return err
	}
	if live.QuotaOf(local).Status != "True" {
		return fmt.Errorf("it has no quota: %+v", live.QuotaOf(local))
	}
	admitted := live.ConditionOf(local, kueue.WorkloadAdmitted).Status
	if v.Verdict == check.Admitted {
		var names []string
		for _, w := range v.AdmittedBy() {
			names = append(names, w.Name)
		}
		if admitted != "True" || local.Status.ClusterName == nil || !slices.Contains(names, *local.Status.ClusterName) {
			return fmt.Errorf("admitted %q on %v, want one of %v", admitted, local.Status.ClusterName, names)
		}
		return nil
	}
	for _, w := range v.Workers {
		there := workers[w.Name]
		if there == nil { // down
			continue
		}
		var copied kueue.Workload
		if err := there.bed.Get(ctx, kinds.Workload.Path(local.Namespace, local.Name), &copied); err != nil {
			return fmt.Errorf("on %s: %w", w.Name, err)
		}
		if c := live.QuotaOf(&copied); c.Status != "False" || c.Reason != w.Reason {
			return fmt.Errorf("on %s: QuotaReserved is %q %s, want %s", w.Name, c.Status, c.Reason, w.Reason)
		}
	}
	if admitted == "True" {
		return errors.New("it is admitted on " + strings.Join(local.Status.NominatedClusterNames, ", "))
	}
	return nil
}

// sentKinds submits a job of every kind. MultiKueue makes a copy of its Workloads on the worker, or rejects it, as the table of
// kinds says.
func (b *bench) sentKinds(t *testing.T, west *bench) {
	err := errors.Join(b.bed.ApplyObjects(t.Context(), trainingRuntime), west.bed.ApplyObjects(t.Context(), trainingRuntime))
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range everyKind() {
		t.Run(k.name, func(t *testing.T) {
			s := sent{name: k.name, workers: map[string]*onWorker{"west": {empty: true}}}
			if err := b.prepare(map[string]*bench{"west": west}, s, 50+i); err != nil {
				t.Fatal(err)
			}
			m := senderOf(s, 50+i)
			all := []object{k.make(pods{})}
			if k.group != nil {
				all = append(all, k.group(pods{})...)
			}
			for _, o := range all {
				if err := b.submit(o, m.at("a")); err != nil {
					t.Fatal(err)
				}
			}
			kind, _ := kinds.JobNamed(kinds.Text(all[0], "kind"))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := b.bed.WaitFor(ctx, "MultiKueue to take it", func(ctx context.Context) error {
				var list struct{ Items []*kueue.Workload }
				if err := b.bed.Get(ctx, kinds.Workload.Path(m.at("a"), ""), &list); err != nil {
					return err
				}
				for _, w := range list.Items {
					copied := west.bed.Get(ctx, kinds.Workload.Path(m.at("a"), w.Name), nil)
					switch rejected := slices.ContainsFunc(w.Status.AdmissionChecks, func(c kueue.AdmissionCheckState) bool { return c.State == kueue.CheckStateRejected }); {
					case rejected && !kind.OneCluster, copied == nil && kind.OneCluster:
						t.Errorf("copied %v, rejected %v: %+v", copied == nil, rejected, w.Status.AdmissionChecks)
						return nil
					case rejected, copied == nil:
						return nil
					}
				}
				return fmt.Errorf("%d Workloads, none is rejected or on the worker", len(list.Items))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
