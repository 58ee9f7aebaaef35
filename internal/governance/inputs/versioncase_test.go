package inputs

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
)

// TestVersionCase: each fact comes from the objects and the configuration.
func TestVersionCase(t *testing.T) {
	type world struct {
		in  Inputs
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
	fields := func(c versions.Case) (on []string) {
		v := reflect.ValueOf(c)
		for i := range v.NumField() {
			if v.Field(i).Bool() {
				on = append(on, v.Type().Field(i).Name)
			}
		}
		return on
	}
	if f := base(); len(fields(f.in.VersionCase(&f.cfg, f.cq, f.w))) > 0 {
		t.Errorf("the plain case uses %v", fields(f.in.VersionCase(&f.cfg, f.cq, f.w)))
	}
	for i := range reflect.TypeFor[versions.Case]().NumField() {
		name := reflect.TypeFor[versions.Case]().Field(i).Name
		change := changes[name]
		if change == nil {
			t.Errorf("no object has %s", name)
			continue
		}
		f := base()
		change(f)
		got := slices.DeleteFunc(fields(f.in.VersionCase(&f.cfg, f.cq, f.w)), func(on string) bool { return on == also[name] })
		if !slices.Equal(got, []string{name}) {
			t.Errorf("%s: the case uses %v", name, got)
		}
	}
}
