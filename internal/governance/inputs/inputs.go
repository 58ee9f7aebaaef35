// Package inputs reads what Kueue's decisions depend on from a cluster, for the admission engine. A live
// cluster, a sandbox and a snapshot are all an API, so it reads them in the same way.
package inputs

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/reader"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options narrow a load. The zero value reads everything.
type Options struct {
	// Namespaces names the namespaces to read one by one when a list over all of
	// them is forbidden; it is called at most once. Nil: there are none.
	Namespaces func(context.Context) ([]string, error)
	// Finished keeps finished workloads too (their durations are worth knowing).
	Finished bool
	// Declared keeps the quotas of spec where an orchestrator sets others in the status: see
	// dynamic.
	Declared bool
	// SkipNodes leaves nodes and pods out: a question about quota alone is
	// answered faster, but nothing is placed by topology.
	SkipNodes bool
	// SkipWorkloads leaves workloads, nodes and pods out: for questions about quota and
	// policy as they are set.
	SkipWorkloads bool
}

// Inputs are whole API objects, Kueue's as v1beta2. Fields that no decision
// depends on are left out: managed fields, environments, commands, probes and
// volumes of containers, images of nodes. Objects must not be changed once an
// engine was made of them.
type Inputs struct {
	Taken  time.Time
	Server string

	Namespaces        []*corev1.Namespace
	LimitRanges       []*corev1.LimitRange
	RuntimeClasses    []*nodev1.RuntimeClass // what cannot be read is not in Missing: few pods name one
	PodPriorities     []*schedulingv1.PriorityClass
	WorkloadPriority  []*kueue.WorkloadPriorityClass
	Nodes             []*corev1.Node
	Pods              []*corev1.Pod // those that have not ended
	Topologies        []*kueue.Topology
	Flavors           []*kueue.ResourceFlavor
	AdmissionChecks   []*kueue.AdmissionCheck
	DeviceClasses     []*resourcev1.DeviceClass           // these three only where Kueue counts devices of claims
	ClaimTemplates    []*resourcev1.ResourceClaimTemplate // see devices
	DeviceSlices      []*resourcev1.ResourceSlice
	Cohorts           []*kueue.Cohort
	ClusterQueues     []*kueue.ClusterQueue
	LocalQueues       []*kueue.LocalQueue
	Workloads         []*kueue.Workload // those that have not finished
	FinishedWorkloads []*kueue.Workload // only when asked for
	Variants          []*kueue.Workload // of Workloads, one for each flavor: see concurrent admission

	Manager Manager
	// KueueVersion is the version of the cluster's Kueue ("v0.19.2"), "" when not known.
	KueueVersion string
	// Missing is what was wanted and could not be read.
	Missing       []state.Missing
	unreadDevices []string // kinds with objects that could not be read: see devices
	// Assumed is what was made up in place of something unreadable.
	Assumed []Assumption
}

// Manager is Kueue's configuration as it was found.
type Manager struct {
	// Data is the configuration's YAML; "" when there is none to read.
	Data string
	// Gates are the feature gates that the flags of Kueue's controller set.
	Gates map[string]bool
	// State is why Data is empty; "" when it is not.
	State ManagerState
}

// ManagerState is why Kueue's configuration is not known.
type ManagerState string

// The states of Kueue's configuration.
const (
	ManagerInvalid   ManagerState = "Invalid"   // it cannot be parsed
	ManagerEmpty     ManagerState = "Empty"     // its ConfigMap does not have the key
	ManagerNotInFile ManagerState = "NotInFile" // the snapshot or sandbox does not have it
	ManagerForbidden ManagerState = "Forbidden"
	ManagerMissing   ManagerState = "Missing" // there is no ConfigMap
	ManagerUnread    ManagerState = "Unread"
)

// Load reads everything in parallel, one list for each kind. Missing names what could not be read. It returns
// an error only if nothing could be read.
func Load(ctx context.Context, c *kube.Client, o Options, now time.Time) (*Inputs, error) {
	l := &loader{c: c, o: o, out: &Inputs{Taken: now, Server: c.Server()}, r: reader.New(reader.Options{Namespaces: o.Namespaces})}
	return l.run(ctx)
}

// Objects returns everything an engine loads.
func (in *Inputs) Objects() []client.Object {
	out := make([]client.Object, 0, len(in.Workloads)+len(in.Pods)+len(in.Nodes)+len(in.ClusterQueues)+len(in.LocalQueues)+len(in.Namespaces)+16)
	out = add(out, in.Namespaces)
	out = add(out, in.LimitRanges)
	out = add(out, in.RuntimeClasses)
	out = add(out, in.PodPriorities)
	out = add(out, in.WorkloadPriority)
	out = add(out, in.Nodes)
	out = add(out, in.Pods)
	out = add(out, in.Topologies)
	out = add(out, in.Flavors)
	out = add(out, in.AdmissionChecks)
	out = add(out, in.DeviceClasses)
	out = add(out, in.ClaimTemplates)
	out = add(out, in.DeviceSlices)
	out = add(out, in.Cohorts)
	out = add(out, in.ClusterQueues)
	out = add(out, in.LocalQueues)
	out = add(out, in.Workloads)
	out = admission.AddVariants(out, in.Variants)
	return add(out, in.hiddenNamespaces())
}

func add[T client.Object](to []client.Object, objects []T) []client.Object {
	for _, o := range objects {
		to = append(to, o)
	}
	return to
}

// Partial reports whether quotas, queues or workloads of others could not be read,
// so that answers hold only as far as can be seen.
func (in *Inputs) Partial() bool {
	for _, m := range in.Missing {
		if m.Reason == state.NotServed {
			continue
		}
		switch m.Resource.Kind {
		case "ClusterQueue", "LocalQueue", "Workload", "Cohort", "ResourceFlavor":
			return true
		}
	}
	return len(in.Assumed) > 0
}

// ClusterQueue returns the ClusterQueue of a name, nil when there is none.
func (in *Inputs) ClusterQueue(name string) *kueue.ClusterQueue {
	for _, q := range in.ClusterQueues {
		if q.Name == name {
			return q
		}
	}
	return nil
}

// LocalQueue returns the LocalQueue of a name, nil when there is none.
func (in *Inputs) LocalQueue(namespace, name string) *kueue.LocalQueue {
	for _, q := range in.LocalQueues {
		if q.Name == name && q.Namespace == namespace {
			return q
		}
	}
	return nil
}

// Flavor returns the ResourceFlavor of a name, nil when there is none.
func (in *Inputs) Flavor(name string) *kueue.ResourceFlavor {
	for _, f := range in.Flavors {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Workload returns the unfinished workload of a name, nil when there is none.
func (in *Inputs) Workload(namespace, name string) *kueue.Workload {
	for _, w := range in.Workloads {
		if w.Name == name && w.Namespace == namespace {
			return w
		}
	}
	return nil
}

// WorkloadOf returns the unfinished workload of a job: the one it controls, or
// that carries its UID; nil when there is none. Of several (an elastic job's old
// and new slice) it is the newest.
func (in *Inputs) WorkloadOf(namespace, uid string) *kueue.Workload {
	var found *kueue.Workload
	for _, w := range in.Workloads {
		if w.Namespace != namespace || OwnerUID(w) != uid && !inGroup(w, uid) {
			continue
		}
		if found == nil || cmp.Compare(found.CreationTimestamp.UnixNano(), w.CreationTimestamp.UnixNano()) < 0 {
			found = w
		}
	}
	return found
}
