package versions

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
)

// Annotations of Kueue (pkg/constants).
const (
	elasticAnnotation = "kueue.x-k8s.io/elastic-job"
	gatedAnnotation   = "kueue.x-k8s.io/admission-gated-by"
)

// Case is what of Kueue a decision uses.
type Case struct {
	Fair       bool // fair sharing is on
	ZeroWeight bool // a queue or cohort has the weight 0
	PastUse    bool // the ClusterQueue uses admission fair sharing
	Converts   bool // resources are transformed or excluded
	Blocks     bool // one job starts at a time (waitForPodsReady.blockAdmission)

	Cohort     bool // the ClusterQueue is in a cohort
	Nested     bool // the cohort has a parent
	Flavors    bool // there are several flavors to choose from
	Preference bool // the ClusterQueue prefers to borrow or to preempt
	Preempts   bool // the ClusterQueue may preempt
	BestEffort bool // its strategy is BestEffortFIFO
	Checks     bool // it has admission checks
	PodsQuota  bool // it has a quota of pods
	Variants   bool // it has a concurrentAdmissionPolicy
	Topology   bool // its flavors have topologies, or the job requests one

	Ranges     bool // the namespace has LimitRanges
	PodSets    bool // there are several pod sets
	Groups     bool // pod sets form groups
	Slices     bool // pod sets are placed in slices
	Affinity   bool // pods have node affinity
	Selector   bool // pods select nodes
	PodLevel   bool // pods have requests beside those of their containers
	LimitsOnly bool // containers have limits without requests
	Huge       bool // a limit is beyond a 64-bit number
	Zero       bool // containers request 0 of a resource
	Claims     bool // pods have resource claims
	Elastic    bool // the job is elastic
	Gated      bool // an annotation gates its admission
	NoClass    bool // the job has no priority class
}

// CaseOf returns what the decision about a workload uses.
func CaseOf(in *inputs.Inputs, cfg *admission.Config, cq *kueue.ClusterQueue, w *kueue.Workload) Case {
	c := Case{}
	c.configuration(cfg)
	if cq != nil {
		c.queue(in, cq)
	}
	for _, l := range in.LimitRanges {
		c.Ranges = c.Ranges || l.Namespace == w.Namespace
	}
	c.workload(w)
	return c
}

// Anything returns what decisions in a cluster can use: jobs can be of any form.
func Anything(in *inputs.Inputs, cfg *admission.Config) Case {
	c := Case{Ranges: len(in.LimitRanges) > 0, PodSets: true, Groups: true, Slices: true, Affinity: true, Selector: true, PodLevel: true,
		LimitsOnly: true, Huge: true, Zero: true, Claims: true, Elastic: true, Gated: true, NoClass: true}
	c.configuration(cfg)
	for _, cq := range in.ClusterQueues {
		c.queue(in, cq)
	}
	return c
}

func (c *Case) configuration(cfg *admission.Config) {
	c.Fair = cfg.FairSharing
	c.Blocks = cfg.BlockAdmission
	c.Converts = len(cfg.Transformations) > 0 || len(cfg.ExcludeResourcePrefixes) > 0
}

func (c *Case) queue(in *inputs.Inputs, cq *kueue.ClusterQueue) {
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

func (c *Case) workload(w *kueue.Workload) {
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

func (c *Case) resources(r *corev1.ResourceRequirements) {
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
