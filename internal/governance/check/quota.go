package check

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// scaledToZero reports a service without pods. Kueue makes Workloads of its pods, and so makes none.
func scaledToZero(wl *kueue.Workload, v *Verdict) bool {
	k, _ := kinds.JobNamed(v.Job.Kind)
	return k.Serves && !slices.ContainsFunc(wl.Spec.PodSets, func(ps kueue.PodSet) bool { return ps.Count > 0 })
}

// quota asks Kueue's core and collects the figures behind its decision.
func (c *Checker) quota(ctx context.Context, job map[string]any, wl *kueue.Workload, v *Verdict) (*admission.Decision, error) {
	if c.outOfQuota(job, wl, v) {
		c.podSets(wl, nil, v)
		return nil, nil
	}
	d, err := c.Engine.Probe(ctx, wl)
	if err != nil {
		return nil, &Error{Code: Undecided, Name: v.Job.Name, Err: err}
	}
	if d, err = c.between(ctx, wl, d, v); err != nil {
		return nil, &Error{Code: Undecided, Name: v.Job.Name, Err: err}
	}
	c.outcome(&d, v)
	if v.Job.ClusterQueue == "" {
		v.Job.at(d.ClusterQueue)
	}
	for _, w := range d.Warnings {
		v.Rules.Notes = append(v.Rules.Notes, inputs.Note{Code: inputs.NotModelled, Warning: &w})
	}
	if c.In.UnknownOverhead(wl) && !slices.ContainsFunc(v.Rules.Notes, func(n inputs.Note) bool { return n.RuntimeClasses }) {
		v.Rules.Notes = append(v.Rules.Notes, inputs.Note{Code: inputs.NotModelled, RuntimeClasses: true})
	}
	c.differences(wl, v)
	q := &v.Quota
	q.NotModelled, v.checks = d.NotModelled, d.Checks
	c.podSets(wl, &d, v)
	q.Resources = c.lines(wl, v, &d)
	c.borrowed(v, &d)
	if cq := c.In.ClusterQueue(v.Job.ClusterQueue); cq != nil {
		q.Shared = cq.Spec.CohortName != ""
	}
	if v.Undecided() {
		q.Unseen.Condition = v.condition()
	}
	if q.Status == StatusFailed {
		q.Detail = c.detail(wl, v, &d)
	}
	for i, p := range d.Preempts {
		e := c.preemption(p)
		if i < remedy.Nearest { // as many as anybody looks at
			e.Nodes = c.nodesOf(p)
		}
		q.Preempts = append(q.Preempts, e)
	}
	return &d, nil
}

// outOfQuota reports whether no quota governs a job, and notes why.
func (c *Checker) outOfQuota(job map[string]any, wl *kueue.Workload, v *Verdict) bool {
	q := &v.Quota
	switch {
	case len(wl.Spec.PodSets) == 0 || scaledToZero(wl, v):
		q.Skipped = NoPods
	case len(c.In.LocalQueues) == 0 && len(c.In.ClusterQueues) == 0 && c.notServed():
		q.Skipped = NoKueue
	case !c.governed(job, v):
		q.Skipped = NotGoverned
	case wl.Spec.QueueName == "":
		q.Skipped = NoQueue
	default:
		return false
	}
	q.Status = StatusNotApplicable
	if q.Skipped == NoQueue && c.rules.Manages(c.In, wl.Namespace) {
		q.Status = StatusFailed
		q.Outcome, q.Reason, q.Detail = string(admission.Never), kueue.WorkloadQuotaReservedReasonMisconfigured, NoQueueLabel
	}
	return true
}

// outcome notes what the engine decided, and for which jobs the job waits.
func (c *Checker) outcome(d *admission.Decision, v *Verdict) {
	q := &v.Quota
	q.Status, q.Outcome, q.Reason, q.Message = StatusOK, string(d.Outcome), d.Reason, d.Message
	q.Ahead, q.Tie = d.Ahead, d.Tie
	if d.Behind > 0 {
		head := c.Engine.Pending(d.ClusterQueue)[0]
		q.Head = c.jobOf(head.Namespace + "/" + head.Name)
	}
	if first := cmp.Or(d.Preemptor, d.Equivalent); first != "" {
		q.Head = c.jobOf(first)
	}
	for _, key := range d.Leaving {
		q.WaitsForEvicted = append(q.WaitsForEvicted, c.jobOf(key))
	}
	for _, key := range d.NotReady {
		q.WaitsForPods = append(q.WaitsForPods, c.jobOf(key))
	}
	if !d.GateOpens.IsZero() {
		q.PreemptsFrom = ptr.To(d.GateOpens.UTC())
	}
	if !d.Outcome.Starts() {
		q.Status = StatusFailed
	}
}

