package inputs

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// A member of one team may typically read its own namespace, its own
// ClusterQueue by name, flavors and priority classes, and nothing of the others
// (the role of HyperPod's team chart). This file reads by name what may not be
// listed, and fills in what can be known of the rest.

// complete follows up on lists that were forbidden.
func (l *loader) complete(ctx context.Context) {
	in := l.out
	if l.r.Refused(kinds.LocalQueue) {
		l.assumeLocalQueues()
	}
	if l.r.Refused(kinds.ClusterQueue) {
		in.ClusterQueues = reader.ReadByName(ctx, l.r, kind(l, kinds.ClusterQueue, l.clusterQueue, nil), in.queueNames())
	}
	if l.r.Refused(kinds.Cohort) {
		l.cohortChains(ctx)
	}
	if l.r.Refused(kinds.Workload) {
		l.hiddenUsage()
	}
}

// whyUnread returns why a kind that could not be listed was not: the Reason of a
// [state.Missing].
func (in *Inputs) whyUnread(r kinds.Resource) string {
	for _, m := range in.Missing {
		if m.Resource.FullName() == r.FullName() && m.Reason != state.Forbidden {
			return m.Reason
		}
	}
	return state.Forbidden
}

// namespaces reads the namespaces, or by name those that are read one at a time.
func (l *loader) namespaces(ctx context.Context) []*corev1.Namespace {
	return reader.Read(ctx, l.r, kind(l, kinds.Namespace, namespace, func(ctx context.Context) ([]string, error) {
		return l.r.Namespaces(ctx), nil
	}))
}

// labels records that namespaces are missing where their labels matter and a file has only their names: for queues that
// select namespaces by label, and for a plan, which compares labels.
func (l *loader) labels() {
	if !slices.ContainsFunc(l.out.Namespaces, assumed) || !l.o.Declared && !slices.ContainsFunc(l.out.ClusterQueues, selectsByLabel) {
		return
	}
	l.r.Add(state.Missing{Resource: kinds.Namespace, Verb: "list", Reason: state.NotInFile})
}

func assumed(n *corev1.Namespace) bool { return kinds.Assumed(n.Annotations) }

// selectsByLabel reports whether a ClusterQueue selects namespaces by another label than that of their name.
func selectsByLabel(q *kueue.ClusterQueue) bool {
	s := q.Spec.NamespaceSelector
	if s == nil {
		return false
	}
	for key := range s.MatchLabels {
		if key != corev1.LabelMetadataName {
			return true
		}
	}
	return slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return r.Key != corev1.LabelMetadataName })
}

// queueNames returns the ClusterQueues that local queues and workloads name.
func (in *Inputs) queueNames() []string {
	names := map[string]bool{}
	for _, q := range in.LocalQueues {
		names[string(q.Spec.ClusterQueue)] = true
	}
	for _, w := range in.Workloads {
		if a := w.Status.Admission; a != nil {
			names[string(a.ClusterQueue)] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// assumeLocalQueues adds the LocalQueues that cannot be read. The ClusterQueue is the
// one that admitted a workload of the queue, else the one that task governance names
// for the namespace.
func (l *loader) assumeLocalQueues() {
	in := l.out
	have := map[string]bool{}
	for _, q := range in.LocalQueues {
		have[q.Namespace+"/"+q.Name] = true
	}
	assume := func(ns, name, cq string, seen bool) {
		if key := ns + "/" + name; name != "" && cq != "" && !have[key] {
			have[key] = true
			in.LocalQueues = append(in.LocalQueues, &kueue.LocalQueue{
				ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
				Spec:       kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(cq)},
			})
			in.Assumed = append(in.Assumed, Assumption{Queue: key, ClusterQueue: cq, Seen: seen, Unread: in.whyUnread(kinds.LocalQueue)})
		}
	}
	for _, w := range in.Workloads {
		if a := w.Status.Admission; a != nil {
			assume(w.Namespace, string(w.Spec.QueueName), string(a.ClusterQueue), true)
		}
	}
	for _, ns := range l.r.Fallback() {
		if team := in.team(ns); team != "" {
			assume(ns, discovery.ManagedQueue(team), discovery.ManagedClusterQueue(team), false)
		}
	}
}

// team returns the quota allocation of a managed namespace, "" for another one.
func (in *Inputs) team(namespace string) string {
	for _, n := range in.Namespaces {
		if n.Name == namespace {
			return discovery.TeamOf(namespace, n.Labels)
		}
	}
	return discovery.TeamOf(namespace, nil)
}

// cohortChains reads the cohorts above the queues that are known, level by level.
func (l *loader) cohortChains(ctx context.Context) {
	in := l.out
	known := map[string]bool{"": true}
	next := func(names map[string]bool) []string {
		var out []string
		for _, n := range slices.Sorted(maps.Keys(names)) {
			if !known[n] {
				known[n] = true
				out = append(out, n)
			}
		}
		return out
	}
	level := map[string]bool{}
	for _, q := range in.ClusterQueues {
		level[string(q.Spec.CohortName)] = true
	}
	for names := next(level); len(names) > 0; names = next(level) {
		got := reader.ReadByName(ctx, l.r, kind(l, kinds.Cohort, l.cohort, nil), names)
		in.Cohorts = append(in.Cohorts, got...)
		level = map[string]bool{}
		for _, c := range got {
			level[string(c.Spec.ParentName)] = true
		}
	}
}

// HiddenLabel marks a workload that stands for quota held by workloads that may
// not be read.
const HiddenLabel = kinds.OwnPrefix + "hidden-usage"

// hiddenUsage makes up a workload for what a readable ClusterQueue says is
// reserved beyond the workloads that were read, so that quota is not thought free.
func (l *loader) hiddenUsage() {
	in := l.out
	seen := map[kueue.ClusterQueueReference]quota.Usage{}
	for _, w := range in.queued() {
		if w.Status.Admission == nil || admission.CheckWorkload(w) != nil { // nobody counts a faulty one
			continue
		}
		if seen[w.Status.Admission.ClusterQueue] == nil {
			seen[w.Status.Admission.ClusterQueue] = quota.Usage{}
		}
		for _, ps := range w.Status.Admission.PodSetAssignments {
			for res, q := range ps.ResourceUsage {
				seen[w.Status.Admission.ClusterQueue].Add(quota.Key{Flavor: string(ps.Flavors[res]), Resource: string(res)}, quota.AmountOf(string(res), q))
			}
		}
	}
	for _, cq := range in.ClusterQueues {
		n := 0
		for _, f := range cq.Status.FlavorsReservation {
			for _, r := range f.Resources {
				all := quota.AmountOf(string(r.Name), r.Total)
				held := seen[kueue.ClusterQueueReference(cq.Name)][quota.Key{Flavor: string(f.Name), Resource: string(r.Name)}]
				if held >= all {
					continue
				}
				rest := quota.QuantityOf(string(r.Name), all-held)
				// A pod set has one flavor a resource: one workload for each.
				n++
				in.Workloads = append(in.Workloads, hiddenWorkload(cq, n, f.Name, r.Name, rest, in.Taken))
			}
		}
		if n > 0 {
			in.Assumed = append(in.Assumed, Assumption{ClusterQueue: cq.Name, Unread: in.whyUnread(kinds.Workload)})
		}
	}
}
