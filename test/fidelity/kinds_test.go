package fidelity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/prerequisite"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// situation is a ClusterQueue in which jobs of every kind are submitted.
type situation struct {
	name     string
	high     bool // the job has the priority class fidelity-high
	topology bool // each pod set in one rack
	scenario
}

func situations() []situation {
	alone := func(n int) []team {
		return []team{{name: "a", quota: nominal(n), within: lower, reclaim: never}}
	}
	racks := []flavor{{name: "f", topology: true}}
	return []situation{
		{name: "fits", scenario: scenario{flavors: one, teams: alone(6)}},
		{name: "waits", scenario: scenario{flavors: one, teams: alone(6), running: []job{{team: "a", name: "filler", gpus: 1}}}},
		{name: "too-large", scenario: scenario{flavors: one, teams: alone(5)}},
		{name: "borrows", scenario: scenario{flavors: one, teams: []team{{name: "a", cohort: "pool", quota: nominal(3)}, {name: "lender", cohort: "pool", quota: nominal(3)}}}},
		{name: "preempts", high: true, scenario: scenario{flavors: one, teams: alone(6),
			running: []job{{team: "a", name: "filler", gpus: 2}, {team: "a", name: "second", gpus: 2}}}},
		{name: "rack", topology: true, scenario: scenario{flavors: racks, nodes: 4, teams: alone(16)}},
		{name: "rack-in-use", topology: true, scenario: scenario{flavors: racks, nodes: 4, teams: alone(16),
			running: []job{{team: "a", name: "filler", gpus: 3, required: "rack"}, {team: "a", name: "second", gpus: 3, pods: 2, required: "rack"}}}},
	}
}

// of is a scenario about a job of a kind.
type of struct {
	maker
	object    object
	group     []object // the whole pod group
	namespace string
}

// everyGate are the gates of a bed with all kinds.
func everyGate() map[string]bool {
	out := maps.Clone(gates)
	out["SparkApplicationIntegration"] = true
	return out
}