// jobOf returns the namespace and the name of the job of a workload, from those of the workload.
func (c *Checker) jobOf(workload string) string {
	namespace, name, _ := strings.Cut(workload, "/")
	return namespace + "/" + c.In.JobName(namespace, name)
}

// governed reports whether Kueue governs the kind of a new job, and notes what that assumes.
func (c *Checker) governed(job map[string]any, v *Verdict) bool {
	k, ok := kinds.JobNamed(v.Job.Kind)
	if !ok || v.Existing != nil {
		return true
	}
	governs, gate := c.rules.Governs(k)
	if k.CPUUnseen != nil && governs {
		if unseen, counted := k.CPUUnseen(job); unseen != "" {
			v.Rules.Notes = append(v.Rules.Notes, inputs.Note{Code: inputs.CPUNotCounted, Unseen: unseen, Counted: counted})
		}
	}
	switch {
	case governs && gate:
		v.Rules.Notes = append(v.Rules.Notes, inputs.Note{Code: inputs.GateAssumed, Gate: k.Gate, Kind: k.Kind})
	case !governs:
		v.Quota.GateOff = gate
	}
	return governs
}

// differences names what the cluster's version of Kueue may decide in another way.
func (c *Checker) differences(wl *kueue.Workload, v *Verdict) {
	i := slices.IndexFunc(v.Rules.Notes, func(n inputs.Note) bool { return n.Code == inputs.VersionDiffers })
	if i < 0 {
		return
	}
	// The notes of all verdicts are one list.
	v.Rules.Notes = slices.Clone(v.Rules.Notes)
	n := &v.Rules.Notes[i]
	rules := c.In.Rules()
	n.Differences = []string{}
	for _, d := range versions.Between(n.Version, versions.BuiltIn, c.In.VersionCase(&rules.Config, c.In.ClusterQueue(v.Job.ClusterQueue), wl)) {
		n.Differences = append(n.Differences, string(d.Code))
	}
}

func (c *Checker) notServed() bool {
	return slices.ContainsFunc(c.In.Missing, func(m state.Missing) bool {
		return m.Resource.Kind == "ClusterQueue" && m.Reason == state.NotServed
	})
}

// podSets lists the roles with their requests: Kueue's count of them where it decided.
func (c *Checker) podSets(wl *kueue.Workload, d *admission.Decision, v *Verdict) {
	for i := range wl.Spec.PodSets {
		ps := &wl.Spec.PodSets[i]
		out := PodSet{Name: string(ps.Name), Like: c.podLike(wl, ps.Name, v), Pods: ps.Count, Requests: []Amount{}}
		var dec *admission.PodSetDecision
		if d != nil {
			for k := range d.PodSets {
				if d.PodSets[k].Name == out.Name {
					dec = &d.PodSets[k]
				}
			}
		}
		if dec != nil {
			out.Flavors = dec.Flavors
			if dec.Count < ps.Count {
				out.Admitted = dec.Count
			}
			for _, r := range dec.Requests {
				out.Requests = append(out.Requests, Amount{r.Flavor, r.Resource, quota.BaseOf(r.Resource, r.Value)})
			}
		} else {
			for name, q := range fit.Requests(&ps.Template.Spec) {
				n := quota.Times(quota.AmountOf(string(name), q), ps.Count)
				out.Requests = append(out.Requests, Amount{"", string(name), quota.BaseOf(string(name), n)})
			}
		}
		slices.SortFunc(out.Requests, func(a, b Amount) int {
			return cmp.Or(cmp.Compare(kinds.ResourceRank(a.Resource), kinds.ResourceRank(b.Resource)), cmp.Compare(a.Resource, b.Resource))
		})
		v.Job.PodSets = append(v.Job.PodSets, out)
	}
}

