package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Schema is the name and version of the JSON.
const Schema = "hyperpod.simulate/v3"

// Report is the answer. Its shape is documented in docs/simulate.md.
type Report struct {
	Schema string
	// Time is the clock of the simulation.
	Time       time.Time
	KueueRules string // the version whose rules decide
	Changes    []string
	// Settled is false when the policy never converges; Loop says why. After a given
	// number of cycles it is also false when more cycles would change something.
	Settled bool
	Loop    *Loop `json:",omitempty"`
	// CyclesRun is the number of scheduling cycles after the changes.
	CyclesRun int
	// Tie: Kueue is undecided between several outcomes; this is one of them.
	Tie bool
	// Between: the outcome depends on whether Kueue decides between the changes.
	Between       *Between `json:",omitempty"`
	Before, After Totals
	Teams         []Team
	Jobs          []Job
	Preempted     []Preemption
	Evicted       []Eviction
	// Cycles are those of Options.Cycles; without the option, JSON has no such key.
	Cycles []Cycle `json:",omitzero"`
	// PolicyRemedies are about added jobs that do not run.
	PolicyRemedies []JobRemedies
	// NotModelled names the parts of Kueue that affect decisions and that the simulation does not follow.
	NotModelled []string
	// Later is what happens before the changes, of Options.Ahead.
	Later *Later `json:",omitempty"`
	// Window is the time without the removed nodes, if they return: of Ahead.For.
	Window *Window `json:",omitempty"`
	// RemovedNodes are the nodes that the changes remove.
	RemovedNodes []RemovedNode
	// Problems are what get-quota would report, those that the changes bring first.
	Problems []Problem
	Notes    []Note
	// Missing is what could not be read.
	Missing []state.Unread `json:",omitempty"`
}

// Team is a ClusterQueue before and after the changes; nil if it does not exist.
type Team struct {
	Team, ClusterQueue string
	Before, After      *TeamState
}

// Amount is a quantity in base units: cores, bytes, devices; null if it is unlimited.
type Amount struct {
	Flavor, Resource string
	Amount           quota.Base
	exact            int64 // Amount without rounding, in thousandths of cpu
}

// Job is a job before and after the changes; nil if it does not exist.
type Job struct {
	Namespace, Name    string // of the job
	Workload           string
	Team, ClusterQueue string
	Before, After      *JobState
}

// Changed reports whether the state of a job differs.
func (j Job) Changed() bool {
	if (j.Before == nil) != (j.After == nil) {
		return true
	}
	return j.Before != nil && (j.Before.State != j.After.State || fmt.Sprint(j.Before.Holds, j.Before.Borrowed, j.Before.Overcommit) != fmt.Sprint(j.After.Holds, j.After.Borrowed, j.After.Overcommit))
}

// The states of a job in a simulation.
const (
	Admitted      = "Admitted"
	QuotaReserved = "QuotaReserved" // admission checks are missing
	Evicting      = "Evicting"      // it holds its quota until its pods have ended
	Waiting       = "Waiting"
	WaitsForNodes = "WaitsForNodes" // it has its quota, and no node takes its pods
	Preempted     = "Preempted"     // evicted in the simulation, and waiting again
	Lost          = "Lost"          // evicted: its pods are deleted, and nothing makes them again
	Never         = "Never"         // waiting does not help
	Unknown       = "Unknown"       // it depends on what is not modelled or could not be read: Reason NotModelled or NotReadable
	Finished      = "Finished"
)

// JobState is the state and the quota of a job.
type JobState struct {
	State string
	// Reason and Message are Kueue's, of a job that does not run.
	Reason, Message string
	// By ("namespace/job") and ByWorkload ("namespace/name") preempted it.
	By, ByWorkload string
	// NotModelled names what the state depends on (see the NotModelled constants of
	// package admission).
	NotModelled []string `json:",omitempty"`
	// Placements are the unplaced pods of a job that waits for nodes.
	Placements []fit.Placement `json:",omitempty"`
	// Holds is its quota. Borrowed is the part that others lend, Overcommit the part that nobody lends.
	Holds, Borrowed, Overcommit []Amount
	PodSets                     []PodSet
	suspended                   bool // its workload is inactive: Kueue does not queue it
}

// PodSet is what one pod set got.
type PodSet struct {
	Name     string
	Pods     int32
	Flavors  map[string]string // by resource
	Holds    []Amount
	Topology []Domain `json:",omitempty"`
}

