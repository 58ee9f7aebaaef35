package versions

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// everything is a case that uses all there is.
func everything() (c Case) {
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		v.Field(i).SetBool(true)
	}
	return c
}

// TestTable: each row has versions in order, and concerns a case of what it is about and no other.
func TestTable(t *testing.T) {
	seen := map[Code]bool{}
	for _, d := range All() {
		if seen[d.Code] || d.Pull < 1000 {
			t.Errorf("%s #%d: twice, or without a number", d.Code, d.Pull)
		}
		seen[d.Code] = true
		for i, s := range d.Since {
			if v := version.MustParseGeneric(s); i > 0 && !version.MustParseGeneric(d.Since[i-1]).LessThan(v) {
				t.Errorf("%s: %v", d.Code, d.Since)
			}
		}
		if d.Concerns(Case{}) {
			t.Errorf("%s concerns what uses nothing", d.Code)
		}
		if !d.Concerns(everything()) {
			t.Errorf("%s concerns nothing", d.Code)
		}
	}
	// Each fact about a case matters to some row.
	for i := range reflect.TypeFor[Case]().NumField() {
		c := everything()
		reflect.ValueOf(&c).Elem().Field(i).SetBool(false)
		if !slices.ContainsFunc(All(), func(d Difference) bool { return !d.Concerns(c) }) {
			t.Errorf("nothing depends on %s", reflect.TypeFor[Case]().Field(i).Name)
		}
	}
}

func TestBetween(t *testing.T) {
	for _, c := range []struct{ cluster, rules, with, without string }{
		{"v0.19.2", "v0.19.2", "", "StickyHead"},
		{"v0.19.3", "v0.19.2", "LimitRangeLimits StickyHead RejectedChecks", "FlavorScan PodsQuota"},
		{"v0.19.7-eksbuild.1", "v0.19.2", "PodsQuota UseOrder", "DefaultPriority"},
		{"v0.19.1", "v0.19.2", "ReplacementDomains MovedPlacement", "LeaderCapacity RetainedInputs VariantOrder StickyHead"},
		{"v0.19.0", "v0.19.2", "LeaderCapacity RetainedInputs VariantOrder ChangedFlavors", "AdmissionGates OverlappingTargets"},
		{"v0.20.0", "v0.19.2", "OverlappingTargets StickyHead", "LeaderCapacity RetainedInputs"},
		{"v0.18.5", "v0.19.2", "AdmissionGates VariantOrder ReplacementDomains", "FlavorScan SelectorLabels StickyHead LeaderCapacity"},
		{"v0.18.4", "v0.19.2", "FlavorScan", "SelectorLabels EqualDomains"},
		{"v0.17.6", "v0.19.2", "EqualWorkloads EqualDomains FlavorScan", "SelectorLabels CombinedPodSets"},
		{"v0.14.0", "v0.19.2", "HeadAfterPreemption FailedPreemption", "ShareRounding"},
		{"v0.14.5", "v0.19.2", "PastUse", "HeadAfterPreemption FailedPreemption"},
		{"v0.10.4", "v0.19.2", "ImplicitTopology NestedPreemption", "IdleReclaim"},
		{"v0.10.3", "v0.19.2", "IdleReclaim", ""},
		{"v0.21.0", "v0.19.7", "DefaultPriority OverlappingTargets NodeFeasibility ReservedUse", "PodsQuota"},
		{"v0.20.0", "v0.20.0", "", "DefaultPriority"},
	} {
		var got []string
		for _, d := range Between(c.cluster, c.rules, everything()) {
			got = append(got, string(d.Code))
		}
		for _, code := range strings.Fields(c.with) {
			if !slices.Contains(got, code) {
				t.Errorf("%s: %v lacks %s", c.cluster, got, code)
			}
		}
		for _, code := range strings.Fields(c.without) {
			if slices.Contains(got, code) {
				t.Errorf("%s: %v has %s", c.cluster, got, code)
			}
		}
	}
	if got := Between("main", "v0.19.2", everything()); got != nil {
		t.Errorf("an invalid version: %v", got)
	}
	if got := Between("v0.19.7", "v0.19.2", Case{Cohort: true, Preempts: true, BestEffort: true}); len(got) != 1 || got[0].Code != StickyHead {
		t.Errorf("one of them concerns the case: %v", got)
	}
}