// lines returns the flavors that could provide each requested resource; only those
// that Kueue chose where the job starts.
func (c *Checker) lines(wl *kueue.Workload, v *Verdict, d *admission.Decision) []Line {
	cq := c.In.ClusterQueue(v.Job.ClusterQueue)
	if cq == nil || len(admission.ClusterQueueFaults(cq)) > 0 {
		return nil
	}
	want := demandOf(d)
	var out []Line
	for _, g := range cq.Spec.ResourceGroups {
		goes := c.reach(wl, g.Flavors, d)
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				name := string(r.Name)
				if !goes(f, name) && slices.ContainsFunc(g.Flavors, func(o kueue.FlavorQuotas) bool { return goes(o, name) }) {
					continue
				}
				k := quota.Key{Flavor: string(f.Name), Resource: name}
				if amount := want.of(k); amount > 0 {
					out = append(out, c.line(v, cq.Name, k, r, amount))
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Line) int {
		return cmp.Compare(kinds.ResourceRank(a.Resource), kinds.ResourceRank(b.Resource))
	})
	return out
}

// demand is what a job requests of each resource and, where it starts, the flavors that Kueue chose for that.
type demand struct {
	requested map[string]int64
	chosen    map[quota.Key]int64
	given     map[string]bool // resources that got a flavor
}

func demandOf(d *admission.Decision) demand {
	out := demand{map[string]int64{}, map[quota.Key]int64{}, map[string]bool{}}
	for _, ps := range d.PodSets {
		for _, r := range ps.Requests {
			out.requested[r.Resource] += r.Value
			if f := ps.Flavors[r.Resource]; f != "" && d.Outcome.Starts() {
				out.chosen[quota.Key{Flavor: f, Resource: r.Resource}] += r.Value
				out.given[r.Resource] = true
			}
		}
	}
	return out
}

// of returns what the job requests, or could request, of a resource in a flavor.
func (d demand) of(k quota.Key) int64 {
	if d.given[k.Resource] {
		return d.chosen[k]
	}
	return d.requested[k.Resource]
}

// line returns the figures of a queue for the amount of a resource in a flavor that a job requests.
func (c *Checker) line(v *Verdict, queue string, k quota.Key, r kueue.ResourceQuota, amount int64) Line {
	name := k.Resource
	unseen := v.Quota.Unseen != nil && v.Quota.Unseen.Tree
	used := c.used[queue][k]
	capacity := c.Tree.Availability(queue, k.Flavor, name)
	free, lent := c.Tree.Free(queue, k.Flavor, name)
	l := Line{Flavor: k.Flavor, Resource: name, Requested: quota.BaseOf(name, amount),
		Nominal: quantity(name, r.NominalQuota), BorrowingLimit: limit(name, r.BorrowingLimit), LendingLimit: limit(name, r.LendingLimit),
		Used: quota.BaseOf(name, used)}
	if !unseen {
		l.Free, l.Lent = known(name, free), known(name, lent)
		l.Available, l.Limit = known(name, capacity.Now), known(name, capacity.Most)
	} else if idle := max(0, l.Nominal-l.Used); l.kept() == idle {
		l.Free, l.Lent = &idle, new(quota.Base) // it has nothing to lend
	}
	if unseen && !v.Undecided() && r.BorrowingLimit != nil {
		// It waits whatever the others lend, so only its own limit is short.
		if capacity.Most = quota.AmountOf(name, r.NominalQuota) + quota.AmountOf(name, *r.BorrowingLimit); capacity.Most < 0 {
			capacity.Most = quota.Unlimited
		}
		capacity.Now = max(0, capacity.Most-used)
	}
	l.shortage = quota.LeastShort([]quota.Availability{capacity}, amount)
	l.Short = quota.BaseOf(name, l.shortage.Missing)
	return l
}

