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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/tas"

	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// changed is a scenario in which something ends. What follows is what the simulation says.
type changed struct {
	scenario
	ends  string // a job that ends; "*" the first one with quota
	loses string // a job whose first node is removed
	// passes is a job whose admission check passes: Kueue has delayed its placement until then.
	passes string
}

// changes are the scenarios. Their jobs are batch Jobs: what Kueue evicts, ends.
func changes() []changed {
	topology := []flavor{{name: "f", topology: true}}
	alone := func(n int) []team { return []team{{name: "a", quota: nominal(n), within: lower, reclaim: never}} }
	out := []changed{
		// The second pass: Kueue looks for another node for a job that it has placed.
		{loses: "r", scenario: scenario{name: "node-replaced", flavors: topology, nodes: 2, teams: alone(8), running: []job{{team: "a", name: "r", gpus: 4, required: "rack"}}}},
		{loses: "r", scenario: scenario{name: "node-of-two", flavors: topology, nodes: 4, teams: alone(16), running: []job{{team: "a", name: "r", gpus: 2, pods: 2, required: "rack"}}}},
		{loses: "r", scenario: scenario{name: "node-without-another", flavors: topology, nodes: 2, teams: alone(8), running: []job{{team: "a", name: "r", gpus: 4, pods: 2, required: "rack"}}}},
		{loses: "r", scenario: scenario{name: "node-in-another-rack", flavors: topology, nodes: 4, teams: alone(16), running: []job{{team: "a", name: "r", gpus: 4, pods: 2, required: "rack"}}}},
		{loses: "r", scenario: scenario{name: "node-then-the-next", flavors: topology, nodes: 2, teams: alone(8),
			running: []job{{team: "a", name: "r", gpus: 4, pods: 2, required: "rack"}, {team: "a", name: "waits", gpus: 4, required: "rack"}}}},
		{loses: "low", scenario: scenario{name: "node-in-use", flavors: topology, nodes: 2, teams: alone(8),
			running: []job{{team: "a", name: "low", gpus: 4, required: "rack"}, {team: "a", name: "high", priority: 3, gpus: 4, required: "rack"}}}},
		{passes: "r", scenario: scenario{name: "placed-after-its-check", flavors: topology, nodes: 4, teams: []team{{name: "a", quota: nominal(16), check: true}},
			running: []job{{team: "a", name: "r", gpus: 4, pods: 2, required: "rack"}}}},
		{passes: "r", scenario: scenario{name: "no-place-after-its-check", flavors: topology, nodes: 2, teams: []team{{name: "a", quota: nominal(16), check: true}, {name: "b", quota: nominal(8)}},
			running: []job{{team: "a", name: "r", gpus: 4, pods: 2, required: "rack"}, {team: "b", name: "other", gpus: 2, required: "rack"}}}},
		// Past use: the queue that used less comes first, though its job came last. Without an order by use, the oldest does.
		{ends: "first", scenario: scenario{name: "use-without-order", flavors: one, teams: alone(4), queues: map[string]string{"heavy": "1", "light": "1"},
			running: []job{{team: "a", queue: "heavy", name: "first", gpus: 4}, {team: "a", queue: "heavy", name: "second", gpus: 4}, {team: "a", queue: "light", name: "third", gpus: 4}}}},
		{ends: "first", scenario: scenario{name: "use-equal-weights", byUse: true, flavors: one, teams: alone(4), queues: map[string]string{"heavy": "1", "light": "1"},
			running: []job{{team: "a", queue: "heavy", name: "first", gpus: 4}, {team: "a", queue: "heavy", name: "second", gpus: 4}, {team: "a", queue: "light", name: "third", gpus: 4}}}},
		{ends: "first", scenario: scenario{name: "use-weights", byUse: true, flavors: one, teams: alone(4), queues: map[string]string{"heavy": "100", "light": "0.1"},
			running: []job{{team: "a", queue: "heavy", name: "first", gpus: 3}, {team: "a", queue: "light", name: "small", gpus: 1}, {team: "a", queue: "light", name: "second", gpus: 3}, {team: "a", queue: "heavy", name: "third", gpus: 3}}}},
		// The older job preempts the one that comes first by use, which starts again until its queue has used more. A start
		// counts as much as a second of use, so the weights make this a few starts, however long the first job ran.
		{ends: "first", scenario: scenario{name: "use-and-priority", byUse: true, flavors: one, teams: alone(4), queues: map[string]string{"heavy": "100", "light": "1"},
			running: []job{{team: "a", queue: "heavy", name: "first", priority: 4, gpus: 1}, {team: "a", queue: "heavy", name: "second", priority: 3, gpus: 4}, {team: "a", queue: "light", name: "third", gpus: 4}}}},
	}
	for seed := range 20 {
		s := generated(2000 + seed)
		s.running = append(s.running, s.target)
		s.running[len(s.running)-1].name = "target"
		out = append(out, changed{scenario: s, ends: "*"})
	}
	return out
}

