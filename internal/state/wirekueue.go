package state

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// The wire forms of Kueue's kinds hold the fields of v1beta2 and, where it
// differs, of v1beta1 beside them: one of the two is empty in every object.

type wireWorkload struct {
	Metadata wireMeta           `json:"metadata"`
	Spec     wireWorkloadSpec   `json:"spec"`
	Status   wireWorkloadStatus `json:"status"`
}

type wireWorkloadSpec struct {
	QueueName string `json:"queueName"`
	Active    *bool  `json:"active"`
	Priority  int32  `json:"priority"`
	// v1beta2
	PriorityClassRef struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"priorityClassRef"`
	// v1beta1
	PriorityClassName   string `json:"priorityClassName"`
	PriorityClassSource string `json:"priorityClassSource"`

	MaximumExecutionTimeSeconds whole `json:"maximumExecutionTimeSeconds"`
}

type wireWorkloadStatus struct {
	Conditions []wireCondition `json:"conditions"`
	Admission  *struct {
		ClusterQueue      string `json:"clusterQueue"`
		PodSetAssignments []struct {
			Name          string            `json:"name"`
			Flavors       map[string]string `json:"flavors"`
			ResourceUsage map[string]amount `json:"resourceUsage"`
			Count         whole             `json:"count"`
		} `json:"podSetAssignments"`
	} `json:"admission"`
	RequeueState *struct {
		Count     whole `json:"count"`
		RequeueAt stamp `json:"requeueAt"`
	} `json:"requeueState"`
	ReclaimablePods []struct {
		Name  string `json:"name"`
		Count whole  `json:"count"`
	} `json:"reclaimablePods"`
	AdmissionChecks []CheckState `json:"admissionChecks"`
	ClusterName     string       `json:"clusterName"`
	SchedulingStats struct {
		Evictions []struct {
			Reason          string `json:"reason"`
			UnderlyingCause string `json:"underlyingCause"`
			Count           whole  `json:"count"`
		} `json:"evictions"`
	} `json:"schedulingStats"`
}

// wireWorkloadFull also reads what the pods ask for.
type wireWorkloadFull struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		wireWorkloadSpec
		PodSets []wirePodSet `json:"podSets"`
	} `json:"spec"`
	Status wireWorkloadStatus `json:"status"`
}

type wirePodSet struct {
	Name            string       `json:"name"`
	Count           whole        `json:"count"`
	MinCount        *whole       `json:"minCount"`
	Template        wireTemplate `json:"template"`
	TopologyRequest struct {
		Required  string `json:"required"`
		Preferred string `json:"preferred"`
	} `json:"topologyRequest"`
}

func (w *wireWorkloadFull) workload() Workload {
	out := (&wireWorkload{Metadata: w.Metadata, Spec: w.Spec.wireWorkloadSpec, Status: w.Status}).workload()
	for _, p := range w.Spec.PodSets {
		set := PodSet{Name: p.Name, Count: int64(p.Count), Requests: p.Template.Spec.requests(nil), NodeSelector: p.Template.Spec.NodeSelector,
			RequiredTopology: p.TopologyRequest.Required, PreferredTopology: p.TopologyRequest.Preferred}
		if p.MinCount != nil {
			n := int64(*p.MinCount)
			set.MinCount = &n
		}
		out.PodSets = append(out.PodSets, set)
	}
	return out
}

func (w *wireWorkload) workload() Workload {
	s, st := &w.Spec, &w.Status
	out := Workload{
		Meta: w.Metadata.meta(), Active: s.Active == nil || *s.Active, QueueName: s.QueueName,
		Priority: s.Priority, PriorityClass: s.PriorityClassRef.Name, PriorityClassKind: s.PriorityClassRef.Kind,
		MaxExecution: int64(s.MaximumExecutionTimeSeconds), Conditions: conditions(st.Conditions), Checks: st.AdmissionChecks, Cluster: st.ClusterName,
	}
	if out.PriorityClass == "" && s.PriorityClassName != "" {
		out.PriorityClass = s.PriorityClassName
		out.PriorityClassKind = "PriorityClass"
		if s.PriorityClassSource == "kueue.x-k8s.io/workloadpriorityclass" {
			out.PriorityClassKind = "WorkloadPriorityClass"
		}
	}
	out.OwnerUID = out.Labels[kinds.JobUIDLabel]
	if out.OwnerUID == "" {
		for _, o := range out.Owners {
			if o.Controller || len(out.Owners) == 1 {
				out.OwnerUID = o.UID
			}
		}
	}
	if a := st.Admission; a != nil {
		out.Admission = &Admission{ClusterQueue: a.ClusterQueue}
		for _, p := range a.PodSetAssignments {
			set := PodSetAssignment{Name: p.Name, Flavors: p.Flavors, Count: int64(p.Count), Usage: make(map[string]string, len(p.ResourceUsage))}
			for name, q := range p.ResourceUsage {
				set.Usage[name] = string(q)
			}
			out.Admission.PodSets = append(out.Admission.PodSets, set)
		}
	}
	for _, r := range st.ReclaimablePods {
		if out.Reclaimable == nil {
			out.Reclaimable = map[string]int64{}
		}
		out.Reclaimable[r.Name] = int64(r.Count)
	}
	if r := st.RequeueState; r != nil {
		out.Requeue = &RequeueState{Count: int(r.Count), At: r.RequeueAt.ptr()}
	}
	for _, e := range st.SchedulingStats.Evictions {
		out.Evictions = append(out.Evictions, Eviction{Reason: e.Reason, Cause: e.UnderlyingCause, Count: int(e.Count)})
	}
	return out
}

type wireFairSharing struct {
	Weight *resource.Quantity `json:"weight"`
}

type wireShare struct {
	WeightedShare int64 `json:"weightedShare"`
}

type wireClusterQueue struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		ResourceGroups    []ResourceGroup `json:"resourceGroups"`
		CohortName        string          `json:"cohortName"` // v1beta2
		Cohort            string          `json:"cohort"`     // v1beta1
		QueueingStrategy  string          `json:"queueingStrategy"`
		NamespaceSelector *Selector       `json:"namespaceSelector"`
		FlavorFungibility Fungibility     `json:"flavorFungibility"`
		Preemption        struct {
			ReclaimWithinCohort string `json:"reclaimWithinCohort"`
			WithinClusterQueue  string `json:"withinClusterQueue"`
			BorrowWithinCohort  struct {
				Policy               string `json:"policy"`
				MaxPriorityThreshold *int32 `json:"maxPriorityThreshold"`
			} `json:"borrowWithinCohort"`
		} `json:"preemption"`
		AdmissionChecksStrategy struct {
			AdmissionChecks []struct {
				Name string `json:"name"`
			} `json:"admissionChecks"`
		} `json:"admissionChecksStrategy"`
		AdmissionChecks []string        `json:"admissionChecks"` // v1beta1
		StopPolicy      string          `json:"stopPolicy"`
		FairSharing     wireFairSharing `json:"fairSharing"`
	} `json:"spec"`
	Status wireQueueStatus `json:"status"`
}

type wireQueueStatus struct {
	Conditions         []wireCondition `json:"conditions"`
	FlavorsReservation []FlavorUsage   `json:"flavorsReservation"`
	FlavorsUsage       []FlavorUsage   `json:"flavorsUsage"`
	FlavorUsage        []FlavorUsage   `json:"flavorUsage"` // v1beta1 LocalQueue
	PendingWorkloads   whole           `json:"pendingWorkloads"`
	ReservingWorkloads whole           `json:"reservingWorkloads"`
	AdmittedWorkloads  whole           `json:"admittedWorkloads"`
	FairSharing        wireShare       `json:"fairSharing"`
	EffectiveQuotas    *wireQuotas     `json:"effectiveQuotas"`
}

// wireQuotas are the quotas that an orchestrator sets (Kueue 0.20). Kueue uses them in place of those of spec.
type wireQuotas struct {
	ResourceGroups []ResourceGroup `json:"resourceGroups"`
}

// renamed returns the words of v1beta1 that v1beta2 calls something else.
func renamed(policy string) string {
	if policy == "Borrow" || policy == "Preempt" {
		return "MayStopSearch"
	}
	return policy
}

func (w *wireClusterQueue) queue() ClusterQueue {
	s, st := &w.Spec, &w.Status
	s.FlavorFungibility.WhenCanBorrow = renamed(s.FlavorFungibility.WhenCanBorrow)
	s.FlavorFungibility.WhenCanPreempt = renamed(s.FlavorFungibility.WhenCanPreempt)
	out := ClusterQueue{
		Meta: w.Metadata.meta(), Cohort: s.CohortName, QueueingStrategy: s.QueueingStrategy, StopPolicy: s.StopPolicy,
		Namespaces: s.NamespaceSelector, Fungibility: s.FlavorFungibility, FairWeight: s.FairSharing.Weight,
		WeightedShare: st.FairSharing.WeightedShare, ResourceGroups: s.ResourceGroups, Checks: s.AdmissionChecks,
		Preemption: Preemption{WithinClusterQueue: s.Preemption.WithinClusterQueue, ReclaimWithinCohort: s.Preemption.ReclaimWithinCohort,
			BorrowWithinCohort: s.Preemption.BorrowWithinCohort.Policy, MaxPriorityThreshold: s.Preemption.BorrowWithinCohort.MaxPriorityThreshold},
		Conditions: conditions(st.Conditions), Reservation: st.FlavorsReservation, Usage: st.FlavorsUsage,
		Pending: int(st.PendingWorkloads), Reserving: int(st.ReservingWorkloads), Admitted: int(st.AdmittedWorkloads),
	}
	if out.Cohort == "" {
		out.Cohort = s.Cohort
	}
	if q := st.EffectiveQuotas; q != nil {
		out.ResourceGroups = q.ResourceGroups
	}
	for _, c := range s.AdmissionChecksStrategy.AdmissionChecks {
		out.Checks = append(out.Checks, c.Name)
	}
	return out
}

type wireLocalQueue struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		ClusterQueue string `json:"clusterQueue"`
		StopPolicy   string `json:"stopPolicy"`
	} `json:"spec"`
	Status wireQueueStatus `json:"status"`
}

func (w *wireLocalQueue) queue() LocalQueue {
	st := &w.Status
	out := LocalQueue{
		Meta: w.Metadata.meta(), ClusterQueue: w.Spec.ClusterQueue, StopPolicy: w.Spec.StopPolicy,
		Conditions: conditions(st.Conditions), Reservation: st.FlavorsReservation, Usage: st.FlavorsUsage,
		Pending: int(st.PendingWorkloads), Reserving: int(st.ReservingWorkloads), Admitted: int(st.AdmittedWorkloads),
	}
	if out.Usage == nil {
		out.Usage = st.FlavorUsage
	}
	return out
}

type wireCohort struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		ParentName     string          `json:"parentName"`
		ResourceGroups []ResourceGroup `json:"resourceGroups"`
		FairSharing    wireFairSharing `json:"fairSharing"`
	} `json:"spec"`
	Status struct {
		FairSharing     wireShare   `json:"fairSharing"`
		EffectiveQuotas *wireQuotas `json:"effectiveQuotas"`
	} `json:"status"`
}

func (w *wireCohort) cohort() Cohort {
	if q := w.Status.EffectiveQuotas; q != nil {
		w.Spec.ResourceGroups = q.ResourceGroups
	}
	return Cohort{Meta: w.Metadata.meta(), Parent: w.Spec.ParentName, ResourceGroups: w.Spec.ResourceGroups,
		FairWeight: w.Spec.FairSharing.Weight, WeightedShare: w.Status.FairSharing.WeightedShare}
}

type wireFlavor struct {
	Metadata wireMeta `json:"metadata"`
	Spec     struct {
		NodeLabels   map[string]string `json:"nodeLabels"`
		NodeTaints   []Taint           `json:"nodeTaints"`
		Tolerations  []Toleration      `json:"tolerations"`
		TopologyName string            `json:"topologyName"`
	} `json:"spec"`
}

func (w *wireFlavor) flavor() ResourceFlavor {
	return ResourceFlavor{Meta: w.Metadata.meta(), NodeLabels: w.Spec.NodeLabels, NodeTaints: w.Spec.NodeTaints,
		Tolerations: w.Spec.Tolerations, Topology: w.Spec.TopologyName}
}

type wirePriorityClass struct {
	Metadata    wireMeta `json:"metadata"`
	Value       int32    `json:"value"`
	Description string   `json:"description"`
}

func (w *wirePriorityClass) class() PriorityClass {
	return PriorityClass{Meta: w.Metadata.meta(), Value: w.Value, Description: w.Description}
}