// reach returns the function that reports whether pods that request a resource can use
// a flavor of a group. As in package queue, Kueue's message and the node selectors
// decide.
func (c *Checker) reach(wl *kueue.Workload, group []kueue.FlavorQuotas, d *admission.Decision) func(kueue.FlavorQuotas, string) bool {
	keys := map[string]bool{}
	labels := map[kueue.ResourceFlavorReference]map[string]string{}
	for _, f := range group {
		if flavor := c.In.Flavor(string(f.Name)); flavor != nil {
			labels[f.Name] = flavor.Spec.NodeLabels
			for key := range flavor.Spec.NodeLabels {
				keys[key] = true
			}
		}
	}
	return func(f kueue.FlavorQuotas, resource string) bool {
		covers := slices.ContainsFunc(f.Resources, func(r kueue.ResourceQuota) bool { return string(r.Name) == resource })
		return covers && !words.RulesOut(d.Message, string(f.Name)) && slices.ContainsFunc(wl.Spec.PodSets, func(ps kueue.PodSet) bool {
			asks := slices.ContainsFunc(d.PodSets, func(p admission.PodSetDecision) bool {
				return p.Name == string(ps.Name) && slices.ContainsFunc(p.Requests, func(r admission.Quantity) bool { return r.Resource == resource && r.Value > 0 })
			})
			return asks && quota.Selects(ps.Template.Spec.NodeSelector, labels[f.Name], keys)
		})
	}
}

func quantity(resource string, q apiresource.Quantity) quota.Base {
	return quota.BaseOf(resource, quota.AmountOf(resource, q))
}

// limit returns a limit that is set, nil for none and for an unlimited one.
func limit(resource string, q *apiresource.Quantity) *quota.Base {
	if q == nil || quota.AmountOf(resource, *q) == quota.Unlimited {
		return nil
	}
	n := quantity(resource, *q)
	return &n
}

func known(resource string, n int64) *quota.Base {
	b := quota.BaseOf(resource, n)
	return &b
}

// borrowed notes what the job borrows, from whom, and who can reclaim it.
func (c *Checker) borrowed(v *Verdict, d *admission.Decision) {
	q := &v.Quota
	lenders := map[string]bool{}
	for _, b := range d.Borrowed {
		out := Borrowed{Flavor: b.Flavor, Resource: b.Resource, Amount: quota.BaseOf(b.Resource, b.Value), Lenders: []Lender{}}
		for _, l := range c.Tree.Lenders(v.Job.ClusterQueue, b.Flavor, b.Resource, b.Value) {
			if l.ClusterQueue != "" {
				lenders[l.ClusterQueue] = true
			}
			out.Lenders = append(out.Lenders, Lender{quota.TeamOf(l.ClusterQueue), l.ClusterQueue, l.Cohort, quota.BaseOf(b.Resource, l.Amount)})
		}
		q.Borrowed = append(q.Borrowed, out)
	}
	slices.SortStableFunc(q.Borrowed, func(a, b Borrowed) int {
		return cmp.Compare(kinds.ResourceRank(a.Resource), kinds.ResourceRank(b.Resource))
	})
	if len(q.Borrowed) == 0 {
		return
	}
	q.Reclaim = &Reclaim{Lenders: []Reclaimer{}}
	for _, cq := range c.In.ClusterQueues {
		if !lenders[cq.Name] || cq.Spec.Preemption == nil {
			continue
		}
		if p := cq.Spec.Preemption.ReclaimWithinCohort; p != "" && p != kueue.PreemptionPolicyNever {
			q.Reclaim.Possible = true
			q.Reclaim.Lenders = append(q.Reclaim.Lenders, Reclaimer{quota.TeamOf(cq.Name), cq.Name, string(p)})
		}
	}
}

func (c *Checker) preemption(p admission.Preemption) Preemption {
	out := Preemption{Namespace: p.Namespace, Name: p.Name, Workload: p.Name, Team: quota.TeamOf(p.ClusterQueue), ClusterQueue: p.ClusterQueue,
		Priority: p.Priority, Reason: p.Reason, JobLost: p.Lost, Holds: []Amount{}}
	if w := c.In.Workload(p.Namespace, p.Name); w != nil {
		out.Name, _ = c.In.JobOf(w)
		out.Since = remedy.ReservedSince(w)
	}
	if team, hidden := c.In.HiddenTeam(p.Namespace, p.Name); hidden {
		out.Team, out.Hidden = team, true
	}
	for _, r := range p.Releases {
		out.Holds = append(out.Holds, Amount{r.Flavor, r.Resource, quota.BaseOf(r.Resource, r.Value)})
	}
	slices.SortStableFunc(out.Holds, func(a, b Amount) int {
		return cmp.Compare(kinds.ResourceRank(a.Resource), kinds.ResourceRank(b.Resource))
	})
	return out
}
