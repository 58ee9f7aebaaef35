package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/present/queuetext"
	. "github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

const gpu = "nvidia.com/gpu"

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// cluster is two teams of 8 GPUs each in one pool; b may hold 12.
func cluster(workloads ...state.Workload) *state.State {
	team := func(name string, limit int64, flavors ...string) state.ClusterQueue {
		g := state.ResourceGroup{CoveredResources: []string{gpu}}
		for _, f := range flavors {
			g.Flavors = append(g.Flavors, state.FlavorQuotas{Name: f, Resources: []state.ResourceQuota{{Name: gpu,
				Nominal: *resource.NewQuantity(8, resource.DecimalSI), BorrowingLimit: resource.NewQuantity(limit, resource.DecimalSI)}}})
		}
		return state.ClusterQueue{Meta: state.Meta{Name: name}, Cohort: "pool", ResourceGroups: []state.ResourceGroup{g}}
	}
	local := func(ns, queue string) state.LocalQueue {
		return state.LocalQueue{Meta: state.Meta{Name: "lq", Namespace: ns}, ClusterQueue: queue}
	}
	return &state.State{Taken: noon, ClusterQueues: []state.ClusterQueue{team("a", 8, "f"), team("b", 4, "f")},
		LocalQueues: []state.LocalQueue{local("a", "a"), local("b", "b"), local("void", "nowhere")}, Workloads: workloads}
}

func cond(kind, reason, message string, ago time.Duration) state.Condition {
	status := "True"
	if message != "" && kind == quota.QuotaReserved {
		status = "False"
	}
	return state.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: noon.Add(-ago)}
}

type option func(*state.Workload)

func job(ns, name string, gpus int64, ago time.Duration, options ...option) state.Workload {
	w := state.Workload{Meta: state.Meta{Name: "wl-" + name, Namespace: ns, UID: name, CreationTimestamp: noon.Add(-ago),
		Owners: []state.Owner{{Kind: "PyTorchJob", Name: name, Controller: true}}}, Active: true, QueueName: "lq",
		PodSets: []state.PodSet{{Name: "main", Count: 2, Requests: state.Amounts{gpu: gpus / 2, "cpu": 1500}}}}
	for _, o := range options {
		o(&w)
	}
	return w
}

func prio(n int32) option { return func(w *state.Workload) { w.Priority = n } }

func with(c ...state.Condition) option {
	return func(w *state.Workload) { w.Conditions = append(w.Conditions, c...) }
}

func admitted(w *state.Workload) {
	w.Conditions = append(w.Conditions, cond(quota.QuotaReserved, "", "", time.Hour), cond(quota.Admitted, "", "", time.Hour))
	total := w.PodSets[0].Requests[gpu] * 2
	w.Admission = &state.Admission{ClusterQueue: w.Namespace, PodSets: []state.PodSetAssignment{{Name: "main", Count: 2, Flavors: map[string]string{gpu: "f"},
		Usage: map[string]string{gpu: fmt.Sprint(total)}}}}
}

func lines(items []Item) string {
	var out []string
	for _, it := range items {
		out = append(out, fmt.Sprintf("%s/%d %s: %s (%s)", it.Team, it.Position, it.Job, queuetext.Reason(&it.Reason), it.Reason.Code))
	}
	return strings.Join(out, "\n")
}

// on is a node selector; twoFlavors are f of old nodes and g of new ones; b has plenty of g.
func on(kind string) option {
	return func(w *state.Workload) { w.PodSets[0].NodeSelector = map[string]string{"kind": kind} }
}

func twoFlavors(s *state.State) {
	for name, kind := range map[string]string{"f": "old", "g": "new"} {
		s.Flavors = append(s.Flavors, state.ResourceFlavor{Meta: state.Meta{Name: name}, NodeLabels: map[string]string{"kind": kind}})
	}
	g := &s.ClusterQueues[1].ResourceGroups[0]
	g.Flavors = append(g.Flavors, state.FlavorQuotas{Name: "g", Resources: []state.ResourceQuota{{Name: gpu, Nominal: *resource.NewQuantity(100, resource.DecimalSI)}}})
}

