package remedy

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Find returns what would let the job run now, the least intrusive change first.
// Kueue's core confirms each. Find leaves the engine unchanged.
func Find(ctx context.Context, q Question) ([]Remedy, error) {
	f := &finder{Question: q}
	f.resource = device(q.Workload)
	f.fewerNodes(ctx)
	f.otherTypes(ctx)
	f.otherQueues(ctx)
	f.higherPriority(ctx)
	f.jobsEnd(ctx)
	if f.err == nil {
		f.err = ctx.Err()
	}
	slices.SortStableFunc(f.out, func(a, b Remedy) int { // what runs now first
		switch {
		case a.Waits == b.Waits:
			return 0
		case b.Waits:
			return -1
		}
		return 1
	})
	return f.out, f.err
}

type finder struct {
	Question
	resource string
	before   []*kueue.Workload // pending workloads ahead of the job's
	strict   bool              // each of them has to start first
	out      []Remedy
	err      error
}

// answer is what happens to a changed job.
type answer struct {
	d     admission.Decision
	runs  bool // at once
	waits bool // later
}

// ask asks Kueue's core and the nodes about a workload. With preempting, a job that
// has to preempt others runs too.
func (f *finder) ask(ctx context.Context, w *kueue.Workload, preempting bool, ended ...Holder) answer {
	if f.err != nil || ctx.Err() != nil {
		return answer{}
	}
	d, err := f.Engine.Probe(ctx, w)
	if err != nil {
		return answer{} // the changed workload is invalid, so the change is no remedy
	}
	fits := FitsNow
	if f.Fits != nil {
		fits = f.Fits(w, &d, ended)
	}
	switch d.Outcome {
	case admission.Admitted:
		return answer{d, fits == FitsNow, fits == FitsLater}
	case admission.AdmittedByPreempting:
		runs := preempting && fits == FitsNow
		return answer{d, runs, !runs && fits != FitsNever}
	case admission.Waits:
		return answer{d, false, fits != FitsNever}
	}
	return answer{d: d}
}

func (f *finder) add(ctx context.Context, r Remedy, d *admission.Decision) {
	r.Resource = f.resource
	f.permit(ctx, &r)
	for _, ps := range d.PodSets {
		for _, q := range ps.Requests {
			if q.Resource == f.resource {
				r.Amount += quota.BaseOf(q.Resource, q.Value)
			}
		}
	}
	for _, q := range d.Borrowed {
		if q.Resource == f.resource {
			r.Borrowed += quota.BaseOf(q.Resource, q.Value)
		}
	}
	for _, p := range d.Preempts {
		e := Evicted{Namespace: p.Namespace, Name: f.In.JobName(p.Namespace, p.Name), Workload: p.Name, Priority: p.Priority, JobLost: p.Lost}
		e.Team, e.Hidden = f.In.HiddenTeam(p.Namespace, p.Name)
		for _, q := range p.Releases {
			if q.Resource == f.resource {
				e.Amount += quota.BaseOf(q.Resource, q.Value)
			}
		}
		r.Preempts = append(r.Preempts, e)
	}
	f.out = append(f.out, r)
}

// device returns the resource that people count a job in: its first device, else cpu.
func device(w *kueue.Workload) string {
	found := ""
	for i := range w.Spec.PodSets {
		for _, c := range w.Spec.PodSets[i].Template.Spec.Containers {
			for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
				for name, q := range list {
					if !q.IsZero() && better(string(name), found) {
						found = string(name)
					}
				}
			}
		}
	}
	return found
}

// better prefers accelerators to network interfaces, those to cpu, and cpu to the rest.
func better(name, than string) bool {
	return than == "" || cmp.Or(cmp.Compare(kinds.ResourceRank(name), kinds.ResourceRank(than)), cmp.Compare(name, than)) < 0
}

// fewerNodes searches for the largest number of nodes that runs now; for a job that can
// never run, else for the largest that can wait.
func (f *finder) fewerNodes(ctx context.Context) {
	ask, most, role := f.byRendering(ctx)
	if most < 2 {
		if ask, most, role = f.byPodSet(ctx); most < 2 {
			return
		}
	}
	for _, waits := range []bool{false, true} {
		if waits && !f.NeverAdmitted {
			return
		}
		low, high := 0, most // low is enough, high is not
		var best answer
		var options []string
		for high-low > 1 {
			n := low + (high-low)/2
			if a, made := ask(n); a.runs || waits && a.waits {
				low, best, options = n, a, made
			} else {
				high = n
			}
		}
		if low > 0 {
			f.add(ctx, Remedy{Code: FewerNodes, Waits: waits, Nodes: int32(low), PodSet: role, Options: options}, &best.d)
			return
		}
	}
}

// byRendering returns the question about the job with n nodes; most is the job's own
// number, 0 where start-job cannot change it.
func (f *finder) byRendering(ctx context.Context) (ask func(n int) (answer, []string), most int, role string) {
	if f.Make == nil {
		return nil, 0, ""
	}
	_, own, err := f.Make(Change{})
	if err != nil || own.Nodes < 2 {
		return nil, 0, ""
	}
	if _, less, err := f.Make(Change{Nodes: own.Nodes - 1}); err != nil || less.Nodes != own.Nodes-1 {
		return nil, 0, ""
	}
	return func(n int) (answer, []string) {
		w, made, err := f.Make(Change{Nodes: n})
		if err != nil {
			return answer{}, nil
		}
		return f.ask(ctx, w, false), made.Options
	}, own.Nodes, ""
}

