// Package fidelity holds the admission checker to a live Kueue: the verdict given
// from the state alone must be what Kueue then does, and the reason the one it
// writes. Many small scenarios run side by side in one bed.
//
//	go test ./test/fidelity/... -v
package fidelity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// Kueue says in the conditions why, as finely as it knows, and looks at every
// workload itself.
var gates = map[string]bool{"UnadmittedWorkloadsObservability": true, "SchedulingEquivalenceHashing": false}

// devices are the classes of devices that Kueue counts.
var devices = map[string]string{"gpu.example.com": "nvidia.com/gpu"}

// fromSeeds is how many scenarios are generated for each of the newer beds.
const fromSeeds = 40

func TestFidelityFairSharing(t *testing.T) {
	scenarios := handMade(true)
	for seed := range fromSeeds {
		scenarios = append(scenarios, generated(seed))
	}
	compareWithKueue(t, cluster.Options{KueueFeatureGates: gates, DeviceClasses: devices}, "v1beta2", scenarios)
}

func TestFidelityClassical(t *testing.T) {
	scenarios := handMade(false)
	for seed := range fromSeeds {
		scenarios = append(scenarios, generated(1000+seed))
	}
	compareWithKueue(t, cluster.Options{KueueFeatureGates: gates, DeviceClasses: devices, NoFairSharing: true}, "v1beta2", scenarios)
}

// An older Kueue that serves only v1beta1: verdicts only.
func TestFidelityV1beta1(t *testing.T) {
	compareWithKueue(t, cluster.Options{Kueue: cluster.KueueV1beta1, NoFairSharing: true}, "v1beta1", older())
}

// older are the scenarios for the older Kueue: topologies and trees were another API
// version there, and it does not count devices of claims.
func older() []scenario {
	return slices.DeleteFunc(handMade(false), func(s scenario) bool {
		return s.nodes > 0 || len(s.cohorts) > 0 || s.target.claims != "" || s.target.claim != ""
	})
}

// TestFidelityDocumented holds docs/fidelity.md to the number of scenarios.
func TestFidelityDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/fidelity.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{len(handMade(false)), len(handMade(true))} {
		if row := fmt.Sprintf("| %d (%d hand-made, %d generated) | %[1]d |", n+fromSeeds, n, fromSeeds); !strings.Contains(string(page), row) {
			t.Errorf("no row that ends in %s", row)
		}
	}
	for what, n := range map[string]int{
		fmt.Sprintf("%d kinds in %d situations", len(everyKind()), len(situations())): len(everyKind()) * len(situations()),
		"the same, jobs that Kueue's webhooks refuse or let in":                       len(refusals),
		"two worker clusters": len(sents()),
		"the same, jobs that may preempt each other without end": len(loops()),
		"the same, kinds that MultiKueue sends or rejects":       len(everyKind()),
	} {
		if row := fmt.Sprintf("%s | %d | %[2]d |", what, n); !strings.Contains(string(page), row) {
			t.Errorf("no row that ends in %s", row)
		}
	}
	if row := fmt.Sprintf("| %d changes | %[1]d |", len(changes())); !strings.Contains(string(page), row) {
		t.Errorf("no row that ends in %s", row)
	}
	if row := fmt.Sprintf("| %d hand-made | %[1]d |", len(older())); !strings.Contains(string(page), row) {
		t.Errorf("no row that ends in %s", row)
	}
}

// bench is one bed with its scenarios.
type bench struct {
	t      *testing.T
	bed    *cluster.Bed
	client *kube.Client
	makers []maker
	fair   bool
	gates  map[string]bool
	reason bool // reasons are compared, too
}

