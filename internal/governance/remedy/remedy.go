package remedy

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Find returns what would make the job run now, the least intrusive first. Every
// remedy was confirmed by the core. The engine is left as it was.
func Find(ctx context.Context, q Question) ([]Remedy, error) {
	f := &finder{Question: q, ctx: ctx}
	f.resource = device(q.Workload)
	f.fewerNodes()
	f.higherPriority()
	f.otherTypes()
	f.otherQueues()
	f.jobsEnd()
	if f.err == nil {
		f.err = ctx.Err()
	}
	return f.out, f.err
}

type finder struct {
	Question
	ctx      context.Context
	resource string
	before   []*kueue.Workload // waiting workloads that come first
	out      []Remedy
	err      error
}

// ask is Probe, with nodes; ok says that the job would run, if need be after
// evicting others when that is allowed.
func (f *finder) ask(w *kueue.Workload, preempting bool, ended ...Holder) (admission.Decision, bool) {
	if f.err != nil || f.ctx.Err() != nil {
		return admission.Decision{}, false
	}
	d, err := f.Engine.Probe(f.ctx, w)
	if err != nil {
		return d, false // the changed workload is not valid: no remedy
	}
	if d.Outcome != admission.Admitted && !(preempting && d.Outcome == admission.AdmittedByPreempting) {
		return d, false
	}
	return d, f.Fits == nil || f.Fits(w, &d, ended)
}

func (f *finder) add(r Remedy, d *admission.Decision) {
	r.Resource = f.resource
	for _, ps := range d.PodSets {
		for _, q := range ps.Requests {
			if q.Resource == f.resource {
				r.Amount += Value(q.Resource, q.Value)
			}
		}
	}
	for _, q := range d.Borrowed {
		if q.Resource == f.resource {
			r.Borrowed += Value(q.Resource, q.Value)
		}
	}
	for _, p := range d.Preempts {
		e := Evicted{Namespace: p.Namespace, Name: p.Name, Workload: p.Name, Priority: p.Priority}
		if w := f.In.Workload(p.Namespace, p.Name); w != nil {
			e.Name, _ = JobOf(w)
		}
		for _, q := range p.Releases {
			if q.Resource == f.resource {
				e.Amount += Value(q.Resource, q.Value)
			}
		}
		r.Preempts = append(r.Preempts, e)
	}
	f.out = append(f.out, r)
}

// device is the resource people count a job in: its first device, else cpu.
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
	return than == "" || cmp.Or(cmp.Compare(Rank(name), Rank(than)), cmp.Compare(name, than)) < 0
}

// Rank orders resources as people look at them: accelerators, other devices,
// cpu, memory, the rest.
func Rank(resource string) int {
	switch resource {
	case "nvidia.com/gpu", "aws.amazon.com/neurondevice", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore":
		return 0
	case "cpu":
		return 3
	case "memory":
		return 4
	case "vpc.amazonaws.com/efa":
		return 2
	case "ephemeral-storage", "pods":
		return 5
	}
	return 1
}

// fewerNodes looks for the largest job that runs now, by halves.
func (f *finder) fewerNodes() {
	largest, others := -1, int32(0)
	for i, ps := range f.Workload.Spec.PodSets {
		if largest < 0 || ps.Count > f.Workload.Spec.PodSets[largest].Count {
			largest = i
		}
	}
	if largest < 0 || f.Workload.Spec.PodSets[largest].Count < 2 {
		return
	}
	for i, ps := range f.Workload.Spec.PodSets {
		if i != largest {
			others += ps.Count
		}
	}
	scaled := func(n int32) *kueue.Workload {
		w := f.Workload.DeepCopy()
		w.Spec.PodSets[largest].Count = n
		if least := w.Spec.PodSets[largest].MinCount; least != nil && *least > n {
			w.Spec.PodSets[largest].MinCount = nil
		}
		return w
	}
	low, high := int32(0), f.Workload.Spec.PodSets[largest].Count // low runs, high does not
	var best admission.Decision
	for high-low > 1 {
		n := low + (high-low)/2
		if d, ok := f.ask(scaled(n), false); ok {
			low, best = n, d
		} else {
			high = n
		}
	}
	if low > 0 {
		nodes := low + others
		f.add(Remedy{Code: FewerNodes, Nodes: nodes, Flag: fmt.Sprintf("--node-count %d", nodes)}, &best)
	}
}

// higherPriority tries the classes above the job's own, the lowest first.
func (f *finder) higherPriority() {
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
		if d, ok := f.ask(w, true); ok {
			f.add(Remedy{Code: HigherPriority, PriorityClass: c.Name, Priority: c.Value, Flag: "--priority " + c.Name}, &d)
			return
		}
	}
}