// TestFidelityKinds submits jobs of every kind that Kueue manages, each as users write it, and compares what Kueue makes of it
// with the verdict on the manifest. Kueue's integrations make the Workloads, from the kinds' own CRDs; no other operator runs.
func TestFidelityKinds(t *testing.T) {
	b, list := kindScenarios(t, everyGate())
	for _, o := range []object{trainingRuntime, {"apiVersion": group + "v1beta2", "kind": "WorkloadPriorityClass", "metadata": object{"name": "fidelity-high"}, "value": 1000}} {
		if err := b.bed.ApplyObjects(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.bed.ApplyNodes(t.Context(), cluster.Nodes("ml.p5.48xlarge", 1)); err != nil { // a pod of six GPUs fits
		t.Fatal(err)
	}
	b.setUp()
	verdicts := b.kindVerdicts(list)
	t.Run("refused", b.refused)
	t.Run("groups", b.groups)
	t.Run("joins", b.joins)
	b.each(func(m maker) error {
		s := list[slices.IndexFunc(list, func(s of) bool { return s.prefix == m.prefix })]
		for _, o := range append([]object{s.object}, s.group[min(1, len(s.group)):]...) {
			if err := b.submit(o, s.namespace); err != nil {
				return err
			}
		}
		return nil
	})
	outcomes := map[string]int{}
	for i, s := range list {
		v := verdicts[i]
		outcomes[strings.TrimSpace(string(v.Verdict)+" "+v.Reason)]++
		t.Run(s.name, func(t *testing.T) { b.judgeKind(t, s, v) })
	}
	t.Logf("%d scenarios: %v", len(list), outcomes)
	for _, o := range []check.Outcome{check.Admitted, check.Waits, check.Never} {
		if !slices.ContainsFunc(verdicts, func(v *check.Verdict) bool { return v.Verdict == o }) {
			t.Errorf("no verdict is %s", o)
		}
	}
}

// submit creates a job as kubectl would, and returns what the webhooks say.
func (b *bench) submit(o object, namespace string) error {
	k, ok := kinds.JobFor(kinds.Text(o, "apiVersion"), kinds.Text(o, "kind"))
	if !ok {
		return errors.New("no such kind")
	}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = b.bed.Request(b.t.Context(), http.MethodPost, k.Path(namespace, ""), "application/json", body)
	return err
}

func kindScenarios(t *testing.T, gates map[string]bool) (*bench, []of) {
	bed := cluster.ForTest(t, cluster.Options{KueueFeatureGates: gates, NoFairSharing: true, KueueOnly: true, AllKinds: true})
	b := newBench(t, bed, gates)
	var list []of
	for _, k := range everyKind() {
		for _, s := range situations() {
			sc := s.scenario
			sc.name, sc.covers = k.name+" "+s.name, []string{"cpu", "memory"}
			sc.target = job{team: "a", name: "target"}
			o := k.make(pods{topology: s.topology})
			var all []object
			if k.group != nil {
				all = append([]object{o}, k.group(pods{topology: s.topology})...)
			}
			if s.high {
				for _, o := range append(all, o) {
					kinds.Set(o, "fidelity-high", "metadata", "labels", kinds.PriorityLabel)
				}
			}
			m := maker{sc, "v1beta2", fmt.Sprintf("k%03d", len(list))}
			b.makers = append(b.makers, m)
			list = append(list, of{m, o, all, m.at("a")})
		}
	}
	return b, list
}

// kindVerdicts reads the state as the product does, and asks about every job.
func (b *bench) kindVerdicts(list []of) []*check.Verdict {
	b.t.Helper()
	in, err := inputs.Load(b.t.Context(), b.client, inputs.Options{}, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	in.Manager.Gates = b.gates // given on the command line, not in the configuration
	c, err := check.New(b.t.Context(), in)
	if err != nil {
		b.t.Fatal(err)
	}
	out := make([]*check.Verdict, len(list))
	for i, s := range list {
		out[i], err = c.Check(b.t.Context(), check.Request{Object: s.object, Group: s.group, Namespace: s.namespace, Found: &prerequisite.Found{Runtime: trainingRuntime}})
		if err != nil {
			b.t.Fatalf("%s: %v", s.name, err)
		}
	}
	return out
}

// workloadsOf are the Workloads that Kueue made of the job of a scenario.
func (b *bench) workloadsOf(ctx context.Context, s of) (made, fillers []*kueue.Workload, err error) {
	var list struct{ Items []*kueue.Workload }
	if err := b.bed.Get(ctx, "/apis/kueue.x-k8s.io/v1beta2/namespaces/"+s.namespace+"/workloads", &list); err != nil {
		return nil, nil, err
	}
	for _, w := range list.Items {
		if slices.ContainsFunc(s.running, func(j job) bool { return j.name == w.Name }) {
			fillers = append(fillers, w)
		} else {
			made = append(made, w)
		}
	}
	return made, fillers, nil
}

// judgeKind compares a verdict with what Kueue did.
func (b *bench) judgeKind(t *testing.T, s of, v *check.Verdict) {
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
	defer cancel()
	evicted := map[string]bool{} // preempted fillers, by name and reason
	err := b.bed.WaitFor(ctx, "Kueue to do what the verdict says", func(ctx context.Context) error {
		made, fillers, err := b.workloadsOf(ctx, s)
		if err != nil {
			return err
		}
		for _, f := range fillers {
			if c := live.ConditionOf(f, kueue.WorkloadPreempted); c.Status == "True" {
				// Nothing ends the pods of a Workload without a job, so that its quota is not freed.
				evicted[f.Name+" "+c.Reason] = true
				_ = b.client.Delete(ctx, kinds.Workload, f.Namespace, f.Name, kube.DeleteOptions{})
				return fmt.Errorf("%s was preempted", f.Name)
			}
		}
		return s.compareKind(made, slices.Sorted(maps.Keys(evicted)), v)
	})
	if err != nil {
		made, _, _ := b.workloadsOf(t.Context(), s)
		t.Errorf("verdict %s %s %s, preempts %v, groups %v, submission %+v: %v; Kueue made %s", v.Verdict, v.Reason, v.Detail, preempted(v), v.Groups, v.Submission,
			s.compareKind(made, slices.Sorted(maps.Keys(evicted)), v), described(made))
	}
}

func described(list []*kueue.Workload) string {
	var out []string
	for _, w := range list {
		c := live.QuotaOf(w)
		text := fmt.Sprintf("%s (%s %s", w.Name, c.Status, c.Reason)
		for _, ps := range w.Spec.PodSets {
			text += fmt.Sprintf(" %s:%d", ps.Name, ps.Count)
			for _, c := range ps.Template.Spec.Containers {
				text += fmt.Sprintf("×%v", c.Resources.Requests)
			}
		}
		out = append(out, text+")")
	}
	return strings.Join(out, ", ")
}

func preempted(v *check.Verdict) []string {
	out := []string{}
	for _, p := range v.Quota.Preempts {
		out = append(out, cmp.Or(p.Workload, p.Name)+" "+p.Reason)
	}
	slices.Sort(out)
	return out
}

// compareKind returns how the Workloads of a job differ from the verdict on it.
func (s of) compareKind(made []*kueue.Workload, evicted []string, v *check.Verdict) error {
	want, all := int64(0), int64(1)
	if v.Groups != nil {
		want, all = v.Groups.Starting, v.Groups.All
	} else if v.Verdict == check.Admitted {
		want = 1
	}
	if int64(len(made)) != all {
		return fmt.Errorf("Kueue made %d workloads, not %d", len(made), all)
	}
	reserved := int64(0)
	for _, w := range made {
		switch c := live.QuotaOf(w); {
		case c.Status == "True":
			reserved++
		case !c.Evaluated():
			return fmt.Errorf("%s is not evaluated", w.Name)
		case v.Groups == nil && c.Reason != v.Reason:
			return fmt.Errorf("Kueue's reason is %s", c.Reason)
		}
	}
	if reserved != want {
		return fmt.Errorf("%d of %d workloads have quota, not %d", reserved, len(made), want)
	}
	if !slices.Equal(evicted, preempted(v)) {
		return fmt.Errorf("Kueue preempted %v", evicted)
	}
	return nil
}
