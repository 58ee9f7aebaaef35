package oracle

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

const (
	gpu = corev1.ResourceName("nvidia.com/gpu")
	// slice is a part of a device that a transformation counts as whole ones.
	slice = corev1.ResourceName("example.com/slice")
	lanes = corev1.ResourceName("example.com/lanes")
	free  = corev1.ResourceName("example.com/free")
	// port has a prefix that Kueue's configuration excludes, no quota covers unknown.
	port    = corev1.ResourceName("networking.example.com/port")
	unknown = corev1.ResourceName("example.com/undeclared")
	cpu     = corev1.ResourceCPU
)

// input is one random cluster. Everything follows from the seed.
type input struct {
	seed int
	full bool // as long as it gets, not the short form
	fair *config.FairSharing
	tas  bool
	// What of Kueue's configuration and features an input uses.
	transformations []config.ResourceTransformation
	excluded        []string
	undeclared      config.QuotaCheckStrategy
	checks, elastic bool
	delayed         bool                // admission checks of ProvisioningRequests delay the place in the topology
	failing         bool                // nodes fail and come back
	leaving         bool                // evictions are under way
	concurrent      bool                // some queues make variants of their workloads
	families        map[string][]string // the flavors of those queues
	claims          bool                // pods use devices of claim templates, or of a class by name
	byUse           *config.AdmissionFairSharing
	overhead        bool // of a runtime class
	split           bool // cpu has flavors of its own
	// gates are what differs from Kueue's default feature gates.
	gates map[string]bool
	make  func() []client.Object
	late  []*kueue.Workload // arrive one by one
	// length is the number of cycles, and start the time of the first one; 0 means the usual ones.
	length int
	start  time.Time
	nodes  []*corev1.Node
}

// objects makes fresh copies, so that both sides own theirs.
func (in *input) objects() []client.Object { return in.make() }

func newInput(seed int, full bool) *input {
	r := rand.New(rand.NewPCG(uint64(seed), 77))
	in := &input{seed: seed, full: full, tas: seed%4 == 3, undeclared: config.QuotaCheckBlockUndeclared}
	in.delayed = seed%8 == 3
	in.failing = seed%8 == 7
	in.checks = seed%7 == 2 || in.delayed
	in.elastic = seed%3 == 0 && !in.tas
	in.split = seed%8 == 5
	in.overhead = seed%9 == 7
	if in.concurrent = seed%10 == 3; in.concurrent {
		in.split = false
	}
	if seed%6 == 4 || seed%20 == 13 {
		in.byUse = &config.AdmissionFairSharing{UsageHalfLifeTime: metav1.Duration{Duration: time.Hour}, UsageSamplingInterval: metav1.Duration{Duration: 5 * time.Minute}}
		if r.IntN(2) == 0 {
			in.byUse.ResourceWeights = map[corev1.ResourceName]float64{cpu: 0.1 * float64(r.IntN(20))}
		}
	}
	if seed%6 == 1 {
		in.transformations = []config.ResourceTransformation{
			{Input: slice, Strategy: ptr.To(pick(r, []config.ResourceTransformationStrategy{config.Replace, config.Retain})), Outputs: corev1.ResourceList{gpu: *qty(2)}},
			{Input: free, Strategy: ptr.To(config.Replace)},
			{Input: lanes, Strategy: ptr.To(config.Replace), MultiplyBy: gpu, Outputs: corev1.ResourceList{cpu: *qty(1)}},
		}
		in.excluded = []string{"networking.example.com/"}
	}
	if seed%9 == 4 {
		in.undeclared = config.QuotaCheckIgnoreUndeclared
	}
	if r.IntN(2) == 0 {
		in.fair = &config.FairSharing{PreemptionStrategies: pick(r, [][]config.PreemptionStrategy{
			nil, {config.LessThanOrEqualToFinalShare}, {config.LessThanInitialShare},
			{config.LessThanOrEqualToFinalShare, config.LessThanInitialShare},
		})}
	}
	switch seed % 10 {
	case 4, 9:
		in.gates = pick(r, gateSets)
	case 1:
		in.gates = map[string]bool{"ConcurrentAdmission": true}
	case 6:
		in.gates = map[string]bool{"MultiKueueOrchestratedPreemption": true}
	}
	in.leaving = seed%3 == 2 && !in.tas && !in.checks && in.transformations == nil && in.byUse == nil && in.gates == nil && !in.concurrent && in.undeclared == config.QuotaCheckBlockUndeclared
	in.claims = seed%2 == 1 && !in.checks && in.gates == nil && in.undeclared == config.QuotaCheckBlockUndeclared &&
		(in.leaving || in.elastic && !in.concurrent || in.concurrent && seed%3 == 2)
	list := in.generate(r)
	if in.leaving {
		leave(r, list)
	}
	if in.concurrent {
		in.concurrently(list)
	}
	in.make = func() []client.Object {
		out := make([]client.Object, len(list))
		for i, o := range list {
			out[i] = o.DeepCopyObject().(client.Object)
		}
		return out
	}
	return in
}