// otherTypes tries the instance types of the cluster's flavors in place of the
// one that the job asks for.
func (f *finder) otherTypes() {
	own := instanceTypes(f.Workload)
	if len(own) != 1 {
		return // none asked for: Kueue has tried every flavor already
	}
	seen := map[string]bool{own[0]: true}
	for _, flavor := range f.In.Flavors {
		t := flavor.Spec.NodeLabels[kinds.InstanceTypeLabel]
		if t == "" || seen[t] || len(seen) > mostTypes {
			continue
		}
		seen[t] = true
		w := f.Workload.DeepCopy()
		for i := range w.Spec.PodSets {
			replaceType(&w.Spec.PodSets[i].Template.Spec, own[0], t)
		}
		if d, ok := f.ask(w, false); ok {
			f.add(Remedy{Code: OtherInstanceType, InstanceType: t, Flag: "--instance-type " + t}, &d)
		}
	}
}

// otherQueues tries the other queues that the user may use.
func (f *finder) otherQueues() {
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
	for _, lq := range queues {
		cq := string(lq.Spec.ClusterQueue)
		if tried[cq] || len(tried) > mostQueues {
			continue
		}
		tried[cq] = true
		w := f.Workload.DeepCopy()
		w.Namespace, w.Spec.QueueName = lq.Namespace, kueue.LocalQueueName(lq.Name)
		d, ok := f.ask(w, false)
		if !ok {
			continue
		}
		flag := "--queue-name " + lq.Name
		if lq.Namespace != f.Workload.Namespace {
			flag = "--namespace " + lq.Namespace + " " + flag
		}
		f.add(Remedy{Code: OtherQueue, Namespace: lq.Namespace, Queue: lq.Name, Team: quota.TeamOf(cq), ClusterQueue: cq, Flag: flag}, &d)
	}
}

// jobsEnd looks for few jobs whose end frees enough: the largest until it is
// enough, and of those again without each that is not needed.
func (f *finder) jobsEnd() {
	holders := slices.Clone(f.Holders)
	if len(holders) == 0 || len(holders[0].Holds) == 0 {
		return
	}
	if f.before = f.ahead(); len(f.before) > mostAhead {
		return
	}
	slices.SortStableFunc(holders, func(a, b Holder) int { return cmp.Compare(b.Holds[0].Units, a.Holds[0].Units) })
	holders = holders[:min(len(holders), mostHolders)]
	low, high := 0, len(holders)+1
	var best admission.Decision
	for high-low > 1 {
		n := low + (high-low)/2
		if d, ok := f.without(holders[:n]); ok {
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
		if d, ok := f.without(fewer); ok {
			enough, best = fewer, d
		} else {
			i++
		}
	}
	if len(enough) == 1 {
		// One is enough: is a smaller one, too?
		for i := min(len(holders), mostSingles) - 1; i > 0; i-- {
			if holders[i].Holds[0].Units >= enough[0].Holds[0].Units {
				break
			}
			if d, ok := f.without(holders[i : i+1]); ok {
				enough, best = slices.Clone(holders[i:i+1]), d
				break
			}
		}
	}
	f.add(Remedy{Code: JobsEnd, Jobs: enough}, &best)
}

// without asks about the cluster without some jobs, after those that wait before
// the job have taken their part, and puts everything back.
func (f *finder) without(ended []Holder) (admission.Decision, bool) {
	var back []client.Object
	for _, h := range ended {
		w := f.In.Workload(h.Namespace, h.Workload)
		if w == nil || f.Engine.Remove(f.ctx, h.Namespace, h.Workload) != nil {
			continue
		}
		back = append(back, w)
	}
	undo := f.admitAhead()
	d, ok := f.ask(f.Workload, false, ended...)
	undo()
	if err := f.Engine.Load(context.WithoutCancel(f.ctx), back...); err != nil && f.err == nil {
		f.err = err
	}
	return d, ok
}

// instanceTypes are the types a workload's pods ask for.
func instanceTypes(w *kueue.Workload) []string {
	var out []string
	note := func(t string) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for i := range w.Spec.PodSets {
		eachType(&w.Spec.PodSets[i].Template.Spec, func(t *string) { note(*t) })
	}
	return out
}

func replaceType(spec *corev1.PodSpec, from, to string) {
	eachType(spec, func(t *string) {
		if *t == from {
			*t = to
		}
	})
}

// eachType visits the instance types a pod demands, which may be changed in place.
func eachType(spec *corev1.PodSpec, visit func(*string)) {
	for _, key := range []string{kinds.InstanceTypeLabel, "beta.kubernetes.io/instance-type"} {
		if t, ok := spec.NodeSelector[key]; ok {
			visit(&t)
			spec.NodeSelector[key] = t
		}
		if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
				for _, e := range term.MatchExpressions {
					if e.Key == key && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
						visit(&e.Values[0])
					}
				}
			}
		}
	}
}