// TestCaseOf: each fact comes from the objects and the configuration.
func TestCaseOf(t *testing.T) {
	type world struct {
		in  inputs.Inputs
		cfg admission.Config
		cq  *kueue.ClusterQueue
		w   *kueue.Workload
	}
	base := func() *world {
		f := &world{cq: &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "q"}}, w: &kueue.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "t"}}}
		f.cq.Spec.QueueingStrategy = kueue.StrictFIFO
		f.cq.Spec.ResourceGroups = []kueue.ResourceGroup{{CoveredResources: []corev1.ResourceName{"gpu"}, Flavors: []kueue.FlavorQuotas{{Name: "a"}}}}
		f.in.Flavors = []*kueue.ResourceFlavor{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}
		f.w.Spec.PodSets = []kueue.PodSet{{Name: "main", Count: 1}}
		f.w.Spec.PodSets[0].Template.Spec.Containers = []corev1.Container{{Name: "c"}}
		f.w.Spec.PriorityClassRef = &kueue.PriorityClassRef{Name: "high"}
		return f
	}
	pod := func(f *world) *corev1.PodSpec { return &f.w.Spec.PodSets[0].Template.Spec }
	changes := map[string]func(*world){
		"Fair":       func(f *world) { f.cfg.FairSharing = true },
		"ZeroWeight": func(f *world) { f.cq.Spec.FairSharing = &kueue.FairSharing{Weight: ptr.To(resource.MustParse("0"))} },
		"PastUse": func(f *world) {
			f.cq.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
		},
		"Converts": func(f *world) { f.cfg.Transformations = []config.ResourceTransformation{{Input: "x"}} },
		"Blocks":   func(f *world) { f.cfg.BlockAdmission = true },
		"Cohort":   func(f *world) { f.cq.Spec.CohortName = "c" },
		"Nested": func(f *world) {
			f.cq.Spec.CohortName = "c"
			f.in.Cohorts = []*kueue.Cohort{{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: kueue.CohortSpec{ParentName: "root"}}}
		},
		"Flavors": func(f *world) {
			f.cq.Spec.ResourceGroups[0].Flavors = append(f.cq.Spec.ResourceGroups[0].Flavors, kueue.FlavorQuotas{Name: "b"})
		},
		"Preference": func(f *world) {
			f.cq.Spec.FlavorFungibility = &kueue.FlavorFungibility{Preference: ptr.To(kueue.PreemptionOverBorrowing)}
		},
		"Preempts": func(f *world) {
			f.cq.Spec.Preemption = &kueue.ClusterQueuePreemption{ReclaimWithinCohort: kueue.PreemptionPolicyAny}
		},
		"BestEffort": func(f *world) { f.cq.Spec.QueueingStrategy = "" },
		"Checks": func(f *world) {
			f.cq.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "c"}}}
		},
		"PodsQuota": func(f *world) {
			f.cq.Spec.ResourceGroups[0].CoveredResources = []corev1.ResourceName{corev1.ResourcePods}
		},
		"Variants": func(f *world) { f.cq.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{} },
		"Topology": func(f *world) { f.in.Flavors[0].Spec.TopologyName = ptr.To(kueue.TopologyReference("t")) },
		"Ranges": func(f *world) {
			f.in.LimitRanges = []*corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Namespace: "t"}}}
		},
		"PodSets": func(f *world) { f.w.Spec.PodSets = append(f.w.Spec.PodSets, kueue.PodSet{Name: "more"}) },
		"Groups": func(f *world) {
			f.w.Spec.PodSets[0].TopologyRequest = &kueue.PodSetTopologyRequest{PodSetGroupName: ptr.To("g")}
		},
		"Slices": func(f *world) {
			f.w.Spec.PodSets[0].TopologyRequest = &kueue.PodSetTopologyRequest{PodSetSliceRequiredTopology: ptr.To("rack")}
		},
		"Affinity": func(f *world) { pod(f).Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}} },
		"Selector": func(f *world) { pod(f).NodeSelector = map[string]string{"a": "b"} },
		"PodLevel": func(f *world) { pod(f).Resources = &corev1.ResourceRequirements{} },
		"Claims":   func(f *world) { pod(f).ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} },
		"Zero": func(f *world) {
			pod(f).Containers[0].Resources.Requests = corev1.ResourceList{"gpu": resource.MustParse("0")}
		},
		"LimitsOnly": func(f *world) {
			pod(f).Containers[0].Resources.Limits = corev1.ResourceList{"gpu": resource.MustParse("1")}
		},
		"Huge": func(f *world) {
			q := corev1.ResourceList{"gpu": resource.MustParse("1e30")}
			pod(f).Containers[0].Resources = corev1.ResourceRequirements{Requests: q, Limits: q}
		},
		"Elastic": func(f *world) { f.w.Annotations = map[string]string{elasticAnnotation: "true"} },
		"Gated":   func(f *world) { f.w.Annotations = map[string]string{gatedAnnotation: "x"} },
		"NoClass": func(f *world) { f.w.Spec.PriorityClassRef = nil },
	}
	also := map[string]string{"Nested": "Cohort", "Groups": "Topology", "Slices": "Topology"}
	fields := func(c Case) (on []string) {
		v := reflect.ValueOf(c)
		for i := range v.NumField() {
			if v.Field(i).Bool() {
				on = append(on, v.Type().Field(i).Name)
			}
		}
		return on
	}
	if f := base(); len(fields(CaseOf(&f.in, &f.cfg, f.cq, f.w))) > 0 {
		t.Errorf("the plain case uses %v", fields(CaseOf(&f.in, &f.cfg, f.cq, f.w)))
	}
	for i := range reflect.TypeFor[Case]().NumField() {
		name := reflect.TypeFor[Case]().Field(i).Name
		change := changes[name]
		if change == nil {
			t.Errorf("no object has %s", name)
			continue
		}
		f := base()
		change(f)
		got := slices.DeleteFunc(fields(CaseOf(&f.in, &f.cfg, f.cq, f.w)), func(on string) bool { return on == also[name] })
		if !slices.Equal(got, []string{name}) {
			t.Errorf("%s: the case uses %v", name, got)
		}
	}
}
