package inputs

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/parallel"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
)

// loader is one Load in progress.
type loader struct {
	c   *kube.Client
	o   Options
	r   *reader.Reader
	out *Inputs

	mu      sync.Mutex
	dynamic map[owner][]kueue.ResourceGroup // see noteQuotas
}

func (l *loader) run(ctx context.Context) (*Inputs, error) {
	in := l.out
	var wg crash.Group
	if !l.o.SkipWorkloads {
		wg.Go(func() { l.workloads(ctx) })
	}
	if !l.o.SkipNodes && !l.o.SkipWorkloads {
		wg.Go(func() { in.Pods = slices.DeleteFunc(list(ctx, l, kinds.Pod, pod), ended) })
		wg.Go(func() { in.Nodes = list(ctx, l, kinds.Node, node) })
	}
	wg.Go(func() { in.Namespaces = l.namespaces(ctx) })
	wg.Go(func() { in.LimitRanges = list(ctx, l, kinds.LimitRange, limitRange) })
	wg.Go(func() { in.RuntimeClasses, _ = listIn(ctx, l, kinds.RuntimeClass, "", runtimeClass) })
	wg.Go(func() { in.PodPriorities = list(ctx, l, kinds.PriorityClass, podPriority) })
	wg.Go(func() { in.WorkloadPriority = list(ctx, l, kinds.WorkloadPriorityClass, workloadPriority) })
	wg.Go(func() { in.Topologies = list(ctx, l, kinds.Topology, topology) })
	wg.Go(func() { in.Flavors = list(ctx, l, kinds.ResourceFlavor, flavor) })
	wg.Go(func() { in.AdmissionChecks = list(ctx, l, kinds.AdmissionCheck, admissionCheck) })
	wg.Go(func() { in.Cohorts = list(ctx, l, kinds.Cohort, l.cohort) })
	wg.Go(func() { in.ClusterQueues = list(ctx, l, kinds.ClusterQueue, l.clusterQueue) })
	wg.Go(func() { in.LocalQueues = list(ctx, l, kinds.LocalQueue, localQueue) })
	wg.Go(func() { l.manager(ctx); l.devices(ctx) })
	wg.Wait()
	if err := l.r.Err(); err != nil {
		return nil, err
	}
	in.Missing = l.r.Missing()
	l.complete(ctx)
	l.labels()
	l.applyDynamic()
	in.Missing = l.r.Missing()
	return in, ctx.Err()
}

// workloads reads the workloads and tells the finished ones apart.
func (l *loader) workloads(ctx context.Context) {
	shared := lists{}
	all := list(ctx, l, kinds.Workload, workload)
	all, l.out.Variants = admission.SplitVariants(all)
	l.out.Variants = slices.DeleteFunc(l.out.Variants, finished)
	for _, w := range all {
		shared.share(w)
		switch {
		case !finished(w):
			l.out.Workloads = append(l.out.Workloads, w)
		case l.o.Finished:
			l.out.FinishedWorkloads = append(l.out.FinishedWorkloads, w)
		}
	}
}

func finished(w *kueue.Workload) bool {
	return slices.ContainsFunc(w.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == kueue.WorkloadFinished && c.Status == metav1.ConditionTrue
	})
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// OwnerUID returns the UID of the job that a workload belongs to, "" if it is unknown.
func OwnerUID(w *kueue.Workload) string {
	if uid := w.Labels[kinds.JobUIDLabel]; uid != "" {
		return uid
	}
	if c := metav1.GetControllerOf(w); c != nil {
		return string(c.UID)
	}
	return ""
}

// inGroup reports whether a workload is that of the pod group of a pod: all its pods own it, and none controls it.
func inGroup(w *kueue.Workload, pod string) bool {
	return w.Annotations[kinds.GroupWorkload] == "true" &&
		slices.ContainsFunc(w.OwnerReferences, func(r metav1.OwnerReference) bool { return string(r.UID) == pod })
}

// JobOf returns the name and kind of the job that a workload belongs to. A workload without a job has its own
// name. So has a variant whose workload is gone.
func JobOf(w *kueue.Workload) (name, kind string) {
	if o := jobOwner(w); o != nil && o.Kind != kinds.Workload.Kind {
		return o.Name, o.Kind
	}
	return w.Name, ""
}

// jobOwner returns the owner of a workload that is its job, or the workload of a variant.
func jobOwner(w *kueue.Workload) *metav1.OwnerReference {
	if c := metav1.GetControllerOf(w); c != nil {
		return c
	}
	for i, o := range w.OwnerReferences {
		if kinds.OwnsWithoutControl(o.APIVersion, o.Kind) {
			return &w.OwnerReferences[i]
		}
	}
	return nil
}

// JobOf is [JobOf] with the Deployment, or another job with a workload for each pod, in place of its pod, where the pod was read.
func (in *Inputs) JobOf(w *kueue.Workload) (name, kind string) { return in.Jobs()(w) }