func compareWithKueue(t *testing.T, o cluster.Options, version string, scenarios []scenario) {
	o.KueueOnly = true
	b := newBench(t, cluster.ForTest(t, o), o.KueueFeatureGates)
	b.fair, b.reason = !o.NoFairSharing, version == "v1beta2"
	for i, s := range scenarios {
		s.target.name = "target"
		b.makers = append(b.makers, maker{s, version, fmt.Sprintf("s%02d", i)})
	}
	b.setUp()
	verdicts := b.verdicts()
	b.each(func(m maker) error { return b.create(m.workload(m.target)) })
	agreed, unwritten := 0, 0
	for i, m := range b.makers {
		t.Run(m.name, func(t *testing.T) {
			if b.judge(t, m, verdicts[i]) {
				if agreed++; b.unwritten(m, verdicts[i]) {
					unwritten++
				}
			}
		})
	}
	outcomes := map[string]int{}
	for _, d := range verdicts {
		outcomes[strings.TrimSpace(string(d.Outcome)+" "+d.Reason)]++
	}
	t.Logf("%d of %d scenarios agree with Kueue (fair sharing %v, API %s), %d of them without a condition from Kueue: %v",
		agreed, len(b.makers), b.fair, version, unwritten, outcomes)
}

func newBench(t *testing.T, bed *cluster.Bed, gates map[string]bool) *bench {
	target, err := kube.Locate(kube.Location{Kubeconfig: bed.Kubeconfig}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	client, err := kube.New(target.Config, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, bed: bed, client: client, gates: gates, reason: true}
}

// each calls f for every scenario, several at a time.
func (b *bench) each(f func(m maker) error) {
	b.t.Helper()
	var wg sync.WaitGroup
	failed := make([]error, len(b.makers))
	slots := make(chan struct{}, 8)
	for i, m := range b.makers {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := f(m); err != nil {
				failed[i] = fmt.Errorf("%s: %w", m.name, err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) create(o object) error {
	version, kind := o["apiVersion"].(string), o["kind"].(string)
	meta := o["metadata"].(object)
	ns, _ := meta["namespace"].(string)
	for _, r := range append(kinds.All(), kinds.DeviceClass, kinds.ResourceClaimTemplate) {
		if r.Kind == kind && strings.HasPrefix(version, r.Group) {
			at := r.WithVersion(version[strings.LastIndexByte(version, '/')+1:])
			return b.client.Create(b.t.Context(), at, ns, o, kube.CreateOptions{}, nil)
		}
	}
	return fmt.Errorf("no such kind: %s %s", version, kind)
}

// setUp makes queues and nodes, and submits what runs, one job after another.
func (b *bench) setUp() {
	b.t.Helper()
	b.makePolicy()
	most := 0
	for _, m := range b.makers {
		most = max(most, len(m.running))
	}
	for i := range most {
		b.each(func(m maker) error {
			if i >= len(m.running) {
				return nil
			}
			if err := b.create(m.workload(m.running[i])); err != nil {
				return err
			}
			return b.submitted(m, m.running[i])
		})
	}
	b.each(func(m maker) error { return b.rest(m) })
}

// makePolicy makes the queues and nodes.
func (b *bench) makePolicy() {
	b.t.Helper()
	for _, o := range b.witnesses().policy() {
		if err := b.create(o); err != nil {
			b.t.Fatal(err)
		}
	}
	var nodes []object
	for _, m := range b.makers {
		nodes = append(nodes, m.topologyNodes()...)
	}
	if len(nodes) > 0 {
		if err := b.bed.ApplyNodes(b.t.Context(), nodes); err != nil {
			b.t.Fatal(err)
		}
	}
	b.each(func(m maker) error {
		for _, o := range m.policy() {
			if err := b.create(o); err != nil {
				return err
			}
		}
		return nil
	})
	b.each(func(m maker) error {
		if slices.ContainsFunc(m.teams, func(t team) bool { return t.check }) {
			// Without an autoscaler, nothing else says that checks can be made.
			err := b.patchStatus(kinds.AdmissionCheck.Path("", m.at("check")), object{"conditions": []any{
				object{"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}})
			if err != nil {
				return err
			}
		}
		return b.active(m)
	})
}

// active waits until the queues that can be used are.
func (b *bench) active(m maker) error {
	for _, t := range m.teams {
		if t.stop != "" || t.missingFlavor {
			continue
		}
		path := "/apis/kueue.x-k8s.io/" + m.version + "/clusterqueues/" + m.at(t.name)
		if err := b.bed.WaitForCondition(b.t.Context(), path, "Active", "True"); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) get(m maker, j job) (*kueue.Workload, error) {
	var raw json.RawMessage
	at := kinds.Workload.WithVersion(m.version)
	if err := b.client.Get(b.t.Context(), at, m.at(j.team), j.name, &raw); err != nil {
		return nil, err
	}
	objs, err := decode.Objects(raw)
	if err != nil {
		return nil, err
	}
	return objs[0].(*kueue.Workload), nil
}

// submitted waits until Kueue has evaluated a workload, or the workload is behind another one that holds the queue: the
// queue is strict, or the other one waits for evictions. rest is stricter afterwards.
func (b *bench) submitted(m maker, j job) error {
	ctx, cancel := context.WithTimeout(b.t.Context(), 90*time.Second)
	defer cancel()
	return b.bed.WaitFor(ctx, m.at(j.team)+"/"+j.name+" to be evaluated", func(context.Context) error {
		w, err := b.get(m, j)
		if err != nil || live.QuotaOf(w).Evaluated() {
			return err
		}
		for _, other := range m.running {
			if other.team == j.team && other.name != j.name && b.waits(m)(other) {
				return nil
			}
		}
		return fmt.Errorf("QuotaReserved is %q", live.QuotaOf(w))
	})
}

// evaluated waits until Kueue has evaluated a workload. Nothing excuses it.
func (b *bench) evaluated(m maker, j job) error {
	ctx, cancel := context.WithTimeout(b.t.Context(), 90*time.Second)
	defer cancel()
	return b.bed.WaitFor(ctx, m.at(j.team)+"/"+j.name+" to be evaluated", func(context.Context) error {
		w, err := b.get(m, j)
		if err != nil {
			return err
		}
		return live.QuotaOf(w).Settled(false, false)
	})
}

func (m maker) strict(j job) bool {
	return slices.ContainsFunc(m.teams, func(t team) bool { return t.name == j.team && t.strict })
}

// waits returns whether a job of a scenario waits for quota.
func (b *bench) waits(m maker) func(job) bool {
	return func(j job) bool {
		w, err := b.get(m, j)
		return err == nil && live.QuotaOf(w).Status == "False"
	}
}

// rest lets a scenario that preempted on its way settle: nobody clears the reservation of an evicted workload
// that has no job, so it is removed.
func (b *bench) rest(m maker) error {
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	quiet := 0
	return b.bed.WaitFor(ctx, m.prefix+" to settle", func(ctx context.Context) error {
		for _, j := range m.running {
			w, err := b.get(m, j)
			if kube.IsNotFound(err) {
				continue
			}
			if err != nil {
				return err
			}
			if live.ConditionOf(w, kueue.WorkloadEvicted).Status == "True" {
				quiet = 0
				_ = b.client.Delete(ctx, kinds.Workload.WithVersion(m.version), m.at(j.team), j.name, kube.DeleteOptions{})
				return fmt.Errorf("%s/%s was evicted", w.Namespace, w.Name)
			}
			err = live.QuotaOf(w).Settled(m.strict(j), m.behind(j, b.waits(m)))
			if err == nil && live.QuotaOf(w).Reason == kueue.WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads {
				err = errors.New("it waits for evictions")
			}
			if err != nil {
				quiet = 0
				return fmt.Errorf("%s/%s: %w", w.Namespace, w.Name, err)
			}
		}
		if quiet++; quiet < 4 {
			return errors.New("not for long enough")
		}
		return nil
	})
}

// verdicts reads the state as the product does and asks the engine about every target.
func (b *bench) verdicts() []admission.Decision {
	b.t.Helper()
	ctx := b.t.Context()
	in, err := inputs.Load(ctx, b.client, inputs.Options{}, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	cfg := in.Rules().Config
	cfg.Gates = b.gates // given on the command line, not in the configuration
	if cfg.FairSharing != b.fair {
		b.t.Errorf("fair sharing %v was read from the cluster, not %v", cfg.FairSharing, b.fair)
	}
	e, err := admission.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := e.Load(ctx, in.Objects()...); err != nil {
		b.t.Fatal(err)
	}
	out := make([]admission.Decision, len(b.makers))
	for i, m := range b.makers {
		raw, err := json.Marshal(m.workload(m.target))
		if err != nil {
			b.t.Fatal(err)
		}
		objs, err := decode.Objects(raw)
		if err != nil {
			b.t.Fatal(err)
		}
		if out[i], err = e.Probe(ctx, objs[0].(*kueue.Workload)); err != nil {
			b.t.Fatalf("%s: %v", m.name, err)
		}
	}
	return out
}

// unwritten reports that Kueue writes no condition about the target: it has no
// reason to write, or the target is behind another workload in a strict queue.
func (b *bench) unwritten(m maker, d admission.Decision) bool {
	return b.observability() && m.silent || m.strict(m.target) && d.Ahead > 0
}

func (b *bench) observability() bool { return b.gates["UnadmittedWorkloadsObservability"] }

// judge compares a verdict with what Kueue did.
func (b *bench) judge(t *testing.T, m maker, d admission.Decision) bool {
	wait := b.evaluated
	if b.unwritten(m, d) {
		wait = b.passedOver
	}
	if err := wait(m, m.target); err != nil {
		t.Error(err)
		return false
	}
	// Everything the target set in motion has happened when the condition says what
	// the verdict says, or nothing more changes for a while.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := b.bed.WaitFor(ctx, "Kueue to do what the verdict says", func(context.Context) error { return b.compare(m, d) })
	if err != nil {
		t.Errorf("verdict %s %s %q, targets %v, tie %v: %v", d.Outcome, d.Reason, d.Message, targets(d), d.Tie, b.compare(m, d))
		return false
	}
	return true
}

func targets(d admission.Decision) []string {
	out := []string{}
	for _, p := range d.Preempts {
		out = append(out, p.Namespace+"/"+p.Name+" "+p.Reason)
	}
	slices.Sort(out)
	return out
}

func (b *bench) compare(m maker, d admission.Decision) error {
	w, err := b.get(m, m.target)
	if err != nil {
		return err
	}
	var evicted []string
	for _, j := range m.running {
		r, err := b.get(m, j)
		if kube.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if c := live.ConditionOf(r, kueue.WorkloadPreempted); c.Status == "True" {
			evicted = append(evicted, r.Namespace+"/"+r.Name+" "+c.Reason)
		}
	}
	slices.Sort(evicted)
	want := map[admission.Outcome]string{admission.Admitted: "True"}[d.Outcome]
	if want == "" {
		want = "False"
	}
	wrote := unlessUnwritten(live.QuotaOf(w), d, b.unwritten(m, d))
	status, reason := wrote.Status, wrote.Reason
	switch {
	case status != want:
		return fmt.Errorf("Kueue: QuotaReserved=%s %s; evicted %v", status, reason, evicted)
	case d.Outcome == admission.AdmittedByPreempting && len(evicted) == 0, d.Outcome != admission.AdmittedByPreempting && len(evicted) > 0:
		return fmt.Errorf("Kueue evicted %v; QuotaReserved=%s %s", evicted, status, reason)
	case !b.reason:
		return nil
	case d.Outcome == admission.AdmittedByPreempting && !d.Tie && !slices.Equal(evicted, targets(d)):
		return fmt.Errorf("Kueue evicted %v; QuotaReserved=%s %s", evicted, status, reason)
	case want == "False" && reason != d.Reason:
		return fmt.Errorf("Kueue's reason is %s", reason)
	}
	return nil
}