// Domain is a number of pods in one topology domain. Levels are the values of the node
// labels LevelKeys, outermost first.
type Domain struct {
	LevelKeys, Levels []string
	Pods              int32
}

// RemovedNode is a node that a change removes, with the pods it has.
type RemovedNode struct {
	Node, InstanceType string
	Pods               int
}

// Preemption is the eviction of a job to make quota available for another.
type Preemption struct {
	Cycle                     int
	Namespace, Name, Workload string
	Team, ClusterQueue        string
	Reason                    string // Kueue's
	// By ("namespace/job") and ByWorkload ("namespace/name") preempt it.
	By, ByWorkload string
	// Since is when Kueue reserved its quota; nil where that is in the simulation.
	Since *time.Time `json:",omitempty"`
	// RunsAgain: it has quota when the cluster has settled.
	RunsAgain bool
	// JobLost: its pods are deleted, and nothing makes them again.
	JobLost bool `json:",omitempty"`
}

// Eviction is an eviction for another reason: a stopped queue, a lost node.
type Eviction struct {
	Namespace, Name, Workload string
	Team, ClusterQueue        string
	Reason, Message           string
	Since                     *time.Time `json:",omitempty"` // as of a Preemption
	JobLost                   bool       `json:",omitempty"` // as of a Preemption
}

// Options are the options of a simulation.
type Options struct {
	// Cycles is the number of scheduling cycles to run from the current state, each with a report. 0: both sides run
	// until they settle.
	Cycles int
	// EvictionTakes is how long the pods of a job that is being evicted already take to
	// end; until then it holds its quota, also through all Cycles. 0: the grace period of its
	// pods. A negative time: they have ended.
	EvictionTakes time.Duration
	// Then are changes that follow the first ones, so that Kueue may decide in between.
	Then []Change
	// Ahead makes the changes at a later time, or lets removed nodes return; nil: now, and
	// they do not.
	Ahead *Ahead

	// asIs makes the changes in the world as it is. Nothing settles before.
	asIs bool
}

// Run changes the world and compares before and after.
func Run(ctx context.Context, w World, changes []Change, o Options) (*Report, error) {
	w = w.joined()
	w.asFound = o.Ahead == nil
	given := w
	var later *Later
	if o.Ahead != nil && !o.Ahead.At.IsZero() {
		var err error
		if w, later, err = w.later(ctx, *o.Ahead, nil); err != nil {
			return nil, err
		}
	}
	from, steps := 0, o.Cycles
	if steps > 0 || o.asIs {
		from = untouched
	}
	before, undecided, err := decided(ctx, w, from, o.EvictionTakes)
	if err != nil {
		return nil, err
	}
	base := w
	if before.settled {
		base = before.settledWorld()
	}
	a, after, tie, err := o.decided(ctx, base, slices.Concat(changes, o.Then))
	if err != nil {
		return nil, err
	}
	between, err := o.between(ctx, base, changes, after)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Schema: Schema, Time: w.Now.UTC().Truncate(time.Second), KueueRules: versions.BuiltIn, Changes: []string{}, RemovedNodes: append([]RemovedNode{}, a.removed...),
		Settled: after.settled, Loop: after.loop, CyclesRun: after.count, Tie: tie || undecided, Cycles: after.cycles,
		Before: totals(before), After: totals(after),
		Preempted: []Preemption{}, Evicted: []Eviction{}, Later: later, Between: between,
	}
	for _, c := range slices.Concat(changes, o.Then) {
		r.Changes = append(r.Changes, fmt.Sprintf("%s %s", c.Kind, c.Text))
	}
	notes := a.notes
	if later != nil {
		notes = append(notes, Note{Code: AtLater, Later: later, At: w.Now})
	}
	notes = append(notes, before.evictionNotes()...)
	notes = append(notes, after.engineNotes()...)
	if w.Config.FairSharing && w.size() > mostRepeated {
		notes = append(notes, Note{Code: TiesUnknown})
	}
	if !before.settled && steps == 0 {
		notes = append(notes, Note{Code: Unsettled})
	}
	r.Notes = append([]Note{}, sortNotes(notes)...)
	r.Teams = teams(before, after)
	r.Problems = problems(before, after)
	r.Jobs = jobs(before, after)
	r.NotModelled = notModelled(r.Jobs)
	if r.PolicyRemedies, err = after.advice(ctx, addedJobs(base, a.World)); err != nil {
		return nil, err
	}
	began := reservedSince(given)
	r.Preempted = append(r.Preempted, after.preemptions(began)...)
	r.Evicted = append(r.Evicted, evictions(base, after)...)
	for i, e := range r.Evicted {
		r.Evicted[i].Since = began[types.NamespacedName{Namespace: e.Namespace, Name: e.Workload}]
	}
	if o.Ahead != nil && o.Ahead.For > 0 && before.settled && after.settled {
		r.Window, err = window(ctx, base, before, after, changes, a.gone, o)
	}
	return r, err
}