// byPodSet returns the question about the job with n pods in its largest pod set.
func (f *finder) byPodSet(ctx context.Context) (ask func(n int) (answer, []string), most int, role string) {
	sets := f.Workload.Spec.PodSets
	largest := -1
	for i := range sets {
		if largest < 0 || sets[i].Count > sets[largest].Count {
			largest = i
		}
	}
	if largest < 0 {
		return nil, 0, ""
	}
	return func(n int) (answer, []string) {
		w := f.Workload.DeepCopy()
		ps := &w.Spec.PodSets[largest]
		ps.Count = int32(n)
		if ps.MinCount != nil && *ps.MinCount > ps.Count {
			ps.MinCount = nil
		}
		return f.ask(ctx, w, false), nil
	}, int(sets[largest].Count), string(sets[largest].Name)
}

// higherPriority tries the classes above the job's own, the lowest first.
func (f *finder) higherPriority(ctx context.Context) {
	classes := slices.Clone(f.In.WorkloadPriority)
	slices.SortFunc(classes, func(a, b *kueue.WorkloadPriorityClass) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	tried := priority(f.Workload)
	for _, c := range classes {
		if c.Value <= tried {
			continue
		}
		tried = c.Value
		w := f.Workload.DeepCopy()
		w.Spec.Priority = &c.Value
		w.Spec.PriorityClassRef = kueue.NewWorkloadPriorityClassRef(c.Name)
		if a := f.ask(ctx, w, true); a.runs {
			f.add(ctx, Remedy{Code: HigherPriority, PriorityClass: c.Name, Priority: c.Value}, &a.d)
			return
		}
	}
}

// otherQueues tries the other queues that the user can use.
func (f *finder) otherQueues(ctx context.Context) {
	tried := map[string]bool{}
	if own := f.In.LocalQueue(f.Workload.Namespace, string(f.Workload.Spec.QueueName)); own != nil {
		tried[string(own.Spec.ClusterQueue)] = true
	}
	queues := slices.Clone(f.Queues)
	slices.SortStableFunc(queues, func(a, b *kueue.LocalQueue) int { // those of the job's namespace first
		away := func(q *kueue.LocalQueue) int {
			if q.Namespace == f.Workload.Namespace {
				return 0
			}
			return 1
		}
		return away(a) - away(b)
	})
	var found candidates
	for _, lq := range queues {
		cq := string(lq.Spec.ClusterQueue)
		if tried[cq] || len(tried) > mostQueues {
			continue
		}
		tried[cq] = true
		w := f.Workload.DeepCopy()
		w.Namespace, w.Spec.QueueName = lq.Namespace, kueue.LocalQueueName(lq.Name)
		found.note(Remedy{Code: OtherQueue, Namespace: lq.Namespace, Queue: lq.Name, Team: quota.TeamOf(cq), ClusterQueue: cq}, f.ask(ctx, w, false))
	}
	f.take(ctx, found)
}

// jobsEnd searches for few jobs whose end frees enough: it takes the largest until
// that is enough, then drops each that is not needed.
func (f *finder) jobsEnd(ctx context.Context) {
	holders := slices.Clone(f.Holders)
	if len(holders) == 0 || len(holders[0].Holds) == 0 {
		return
	}
	if f.before, f.strict = f.ahead(); len(f.before) > mostAhead {
		return
	}
	slices.SortStableFunc(holders, func(a, b Holder) int { return cmp.Compare(b.Holds[0].Units, a.Holds[0].Units) })
	holders = holders[:min(len(holders), mostHolders)]
	low, high := 0, len(holders)+1
	var best admission.Decision
	for high-low > 1 {
		n := low + (high-low)/2
		if d, ok := f.without(ctx, holders[:n]); ok {
			high, best = n, d
		} else {
			low = n
		}
	}
	if high > len(holders) || f.err != nil {
		return
	}
	enough := slices.Clone(holders[:high])
	for i, tries := 0, 0; i < len(enough) && len(enough) > 1 && tries < mostSingles; tries++ {
		fewer := slices.Delete(slices.Clone(enough), i, i+1)
		if d, ok := f.without(ctx, fewer); ok {
			enough, best = fewer, d
		} else {
			i++
		}
	}
	if len(enough) == 1 {
		// One is enough; a smaller one may be enough too.
		for i := min(len(holders), mostSingles) - 1; i > 0; i-- {
			if holders[i].Holds[0].Units >= enough[0].Holds[0].Units {
				break
			}
			if d, ok := f.without(ctx, holders[i:i+1]); ok {
				enough, best = slices.Clone(holders[i:i+1]), d
				break
			}
		}
	}
	f.add(ctx, Remedy{Code: JobsEnd, Jobs: enough}, &best)
}

// without asks about the cluster without the ended jobs, after the workloads ahead
// have taken their part, and restores the engine.
func (f *finder) without(ctx context.Context, ended []Holder) (admission.Decision, bool) {
	defer f.Engine.Changing()()
	var back []client.Object
	for _, h := range ended {
		if f.In.Workload(h.Namespace, h.Workload) == nil {
			continue
		}
		family := f.Engine.Family(h.Namespace, h.Workload)
		if f.Engine.Remove(ctx, h.Namespace, h.Workload) != nil {
			continue
		}
		back = append(back, objects(family)...)
	}
	var a answer
	turn, undo := f.admitAhead(ctx)
	if turn {
		a = f.ask(ctx, f.Workload, false, ended...)
	}
	undo()
	if err := f.Engine.Load(context.WithoutCancel(ctx), back...); err != nil && f.err == nil {
		f.err = err
	}
	return a.d, a.runs
}