// gateSets are feature gates that change how the loop decides or what it writes.
var gateSets = []map[string]bool{
	{"RecomputeAssignmentUponPreemptionTargetsOverlap": true},
	{"PrioritizePreemptorWorkloads": true},
	{"RecomputeAssignmentUponPreemptionTargetsOverlap": true, "PrioritizePreemptorWorkloads": true},
	{"SchedulingEquivalenceHashing": false, "FlavorFungibilityPreserveScanProgress": false},
	{"FairSharingPrioritizeNonBorrowing": false, "FairSharingPreemptWithinNominal": false},
	{"TASRecomputeAssignmentWithinSchedulingCycle": false},
	{"TASFailedNodeReplacementFailFast": false},
	{"PrioritySortingWithinCohort": false},
	{"PartialAdmission": false, "VectorizedResourceRequests": false},
	{"UnadmittedWorkloadsObservability": true},
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func qty(n int) *resource.Quantity { return resource.NewQuantity(int64(n), resource.DecimalSI) }

func (in *input) generate(r *rand.Rand) []client.Object {
	var out []client.Object
	flavors := []string{"f0", "f1"}[:1+r.IntN(2)]
	if in.gates["ConcurrentAdmission"] {
		flavors = []string{"f0", "f1"}
	}
	if in.concurrent {
		flavors = []string{"f0", "f1", "f2"}[:2+r.IntN(2)]
	}
	for i, f := range flavors {
		rf := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: f}}
		if in.tas {
			rf.Spec.TopologyName = ptr.To(kueue.TopologyReference("topo"))
			rf.Spec.NodeLabels = map[string]string{"pool": f}
		} else if chance(r, 30) {
			rf.Spec.NodeLabels = map[string]string{"pool": f}
		}
		out = append(out, rf)
		if in.tas {
			for n := range 3 + r.IntN(5) {
				name := fmt.Sprintf("n%d-%d", i, n)
				node := &corev1.Node{
					ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": f, "block": fmt.Sprint("b", n/4), "rack": fmt.Sprint("r", n/2), corev1.LabelHostname: name}},
					Status: corev1.NodeStatus{
						Allocatable: corev1.ResourceList{gpu: *qty(4 + 4*r.IntN(2)), cpu: *qty(16), corev1.ResourcePods: *qty(50)},
						Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
					},
				}
				out, in.nodes = append(out, node), append(in.nodes, node)
			}
		}
	}
	if in.tas {
		out = append([]client.Object{&kueue.Topology{ObjectMeta: metav1.ObjectMeta{Name: "topo"}, Spec: kueue.TopologySpec{
			Levels: []kueue.TopologyLevel{{NodeLabel: "block"}, {NodeLabel: "rack"}, {NodeLabel: corev1.LabelHostname}},
		}}}, out...)
	}
	if in.checks {
		for _, name := range []string{"check-a", "check-b"} {
			controller := "example.com/check"
			if in.delayed && name == "check-a" {
				controller = kueue.ProvisioningRequestControllerName
			}
			out = append(out, &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.AdmissionCheckSpec{ControllerName: controller},
				Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active"}}}})
		}
	}
	if in.overhead {
		out = append(out, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "boxed"}, Handler: "boxed",
			Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{cpu: *resource.NewMilliQuantity(int64(250*(1+r.IntN(8))), resource.DecimalSI)}}})
	}
	if in.split {
		out = append(out, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "cpu0"}}, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "cpu1"}})
	}
	// A tree of up to three cohorts.
	cohorts := []string{"root", "left", "right"}[:1+r.IntN(3)]
	for i, c := range cohorts {
		co := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: c}}
		if i > 0 {
			co.Spec.ParentName = "root"
		}
		if chance(r, 30) {
			co.Spec.FairSharing = &kueue.FairSharing{Weight: qty(r.IntN(4))}
		}
		if chance(r, 25) {
			co.Spec.ResourceGroups = in.quotas(r, flavors, i > 0, false)
		}
		out = append(out, co)
	}
	teams := 2 + r.IntN(5)
	if in.claims {
		out = append(out, deviceObjects(teams)...)
	}
	for t := range teams {
		name := fmt.Sprint("q", t)
		cq := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueue.ClusterQueueSpec{
			NamespaceSelector: &metav1.LabelSelector{},
			QueueingStrategy:  pick(r, []kueue.QueueingStrategy{kueue.StrictFIFO, kueue.BestEffortFIFO, kueue.BestEffortFIFO}),
			Preemption: &kueue.ClusterQueuePreemption{
				WithinClusterQueue:  pick(r, []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyLowerOrNewerEqualPriority}),
				ReclaimWithinCohort: pick(r, []kueue.PreemptionPolicy{kueue.PreemptionPolicyNever, kueue.PreemptionPolicyLowerPriority, kueue.PreemptionPolicyAny}),
				BorrowWithinCohort:  &kueue.BorrowWithinCohort{Policy: kueue.BorrowWithinCohortPolicyNever},
			},
		}}
		if !chance(r, 10) {
			cq.Spec.CohortName = kueue.CohortReference(pick(r, cohorts))
		}
		p := cq.Spec.Preemption
		if p.ReclaimWithinCohort != kueue.PreemptionPolicyNever && chance(r, 30) {
			p.BorrowWithinCohort.Policy = kueue.BorrowWithinCohortPolicyLowerPriority
			if chance(r, 50) {
				p.BorrowWithinCohort.MaxPriorityThreshold = ptr.To(int32(r.IntN(4)))
			}
		}
		if chance(r, 40) {
			cq.Spec.FlavorFungibility = &kueue.FlavorFungibility{
				WhenCanBorrow:  pick(r, []kueue.FlavorFungibilityPolicy{kueue.MayStopSearch, kueue.TryNextFlavor}),
				WhenCanPreempt: pick(r, []kueue.FlavorFungibilityPolicy{kueue.MayStopSearch, kueue.TryNextFlavor}),
			}
		}
		if chance(r, 50) {
			cq.Spec.FairSharing = &kueue.FairSharing{Weight: qty(r.IntN(4))}
		}
		cq.Spec.ResourceGroups = in.quotas(r, flavors, cq.Spec.CohortName != "", true)
		if in.gates["ConcurrentAdmission"] && chance(r, 50) {
			cq.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{Migration: kueue.ConcurrentAdmissionMigration{Mode: kueue.ConcurrentAdmissionTryPreferredFlavors,
				Constraints: &kueue.ConcurrentAdmissionConstraints{LastAcceptableFlavorName: ptr.To(kueue.ResourceFlavorReference(pick(r, flavors)))}}}
			if chance(r, 20) {
				cq.Spec.ConcurrentAdmissionPolicy.Migration.Constraints = nil
			}
		}
		if in.checks && chance(r, 60) {
			rules := []kueue.AdmissionCheckStrategyRule{{Name: "check-a"}}
			if chance(r, 50) {
				rules = append(rules, kueue.AdmissionCheckStrategyRule{Name: "check-b", OnFlavors: []kueue.ResourceFlavorReference{kueue.ResourceFlavorReference(pick(r, flavors))}})
			}
			cq.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: rules}
		}
		out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, cq)
		if in.byUse != nil && chance(r, 85) {
			cq.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
		}
		for _, local := range in.localQueues() {
			lq := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: local, Namespace: name}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(name)}}
			if in.byUse != nil {
				in.use(r, lq)
			}
			out = append(out, lq)
		}
	}
	jobs, first := 10+r.IntN(12), 5
	if in.full {
		jobs, first = 16+r.IntN(40), 8
	}
	for n := range jobs {
		w := in.workload(r, n, teams, flavors)
		if in.elastic && len(in.late) > 0 && chance(r, 25) {
			w = grown(r, pick(r, in.late), n)
		}
		list := []*kueue.Workload{w}
		if in.gates["ConcurrentAdmission"] {
			list = variants(r, w, flavors)
		}
		for _, w := range list {
			if n < first {
				out = append(out, w)
			} else {
				in.late = append(in.late, w)
			}
		}
	}
	return out
}