// Jobs returns [Inputs.JobOf] for many workloads: it looks through the pods once.
func (in *Inputs) Jobs() func(w *kueue.Workload) (name, kind string) {
	return JobsOf(func() []*corev1.Pod { return in.Pods })
}

// JobsOf returns [Inputs.JobOf] for the pods that a function returns. It is called once, when a pod is looked up first.
func JobsOf(all func() []*corev1.Pod) func(w *kueue.Workload) (name, kind string) {
	pods := sync.OnceValue(func() map[client.ObjectKey]*corev1.Pod {
		out := map[client.ObjectKey]*corev1.Pod{}
		for _, p := range all() {
			out[client.ObjectKeyFromObject(p)] = p
		}
		return out
	})
	return func(w *kueue.Workload) (name, kind string) {
		name, kind = JobOf(w)
		if kind != kinds.Pod.Kind {
			return name, kind
		}
		p := pods()[client.ObjectKey{Namespace: w.Namespace, Name: name}]
		if p == nil {
			return name, kind
		}
		by := cmp.Or(metav1.GetControllerOf(p), &metav1.OwnerReference{})
		if job, of := kinds.MakerOfPod(p.Labels, by.Kind, by.Name); job != "" {
			return job, of
		}
		return name, kind
	}
}

// JobName returns the name of the job that a workload belongs to, by the name of the workload. It returns the
// same name for a workload that was not read.
func (in *Inputs) JobName(namespace, workload string) string {
	if w := in.Workload(namespace, workload); w != nil {
		workload, _ = in.JobOf(w)
	}
	return workload
}

// versioned is a wire type that knows which version it was read at.
type versioned interface{ version() string }

// kind says how a kind is read, and what is read by name where its list is forbidden.
func kind[W any, T client.Object](l *loader, r kinds.Resource, convert func(*W) T, names func(context.Context) ([]string, error)) reader.Kind[T] {
	return reader.Kind[T]{Resource: r, Names: names,
		List: func(ctx context.Context, ns string) ([]T, error) { return listIn(ctx, l, r, ns, convert) },
		Get:  func(ctx context.Context, name string) (T, error) { return get[T](ctx, l, r, name) },
	}
}

// list reads one kind, as far as the user may.
func list[W any, T client.Object](ctx context.Context, l *loader, r kinds.Resource, convert func(*W) T) []T {
	return reader.Read(ctx, l.r, kind(l, r, convert, nil))
}

// listIn reads one kind in one namespace or all, at the version the server has.
// The hub version is decoded from the stream; another one goes through Kueue's
// own conversion.
func listIn[W any, T client.Object](ctx context.Context, l *loader, r kinds.Resource, ns string, convert func(*W) T) ([]T, error) {
	at, err := reader.Served(ctx, l.c, r)
	if err != nil {
		return nil, err
	}
	if at.Version == r.Version {
		other := false
		out, err := reader.List(ctx, l.c, r, ns, kube.ListOptions{}, func(w *W) T {
			v := any(w).(versioned).version()
			other = other || v != "" && v != r.GroupVersion()
			return convert(w)
		})
		if err != nil || !other {
			return out, err
		}
		// The remembered version was of before a change of the cluster.
	}
	raw, err := reader.List(ctx, l.c, r, ns, kube.ListOptions{}, func(m *json.RawMessage) json.RawMessage { return *m })
	if err != nil {
		return nil, err
	}
	return parallel.Map(raw, func(m json.RawMessage) (T, error) { return decodeOne[T](l, at, m) })
}

func decodeOne[T client.Object](l *loader, at kinds.Resource, raw json.RawMessage) (T, error) {
	var none T
	objs, err := decode.Objects(withKind(at, raw))
	if err == nil && len(objs) == 1 {
		if t, ok := objs[0].(T); ok {
			t.SetManagedFields(nil)
			l.noteRaw(at, t.GetName(), raw)
			return t, nil
		}
	}
	return none, kube.Malformed(at, err)
}

// withKind puts the kind into an object of a list, where it may be left out.
func withKind(at kinds.Resource, raw json.RawMessage) []byte {
	var head metav1.TypeMeta
	if json.Unmarshal(raw, &head) != nil || head.Kind != "" && head.APIVersion != "" {
		return raw
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return raw
	}
	object["apiVersion"], _ = json.Marshal(at.GroupVersion())
	object["kind"], _ = json.Marshal(at.Kind)
	out, err := json.Marshal(object)
	if err != nil {
		return raw
	}
	return out
}

// get reads one object by name.
func get[T client.Object](ctx context.Context, l *loader, r kinds.Resource, name string) (T, error) {
	var none T
	at, err := reader.Served(ctx, l.c, r)
	if err != nil {
		return none, err
	}
	var raw json.RawMessage
	if err := l.c.Get(ctx, at, "", name, &raw); err != nil {
		return none, err
	}
	return decodeOne[T](l, at, raw)
}