func TestBuild(t *testing.T) {
	at := noon.Add(5 * time.Minute)
	for _, c := range []struct {
		name   string
		state  *state.State
		change func(*state.State)
		want   string
	}{
		{"by priority, then time", cluster(job("a", "young", 2, time.Minute), job("a", "old", 2, time.Hour), job("a", "urgent", 2, 0, prio(9))), nil,
			"a/1 urgent: next in the queue (PendingEvaluation)\na/2 old: behind urgent (WaitingForOthers)\na/3 young: behind old (WaitingForOthers)"},
		{"short of quota", cluster(job("a", "runs", 8, 0, admitted), job("b", "wide", 12, 0), job("b", "fits", 6, 0, prio(-1))), nil,
			"b/1 wide: 4 more gpu needed (WaitingForQuota)\nb/2 fits: behind wide (WaitingForOthers)"},
		{"too large for ever", cluster(job("b", "huge", 20, 0)), nil, "b/1 huge: 8 gpu above the team's limit (ExceedsMaxQuota)"},
		{"a flavor is ruled out", cluster(job("b", "x", 12, 0, with(cond(quota.QuotaReserved, "Pending", "couldn't assign flavors to pod set main: flavor g doesn't match node affinity", 0))), job("a", "runs", 8, 0, admitted)),
			func(s *state.State) {
				s.ClusterQueues[1].ResourceGroups[0].Flavors = append(s.ClusterQueues[1].ResourceGroups[0].Flavors, state.FlavorQuotas{Name: "g",
					Resources: []state.ResourceQuota{{Name: gpu, Nominal: *resource.NewQuantity(100, resource.DecimalSI)}}})
			}, "b/1 x: 4 more gpu needed (WaitingForQuota)"},
		{"a node selector counts before Kueue has looked", cluster(job("b", "x", 12, 0, on("old")), job("a", "runs", 8, 0, admitted)), twoFlavors,
			"b/1 x: 4 more gpu needed (WaitingForQuota)"},
		{"without one the flavor with most counts", cluster(job("b", "x", 12, 0), job("a", "runs", 8, 0, admitted)), twoFlavors,
			"b/1 x: next in the queue (PendingEvaluation)"},
		{"a label of no flavor does not count", cluster(job("b", "x", 12, 0, func(w *state.Workload) { w.PodSets[0].NodeSelector = map[string]string{"disk": "ssd"} }),
			job("a", "runs", 8, 0, admitted)), twoFlavors, "b/1 x: next in the queue (PendingEvaluation)"},
		{"in strict order the one before is why", cluster(job("b", "wide", 12, 0), job("b", "next", 12, 0, prio(-1)), job("b", "huge", 20, 0, prio(-2)), job("a", "runs", 8, 0, admitted)),
			func(s *state.State) { s.ClusterQueues[1].QueueingStrategy = "StrictFIFO" },
			"b/1 wide: 4 more gpu needed (WaitingForQuota)\nb/2 next: behind wide (WaitingForOthers)\nb/3 huge: 8 gpu above the team's limit (ExceedsMaxQuota)"},
		{"of a member Kueue's amount is Kueue's word", cluster(job("a", "x", 12, 0, with(cond(quota.QuotaReserved, "Pending", "insufficient unused quota for nvidia.com/gpu in flavor f, 4 more needed", 0)))),
			func(s *state.State) {
				s.Missing = []state.Missing{{Resource: kinds.ClusterQueue, Verb: "list", Reason: state.Forbidden, Partly: true}}
			}, "a/1 x: 4 more gpu needed, Kueue reported (WaitingForQuota)"},
		{"nodes of no flavor", cluster(job("b", "x", 2, 0, on("none"))), twoFlavors, "b/1 x: the queue has only f, g (NoMatchingFlavor)"},
		{"a resource without quota decides before a shortage", cluster(job("a", "runs", 8, 0, admitted), job("b", "x", 12, 0, with(cond(quota.QuotaReserved, "Pending",
			"couldn't assign flavors to pod set main: resource hugepages-2Mi unavailable in ClusterQueue", 0)), func(w *state.Workload) { w.PodSets[0].Requests["hugepages-2Mi"] = 2 << 20 })), nil,
			"b/1 x: the queue has no quota for hugepages-2Mi (NoMatchingFlavor)"},
		{"no quota of it", cluster(job("a", "trn", 2, 0, func(w *state.Workload) {
			w.PodSets[0].Requests = state.Amounts{"aws.amazon.com/neurondevice": 1}
		})), nil, "a/1 trn: the queue has no quota for neurondevice (NoMatchingFlavor)"},
		{"a queue that is not there", cluster(job("x", "lost", 2, 0), job("void", "astray", 2, 0)), nil,
			"/0 lost: queue lq not found (Misconfigured)\n/0 astray: ClusterQueue nowhere not found (Misconfigured)"},
		{"a queue that is not there comes last", cluster(job("x", "lost", 2, 0), job("b", "waits", 12, 0), job("a", "runs", 8, 0, admitted)), nil,
			"b/1 waits: 4 more gpu needed (WaitingForQuota)\n/0 lost: queue lq not found (Misconfigured)"},
		{"a queue that cannot be right", cluster(job("b", "x", 2, 0)), func(s *state.State) { s.ClusterQueues[1].Preemption.ReclaimWithinCohort = "Some" },
			`b/1 x: its queue is invalid: preemption.reclaimWithinCohort is "Some", want Never, LowerPriority, Any (Misconfigured)`},
		{"stopped", cluster(job("a", "x", 2, 0), job("b", "y", 2, 0)), func(s *state.State) {
			s.LocalQueues[0].StopPolicy, s.ClusterQueues[1].StopPolicy = "Hold", "HoldAndDrain"
		}, "a/1 x: its queue is stopped (Suspended)\nb/1 y: its queue is stopped (Suspended)"},
		{"inactive", cluster(job("a", "x", 2, 0)), func(s *state.State) {
			s.ClusterQueues[0].Conditions = []state.Condition{{Type: "Active", Status: "False", Reason: "FlavorNotFound"}}
		}, "a/1 x: its queue is inactive (FlavorNotFound) (QueueInactive)"},
		{"backed off", cluster(job("a", "x", 2, 0, func(w *state.Workload) { w.Requeue = &state.RequeueState{Count: 1, At: &at} })), nil,
			"a/1 x: retried in 5m0s (WaitingForRequeue)"},
		{"Kueue's own words", cluster(job("a", "x", 2, 0, with(cond(quota.QuotaReserved, "Pending", `couldn't assign flavors to pod set main: topology "default" allows to fit only 1 out of 2 pod(s)`, 0)))), nil,
			`a/1 x: topology "default" allows to fit only 1 out of 2 pod(s) (Other)`},
		{"a long sentence", cluster(job("a", "x", 2, 0, with(cond(quota.QuotaReserved, "Pending", "couldn't assign flavors to pod set main: "+strings.Repeat("topology ", 9)+"is full", 0)))), nil,
			"a/1 x: topology topology topology topology topology topology top... (Other)"},
		{"a shortage that is over", cluster(job("a", "x", 2, 0, with(cond(quota.QuotaReserved, "Pending", "insufficient unused quota for nvidia.com/gpu in flavor f, 4 more needed", 0)))), nil,
			"a/1 x: next in the queue (PendingEvaluation)"},
		{"evicted goes to the end", cluster(job("a", "evicted", 2, time.Hour, with(cond("Evicted", "PodsReadyTimeout", "m", time.Minute))), job("a", "later", 2, 30*time.Minute)), nil,
			"a/1 later: next in the queue (PendingEvaluation)\na/2 evicted: behind later (WaitingForOthers)"},
		{"preempted keeps its place", cluster(job("a", "evicted", 2, time.Hour, with(cond("Evicted", "Preempted", "m", time.Minute))), job("a", "later", 2, 30*time.Minute)), nil,
			"a/1 evicted: next in the queue (PendingEvaluation)\na/2 later: behind evicted (WaitingForOthers)"},
		{"held and finished do not wait", cluster(job("a", "held", 2, 0, func(w *state.Workload) { w.Active = false }), job("a", "done", 2, 0, with(cond(quota.Finished, "", "", 0)))), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.state)
			}
			r := quota.Build(c.state)
			if got := lines(Build(c.state, r, r.Teams, order.Rules{}, nil)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestPositions: Kueue's own order counts more than the usual one; what it does
// not name comes last.
func TestPositions(t *testing.T) {
	s := cluster(job("a", "first", 2, time.Hour), job("a", "second", 2, time.Minute), job("a", "third", 2, 0))
	r := quota.Build(s)
	items := Build(s, r, r.Teams, order.Rules{}, Positions{{"a", "wl-second"}: 1, {"a", "wl-first"}: 2})
	if got := lines(items); !strings.HasPrefix(got, "a/1 second") || !strings.Contains(got, "a/2 first: behind second") || !strings.Contains(got, "a/3 third") {
		t.Error(got)
	}
	one := Build(s, r, r.Teams[1:], order.Rules{}, nil)
	if len(one) != 0 {
		t.Errorf("of the other team: %s", lines(one))
	}
}

func TestTallies(t *testing.T) {
	finished := func(reason string, queued, admittedAt, ended time.Duration) option {
		return func(w *state.Workload) {
			admitted(w)
			w.CreationTimestamp = noon.Add(-queued)
			w.Conditions[1].LastTransitionTime = noon.Add(-admittedAt)
			w.Conditions = append(w.Conditions, cond(quota.Finished, reason, "", ended))
		}
	}
	requeued := func(reason string, ago time.Duration, times int) option {
		return func(w *state.Workload) {
			evicted := cond("Evicted", quota.QuotaReserved, "", ago)
			evicted.Status = "False"
			w.Conditions = append(w.Conditions, evicted, cond("Requeued", reason, "", ago))
			w.Evictions = []state.Eviction{{Reason: reason, Count: times}}
		}
	}
	reserving := job("a", "checks", 2, 0, admitted)
	reserving.Conditions = reserving.Conditions[:1]
	s := cluster(job("a", "runs", 2, 0, admitted), reserving, job("a", "waits", 2, 0), job("a", "again", 2, 0, with(cond("Evicted", "Preempted", "m", 0))),
		job("a", "held", 2, 0, func(w *state.Workload) { w.Active = false }),
		job("a", "one", 2, 0, finished("Succeeded", 10*time.Hour, 9*time.Hour, 7*time.Hour)),
		job("a", "two", 2, 0, finished("Failed", 10*time.Hour, 7*time.Hour, 6*time.Hour)),
		job("a", "three", 2, 0, finished("Succeeded", 10*time.Hour, 4*time.Hour, time.Hour), requeued("Preempted", 6*time.Hour, 1)),
		job("c", "not started", 2, 0, finished("FailedToStart", 3*time.Hour, 2*time.Hour, time.Hour)),
		job("c", "preempted twice", 2, 0, finished("Succeeded", 10*time.Hour, 4*time.Hour, time.Hour), requeued("Preempted", 9*time.Hour, 2)),
		job("a", "replaced", 2, 0, finished("OutOfSync", 10*time.Hour, 9*time.Hour, 0)),
		job("a", "deleted", 2, 0, finished("OwnerNotFound", 10*time.Hour, 9*time.Hour, 0)),
		job("b", "other", 2, 0, admitted))
	r := quota.Build(s)
	all := Tallies(s, r)
	a := Sum(all["a"])
	if got := fmt.Sprint(a.Running, a.Reserving, a.Waiting, a.Preempted, a.Held, a.Finished, a.Failed); got != "1 1 2 1 1 3 1" {
		t.Errorf("running, reserving, waiting, preempted, held, finished, failed: %s", got)
	}
	c := Sum(all["c"])
	if c.Finished != 2 || c.Failed != 1 {
		t.Errorf("%d finished, %d failed", c.Finished, c.Failed)
	}
	// Kueue does not record when the second preemption queued the job again.
	if c.Wait.Count != 1 || c.Wait.Average != time.Hour || c.Run.Count != 2 {
		t.Errorf("waited %+v, ran %+v", c.Wait, c.Run)
	}
	// Waits of 1h, 3h and, from the requeue, 2h; runs of 2h, 1h and 3h.
	if a.Wait.Count != 3 || a.Wait.Average != 2*time.Hour || a.Wait.Median != 2*time.Hour || a.Wait.P90 != 3*time.Hour || a.Run != a.Wait {
		t.Errorf("waited %+v, ran %+v", a.Wait, a.Run)
	}
	if both := Sum(all["a"], all["b"], nil); both.Running != 2 || both.Wait.Count != 3 {
		t.Errorf("in sum %+v", both)
	}
	d := NewDocument(nil, r.Teams, all, Computed, noon)
	if d.Total.Running != 2 || d.Teams[0].WaitSeconds.Average != 7200 || d.Teams[1].WaitSeconds != nil {
		t.Errorf("%+v", d)
	}
}