// localQueues are the names of the LocalQueues of each ClusterQueue.
func (in *input) localQueues() []string {
	if in.byUse == nil {
		return []string{"lq"}
	}
	return []string{"lq", "lq1", "lq2"}
}

// use gives a LocalQueue a weight and past use.
func (in *input) use(r *rand.Rand, lq *kueue.LocalQueue) {
	if chance(r, 40) {
		lq.Spec.FairSharing = &kueue.FairSharing{Weight: qty(r.IntN(4))}
	}
	if chance(r, 70) {
		lq.Status.FairSharing = &kueue.LocalQueueFairSharingStatus{AdmissionFairSharingStatus: &kueue.LocalQueueAdmissionFairSharingStatus{
			ConsumedResources: corev1.ResourceList{gpu: *qty(r.IntN(4)), cpu: *qty(r.IntN(3))}, LastUpdate: metav1.NewTime(now)}}
	}
}

// quotas covers gpu, for queues cpu too: in the same group, or with flavors of its own.
func (in *input) quotas(r *rand.Rand, flavors []string, parent, queue bool) []kueue.ResourceGroup {
	g := kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{gpu}}
	for _, f := range flavors {
		rq := kueue.ResourceQuota{Name: gpu, NominalQuota: *qty(r.IntN(11))}
		if parent && chance(r, 30) {
			rq.BorrowingLimit = qty(r.IntN(8))
		}
		if parent && chance(r, 25) {
			rq.LendingLimit = qty(r.IntN(int(rq.NominalQuota.Value()) + 1))
		}
		g.Flavors = append(g.Flavors, kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(f), Resources: []kueue.ResourceQuota{rq}})
	}
	if queue && in.split {
		own := kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{cpu}}
		for _, f := range []kueue.ResourceFlavorReference{"cpu0", "cpu1"} {
			rq := kueue.ResourceQuota{Name: cpu, NominalQuota: *qty(2 + r.IntN(12))}
			if parent && chance(r, 30) {
				rq.BorrowingLimit = qty(r.IntN(8))
			}
			own.Flavors = append(own.Flavors, kueue.FlavorQuotas{Name: f, Resources: []kueue.ResourceQuota{rq}})
		}
		return []kueue.ResourceGroup{g, own}
	}
	if queue {
		g.CoveredResources = append(g.CoveredResources, cpu)
		for i := range g.Flavors {
			g.Flavors[i].Resources = append(g.Flavors[i].Resources, kueue.ResourceQuota{Name: cpu, NominalQuota: *qty(8 + r.IntN(60))})
		}
	}
	return []kueue.ResourceGroup{g}
}
