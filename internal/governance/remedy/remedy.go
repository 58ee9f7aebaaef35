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
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// The kinds of a Remedy.
const (
	FewerNodes        = "FewerNodes"
	HigherPriority    = "HigherPriority"
	OtherQueue        = "OtherQueue"
	OtherInstanceType = "OtherInstanceType"
	JobsEnd           = "JobsEnd"
)

// Remedy is a change after which the job would run now. Of the fields after Kind
// those of the kind are set.
type Remedy struct {
	Kind string
	// Flag is the change as start-job takes it, "" where no flag does it.
	Flag string `json:",omitempty"`
	// Nodes is the number of pods (FewerNodes).
	Nodes int32 `json:",omitempty"`
	// Priority and PriorityValue are the lowest class that is enough.
	Priority      string `json:",omitempty"`
	PriorityValue int32  `json:",omitempty"`
	Namespace     string `json:",omitempty"` // OtherQueue
	Queue         string `json:",omitempty"`
	ClusterQueue  string `json:",omitempty"`
	InstanceType  string `json:",omitempty"`
	// Jobs are those whose end frees enough, all of them together (JobsEnd).
	Jobs []Holder `json:",omitempty"`
	// Devices is what the job would then hold of its first accelerator resource.
	Resource string  `json:",omitempty"`
	Amount   float64 `json:",omitempty"`
	// Borrowed of that resource.
	Borrowed float64 `json:",omitempty"`
	// Preempts are the workloads ("namespace/name") that would be evicted.
	Preempts []Evicted `json:",omitempty"`
}

// Evicted is a job a remedy costs.
type Evicted struct {
	Namespace, Job, Workload string
	Priority                 int32
	Amount                   float64 // of Remedy.Resource
}

// Question is a job that does not run, and all there is to answer with.
type Question struct {
	In       *inputs.Inputs
	Engine   *admission.Engine
	Workload *kueue.Workload
	Holders  []Holder
	// Queues are other local queues that the user may use.
	Queues []*kueue.LocalQueue
	// Fits says whether the pods of a workload find nodes when decided so and the
	// pods of some other jobs are gone; nil when nodes are not known.
	Fits func(w *kueue.Workload, d *admission.Decision, ended []Holder) bool
	// EndOnly skips what changes the job itself: it cannot be changed any more.
	EndOnly bool
}

// limits of the search: every question to the core costs up to some milliseconds.
const (
	mostQueues  = 32
	mostTypes   = 16
	mostHolders = 64
	mostSingles = 6
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
		e := Evicted{Namespace: p.Namespace, Job: p.Name, Workload: p.Name, Priority: p.Priority}
		if w := f.In.Workload(p.Namespace, p.Name); w != nil {
			e.Job, _ = JobOf(w)
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
	if f.EndOnly {
		return
	}
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
		f.add(Remedy{Kind: FewerNodes, Nodes: nodes, Flag: fmt.Sprintf("--node-count %d", nodes)}, &best)
	}
}

// higherPriority tries the classes above the job's own, the lowest first.
func (f *finder) higherPriority() {
	if f.EndOnly {
		return
	}
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
			f.add(Remedy{Kind: HigherPriority, Priority: c.Name, PriorityValue: c.Value, Flag: "--priority " + c.Name}, &d)
			return
		}
	}
}

// otherTypes tries the instance types of the cluster's flavors in place of the
// one that the job asks for.
func (f *finder) otherTypes() {
	own := instanceTypes(f.Workload)
	if f.EndOnly || len(own) != 1 {
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
			f.add(Remedy{Kind: OtherInstanceType, InstanceType: t, Flag: "--instance-type " + t}, &d)
		}
	}
}

// otherQueues tries the other queues that the user may use.
func (f *finder) otherQueues() {
	if f.EndOnly {
		return
	}
	tried := map[string]bool{}
	if own := f.In.LocalQueue(f.Workload.Namespace, string(f.Workload.Spec.QueueName)); own != nil {
		tried[string(own.Spec.ClusterQueue)] = true
	}
	for _, lq := range f.Queues {
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
		f.add(Remedy{Kind: OtherQueue, Namespace: lq.Namespace, Queue: lq.Name, ClusterQueue: cq, Flag: flag}, &d)
	}
}

// jobsEnd looks for jobs whose end frees enough: single ones first, the smallest
// that suffice; else the fewest of the largest.
func (f *finder) jobsEnd() {
	holders := slices.Clone(f.Holders)
	if len(holders) == 0 || len(holders[0].Holds) == 0 {
		return
	}
	slices.SortStableFunc(holders, func(a, b Holder) int { return cmp.Compare(b.Holds[0].Amount, a.Holds[0].Amount) })
	holders = holders[:min(len(holders), mostHolders)]
	gone := 0
	// set makes exactly the first n of list ended.
	set := func(list []Holder, n int) {
		for ; gone < n; gone++ {
			if err := f.Engine.Remove(f.ctx, list[gone].Namespace, list[gone].Workload); err != nil && f.err == nil {
				f.err = err
			}
		}
		var back []client.Object
		for ; gone > n; gone-- {
			if w := f.In.Workload(list[gone-1].Namespace, list[gone-1].Workload); w != nil {
				back = append(back, w)
			}
		}
		if err := f.Engine.Load(context.WithoutCancel(f.ctx), back...); err != nil && f.err == nil {
			f.err = err
		}
	}
	runs := func(list []Holder, n int) (admission.Decision, bool) {
		set(list, n)
		return f.ask(f.Workload, false, list[:n]...)
	}
	low, high := 0, len(holders)+1
	var best admission.Decision
	for high-low > 1 {
		n := low + (high-low)/2
		if d, ok := runs(holders, n); ok {
			high, best = n, d
		} else {
			low = n
		}
	}
	set(holders, 0)
	if high > len(holders) || f.err != nil {
		return
	}
	if high == 1 {
		// One is enough: which is the smallest?
		for i := min(len(holders), mostSingles) - 1; i > 0; i-- {
			one := holders[i : i+1]
			d, ok := runs(one, 1)
			set(one, 0)
			if ok {
				f.add(Remedy{Kind: JobsEnd, Jobs: slices.Clone(one)}, &d)
				return
			}
		}
	}
	f.add(Remedy{Kind: JobsEnd, Jobs: slices.Clone(holders[:high])}, &best)
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