func TestFidelityChanges(t *testing.T) {
	bed := cluster.ForTest(t, cluster.Options{KueueFeatureGates: gates, NoFairSharing: true, KueueOnly: true, UseHalfLife: time.Hour})
	b := newBench(t, bed, gates)
	list := changes()
	if err := bed.ApplyObjects(t.Context(), priorities()...); err != nil {
		t.Fatal(err)
	}
	for i, c := range list {
		b.makers = append(b.makers, maker{c.scenario, "v1beta2", fmt.Sprintf("c%02d", i)})
	}
	for i, l := range loops() {
		b.makers = append(b.makers, maker{l.scenario, "v1beta2", fmt.Sprintf("l%02d", i)})
	}
	b.makePolicy()
	for i := range slices.MaxFunc(b.makers, func(x, y maker) int { return len(x.running) - len(y.running) }).running {
		b.each(func(m maker) error {
			if i >= len(m.running) {
				return nil
			}
			if err := b.submit(m.batchJob(m.running[i]), m.at(m.running[i].team)); err != nil {
				return err
			}
			return b.seen(m, m.running[i])
		})
	}
	reports := make([]*simulate.Report, len(list))
	moved := 0
	// Kueue tries the waiting jobs of all queues again a second after a node changes, and one that is behind another then takes
	// quota that becomes free in between: nodes are lost only after all other changes.
	for _, loses := range []bool{false, true} {
		in := b.atRest()
		for i, c := range list {
			if (c.loses != "") != loses {
				continue
			}
			after, changes, apply := b.change(in, b.makers[i], c)
			var err error
			if reports[i], err = simulate.Run(t.Context(), simulate.Of(after), changes, simulate.Options{}); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if err := apply(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		for i, c := range list {
			if (c.loses != "") != loses {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				if b.follows(t, b.makers[i], reports[i]) {
					moved++
				}
			})
		}
	}
	b.atRest()
	for i, c := range list { // also where nothing was to happen
		if err := b.as(t.Context(), b.makers[i], reports[i]); err != nil {
			t.Errorf("%s, in the end: %v", c.name, err)
		}
	}
	for i, l := range loops() {
		t.Run(l.name, func(t *testing.T) { b.follow(t, b.makers[len(list)+i], l.loops) })
	}
	t.Logf("%d scenarios, %d of them move other jobs", len(list), moved)
	if moved < len(list)/3 {
		t.Errorf("only %d of %d scenarios move other jobs", moved, len(list))
	}
}

// batchJob is a job as a user submits it.
func (m maker) batchJob(j job) object {
	w := m.workload(j)
	ps := w["spec"].(object)["podSets"].([]any)[0].(object)
	template := ps["template"].(object)
	if j.required == "rack" {
		template["metadata"] = object{"annotations": object{"kueue.x-k8s.io/podset-required-topology": "fidelity/rack"}}
	}
	meta := object{"name": j.name, "labels": object{kinds.QueueLabel: w["spec"].(object)["queueName"], kinds.PriorityLabel: fmt.Sprint("p", j.priority)}}
	if j.least > 0 {
		meta["annotations"] = object{"kueue.x-k8s.io/job-min-parallelism": fmt.Sprint(j.least)}
	}
	return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": object{"parallelism": ps["count"], "completions": ps["count"], "template": template}}
}

// workloadOf is the Workload of a batch Job.
func (b *bench) workloadOf(ctx context.Context, m maker, j job) (*kueue.Workload, error) {
	var list struct{ Items []*kueue.Workload }
	if err := b.bed.Get(ctx, "/apis/kueue.x-k8s.io/v1beta2/namespaces/"+m.at(j.team)+"/workloads", &list); err != nil {
		return nil, err
	}
	for _, w := range list.Items {
		if len(w.OwnerReferences) > 0 && w.OwnerReferences[0].Name == j.name {
			return w, nil
		}
	}
	return nil, errors.New(j.name + " has no Workload")
}

// seen waits until a job has a Workload in its queue. In a queue that orders by use, it waits until Kueue has counted
// what a job uses.
func (b *bench) seen(m maker, j job) error {
	return b.bed.WaitFor(b.t.Context(), m.at(j.team)+"/"+j.name+" to be seen", func(ctx context.Context) error {
		w, err := b.workloadOf(ctx, m, j)
		if err != nil {
			return err
		}
		c := live.QuotaOf(w)
		if c.Status == "" && !m.strict(j) { // nothing is written about a job behind another one
			return errors.New("Kueue says nothing about it")
		}
		if !m.byUse || c.Status != "True" {
			return nil
		}
		var lq kueue.LocalQueue
		if err := b.bed.Get(ctx, kinds.LocalQueue.Path(m.at(j.team), j.queue), &lq); err != nil {
			return err
		}
		if s := lq.Status.FairSharing; s == nil || s.AdmissionFairSharingStatus == nil || s.AdmissionFairSharingStatus.ConsumedResources.Name("nvidia.com/gpu", "").IsZero() {
			return errors.New("its queue used nothing yet")
		}
		return nil
	})
}

// atRest waits until Kueue is at rest, and returns the state.
func (b *bench) atRest() (in *inputs.Inputs) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	defer cancel()
	err := b.bed.WaitFor(ctx, "Kueue to settle", func(ctx context.Context) (err error) {
		in, err = live.Rest(ctx, b.client, b.gates)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return in
}

// change returns the state and the change of a scenario for the simulation, and makes it in the cluster.
func (b *bench) change(in *inputs.Inputs, m maker, c changed) (*inputs.Inputs, []simulate.Change, func() error) {
	b.t.Helper()
	var w *kueue.Workload
	for _, j := range m.running {
		if c.ends != "*" && j.name != c.ends+c.loses+c.passes {
			continue
		}
		i := slices.IndexFunc(in.Workloads, func(w *kueue.Workload) bool {
			return w.Namespace == m.at(j.team) && w.OwnerReferences[0].Name == j.name && w.Status.Admission != nil
		})
		if i >= 0 {
			w = in.Workloads[i]
			break
		}
	}
	if w == nil {
		b.t.Fatalf("%s: no job has quota", c.name)
	}
	if c.passes != "" {
		after := *in
		after.Workloads = slices.Clone(in.Workloads)
		passed := w.DeepCopy()
		passed.Status.AdmissionChecks[0].State, passed.Status.AdmissionChecks[0].Message = kueue.CheckStateReady, "provisioned"
		passed.Status.AdmissionChecks[0].LastTransitionTime = metav1.Now()
		after.Workloads[slices.Index(in.Workloads, w)] = passed
		return &after, nil, func() error {
			return b.patchStatus(kinds.Workload.Path(w.Namespace, w.Name), object{"admissionChecks": passed.Status.AdmissionChecks})
		}
	}
	kind, text, path := simulate.RemoveJob, w.Namespace+"/"+w.OwnerReferences[0].Name, "/apis/batch/v1/namespaces/"+w.Namespace+"/jobs/"+w.OwnerReferences[0].Name
	if c.loses != "" {
		kind, text = simulate.RemoveNodes, nodesOf(w)[0]
		path = "/api/v1/nodes/" + text
	}
	change, err := simulate.New(kind, text)
	if err != nil {
		b.t.Fatal(err)
	}
	return in, []simulate.Change{change}, func() error {
		_, err := b.bed.Request(b.t.Context(), http.MethodDelete, path, "application/json", []byte(`{"propagationPolicy":"Background"}`))
		return err
	}
}

// patchStatus merges fields into the status of an object, as its controller does.
func (b *bench) patchStatus(path string, status object) error {
	body, err := json.Marshal(object{"status": status})
	if err != nil {
		return err
	}
	_, err = b.bed.Request(b.t.Context(), http.MethodPatch, path+"/status", "application/merge-patch+json", body)
	return err
}

// nodesOf are the nodes on which Kueue has placed a Workload, one for each pod.
func nodesOf(w *kueue.Workload) (out []string) {
	if w.Status.Admission == nil {
		return nil
	}
	for _, a := range w.Status.Admission.PodSetAssignments {
		if a.TopologyAssignment == nil {
			continue
		}
		for _, d := range tas.InternalFrom(a.TopologyAssignment).Domains {
			for range d.Count {
				out = append(out, d.Values[len(d.Values)-1])
			}
		}
	}
	slices.Sort(out)
	return out
}

// follows waits until Kueue has done what the simulation says of a change, and reports whether another job moves.
func (b *bench) follows(t *testing.T, m maker, r *simulate.Report) (moves bool) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	t.Logf("%s: %v", strings.Join(r.Changes, ", "), outcomes(m, r))
	if err := b.bed.WaitFor(ctx, "Kueue to do what the simulation says", func(ctx context.Context) error { return b.as(ctx, m, r) }); err != nil {
		t.Errorf("%v; tie %v", err, r.Tie)
	}
	return slices.ContainsFunc(r.Jobs, func(j simulate.Job) bool {
		return m.owns(j) && (j.Before == nil || outcome(j.Before) != outcome(j.After))
	})
}

func (m maker) owns(j simulate.Job) bool {
	return strings.HasPrefix(j.Namespace, m.prefix+"-") && j.After != nil
}

// outcomes are the outcomes of the jobs of a scenario.
func outcomes(m maker, r *simulate.Report) map[string]string {
	out := map[string]string{}
	for _, j := range r.Jobs {
		if m.owns(j) {
			out[j.Namespace+"/"+j.Name] = outcome(j.After)
		}
	}
	return out
}

// as returns how the jobs of a scenario differ from the end of a simulation.
func (b *bench) as(ctx context.Context, m maker, r *simulate.Report) error {
	want := outcomes(m, r)
	for _, j := range m.running {
		name := m.at(j.team) + "/" + j.name
		if want[name] == "" {
			continue
		}
		w, err := b.workloadOf(ctx, m, j)
		if err != nil {
			return err
		}
		have := "waits"
		if live.QuotaOf(w).Status == "True" && live.ConditionOf(w, kueue.WorkloadEvicted).Status != "True" && len(w.Status.UnhealthyNodes) == 0 {
			have = strings.TrimSpace("runs " + strings.Join(nodesOf(w), " "))
		}
		if have != want[name] {
			return fmt.Errorf("%s %s, not %s", name, have, want[name])
		}
	}
	return nil
}

// outcome is a state of the simulation in words: "waits", or "runs" with its nodes.
func outcome(s *simulate.JobState) string {
	switch s.State {
	case simulate.Admitted, simulate.QuotaReserved, simulate.WaitsForNodes:
	default:
		return "waits"
	}
	var nodes []string
	for _, ps := range s.PodSets {
		for _, d := range ps.Topology {
			for range d.Pods {
				nodes = append(nodes, d.Levels[len(d.Levels)-1])
			}
		}
	}
	slices.Sort(nodes)
	return strings.TrimSpace("runs " + strings.Join(nodes, " "))
}