// reservedSince returns when Kueue reserved the quota of the workloads that have some.
func reservedSince(w World) map[types.NamespacedName]*time.Time {
	out := map[types.NamespacedName]*time.Time{}
	for _, wl := range all[*kueue.Workload](w) {
		if wl.Status.Admission != nil {
			since := remedy.ReservedSince(wl)
			out[keyOf(wl)] = &since
		}
	}
	return out
}

// ties is how often a world with fair sharing is run to find out whether Kueue is
// undecided.
const ties = 3

// mostRepeated is the largest [World.size] that is run several times: 50 queues with 2,000
// workloads. A search for preemption targets with fair sharing goes through all queues.
const mostRepeated = 100_000

// size returns the product of queues and workloads, which the time of a run grows with.
func (w World) size() int {
	return len(all[*kueue.ClusterQueue](w)) * len(all[*kueue.Workload](w))
}

// decided runs the world. With fair sharing, where Kueue takes equal shares in the
// order of a map, it is run again; of several outcomes the first by their text is
// shown, so that the answer is as stable as can be.
func decided(ctx context.Context, w World, steps int, takes time.Duration) (*result, bool, error) {
	first, err := run(ctx, w, steps, takes)
	if err != nil || !w.Config.FairSharing || w.size() > mostRepeated {
		return first, false, err
	}
	tie := false
	for range ties - 1 {
		again, err := run(ctx, w, steps, takes)
		if err != nil {
			return nil, false, err
		}
		switch cmp.Compare(again.print(), first.print()) {
		case -1:
			first, tie = again, true
		case 1:
			tie = true
		}
	}
	return first, tie, nil
}

// print returns the parts of an outcome that have to be the same, as text.
func (r *result) print() string {
	var b strings.Builder
	for _, e := range r.events {
		fmt.Fprintf(&b, "%d %s %s/%s %s %v\n", e.Cycle, e.Kind, e.Namespace, e.Name, e.By, e.Flavors)
	}
	return b.String()
}

// preemptions returns the preemptions of a run. began has when workloads got their quota; those that are preempted are removed
// from it, because they began in the simulation if they are preempted again.
func (r *result) preemptions(began map[types.NamespacedName]*time.Time) (out []Preemption) {
	for _, e := range r.events {
		if e.Kind == admission.EventPreempted {
			p, key := r.preemption(e), types.NamespacedName{Namespace: e.Namespace, Name: e.Name}
			p.Since, p.RunsAgain = began[key], r.reserves(key)
			delete(began, key)
			out = append(out, p)
		}
	}
	return out
}

func (r *result) preemption(e admission.Event) Preemption {
	ns, by, _ := strings.Cut(e.By, "/")
	return Preemption{Cycle: e.Cycle, Namespace: e.Namespace, Name: r.jobName(e.Namespace, e.Name), Workload: e.Name, Team: quota.TeamOf(e.ClusterQueue), ClusterQueue: e.ClusterQueue,
		Reason: e.Reason, By: r.label(ns, by), ByWorkload: e.By, JobLost: e.Lost}
}

// evictions returns the workloads that had quota before the run, lost it, and were not
// preempted.
func evictions(base World, r *result) []Eviction {
	preempted := map[types.NamespacedName]bool{}
	for _, e := range r.events {
		if e.Kind == admission.EventPreempted {
			preempted[types.NamespacedName{Namespace: e.Namespace, Name: e.Name}] = true
		}
	}
	var out []Eviction
	for _, w := range all[*kueue.Workload](base) {
		s := r.states[keyOf(w)]
		if s == nil || w.Status.Admission == nil || preempted[keyOf(w)] {
			continue
		}
		queue := string(w.Status.Admission.ClusterQueue)
		if c := apimeta.FindStatusCondition(s.object.Status.Conditions, kueue.WorkloadEvicted); c != nil && c.Status == metav1.ConditionTrue {
			out = append(out, Eviction{Namespace: w.Namespace, Name: r.shown(w), Workload: w.Name, Team: quota.TeamOf(queue), ClusterQueue: queue, Reason: c.Reason, Message: c.Message, JobLost: s.State == Lost})
		}
	}
	return out
}
