package inputs

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/versions"
)

// Annotations of Kueue (pkg/constants).
const (
	elasticAnnotation = "kueue.x-k8s.io/elastic-job"
	gatedAnnotation   = "kueue.x-k8s.io/admission-gated-by"
)

// versionCase collects a versions.Case from objects.
type versionCase versions.Case

// VersionCase returns what the decision about a workload in a ClusterQueue uses; nil is a ClusterQueue that could not be read.
func (in *Inputs) VersionCase(cfg *admission.Config, cq *kueue.ClusterQueue, w *kueue.Workload) versions.Case {
	c := versionCase{}
	c.configuration(cfg)
	if cq != nil {
		c.queue(in, cq)
	}
	for _, l := range in.LimitRanges {
		c.Ranges = c.Ranges || l.Namespace == w.Namespace
	}
	c.workload(w)
	return versions.Case(c)
}

// AnyVersionCase returns what decisions in the cluster can use: jobs can be of any form.
func (in *Inputs) AnyVersionCase(cfg *admission.Config) versions.Case {
	c := versionCase{Ranges: len(in.LimitRanges) > 0, PodSets: true, Groups: true, Slices: true, Affinity: true, Selector: true, PodLevel: true,
		LimitsOnly: true, Huge: true, Zero: true, Claims: true, Elastic: true, Gated: true, NoClass: true}
	c.configuration(cfg)
	for _, cq := range in.ClusterQueues {
		c.queue(in, cq)
	}
	return versions.Case(c)
}

func (c *versionCase) configuration(cfg *admission.Config) {
	c.Fair = cfg.FairSharing
	c.Blocks = cfg.BlockAdmission
	c.Converts = len(cfg.Transformations) > 0 || len(cfg.ExcludeResourcePrefixes) > 0
}

func (c *versionCase) queue(in *Inputs, cq *kueue.ClusterQueue) {
	s := &cq.Spec
	c.ZeroWeight = c.ZeroWeight || zero(s.FairSharing)
	c.PastUse = c.PastUse || s.AdmissionScope != nil && s.AdmissionScope.AdmissionMode == kueue.UsageBasedAdmissionFairSharing
	for _, g := range s.ResourceGroups {
		c.Flavors = c.Flavors || len(g.Flavors) > 1
		c.PodsQuota = c.PodsQuota || slices.Contains(g.CoveredResources, corev1.ResourcePods)
		for _, q := range g.Flavors {
			if f := in.Flavor(string(q.Name)); f != nil && f.Spec.TopologyName != nil {
				c.Topology = true
			}
		}
	}
	c.Preference = c.Preference || s.FlavorFungibility != nil && s.FlavorFungibility.Preference != nil
	c.BestEffort = c.BestEffort || s.QueueingStrategy != kueue.StrictFIFO
	c.Checks = c.Checks || s.AdmissionChecksStrategy != nil && len(s.AdmissionChecksStrategy.AdmissionChecks) > 0
	c.Variants = c.Variants || s.ConcurrentAdmissionPolicy != nil
	if p := s.Preemption; p != nil {
		may := func(p kueue.PreemptionPolicy) bool { return p != "" && p != kueue.PreemptionPolicyNever }
		c.Preempts = c.Preempts || may(p.WithinClusterQueue) || may(p.ReclaimWithinCohort)
	}
	if s.CohortName == "" {
		return
	}
	c.Cohort = true
	for _, cohort := range in.Cohorts {
		c.ZeroWeight = c.ZeroWeight || zero(cohort.Spec.FairSharing)
		c.Nested = c.Nested || cohort.Name == string(s.CohortName) && cohort.Spec.ParentName != ""
	}
}

func zero(f *kueue.FairSharing) bool { return f != nil && f.Weight != nil && f.Weight.IsZero() }

func (c *versionCase) workload(w *kueue.Workload) {
	c.PodSets = len(w.Spec.PodSets) > 1
	c.NoClass = w.Spec.PriorityClassRef == nil
	c.Elastic = w.Annotations[elasticAnnotation] == "true"
	c.Gated = w.Annotations[gatedAnnotation] != ""
	for i := range w.Spec.PodSets {
		ps := &w.Spec.PodSets[i]
		if t := ps.TopologyRequest; t != nil {
			c.Topology = true
			c.Groups = c.Groups || t.PodSetGroupName != nil
			c.Slices = c.Slices || t.PodSetSliceRequiredTopology != nil || len(t.PodsetSliceRequiredTopologyConstraints) > 0
		}
		pod := &ps.Template.Spec
		c.Selector = c.Selector || len(pod.NodeSelector) > 0
		c.Affinity = c.Affinity || pod.Affinity != nil && pod.Affinity.NodeAffinity != nil
		c.PodLevel = c.PodLevel || pod.Resources != nil
		c.Claims = c.Claims || len(pod.ResourceClaims) > 0
		for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
			for j := range list {
				c.resources(&list[j].Resources)
			}
		}
	}
}

func (c *versionCase) resources(r *corev1.ResourceRequirements) {
	for _, request := range r.Requests {
		c.Zero = c.Zero || request.IsZero()
	}
	for name, limit := range r.Limits {
		if _, requested := r.Requests[name]; !requested {
			c.LimitsOnly = true
		}
		if _, fits := limit.AsInt64(); !fits && limit.AsApproximateFloat64() > 1<<62 {
			c.Huge = true
		}
	}
}
