package simulate

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// set changes a policy of a team, or of the cluster.
func (a *applied) set(ctx context.Context, c Change) error {
	if c.Target == clusterTeam && c.Setting == "fair-sharing" {
		a.Config.FairSharing = c.Value == "on"
		return nil
	}
	if cohort, ok := strings.CutPrefix(c.Target, cohortTarget); ok {
		return a.setCohort(ctx, cohort, c)
	}
	old, err := a.queue(c.Target)
	if err != nil {
		return err
	}
	q := old.DeepCopy()
	if q.Spec.Preemption == nil {
		q.Spec.Preemption = &kueue.ClusterQueuePreemption{}
	}
	within := []string{"Never", "LowerPriority", "LowerOrNewerEqualPriority"}
	switch c.Setting {
	case "quota", "borrow-limit", "lend-limit":
		err = setQuota(q.Spec.ResourceGroups, c)
	case "weight":
		q.Spec.FairSharing, err = a.weight(q.Spec.FairSharing, c)
	case "preemption":
		err = choose(c, within, func(v string) { q.Spec.Preemption.WithinClusterQueue = kueue.PreemptionPolicy(v) })
	case "reclaim":
		err = choose(c, []string{"Never", "LowerPriority", "Any"}, func(v string) { q.Spec.Preemption.ReclaimWithinCohort = kueue.PreemptionPolicy(v) })
	case "borrow-preemption":
		err = choose(c, within[:2], func(v string) {
			b := &q.Spec.Preemption.BorrowWithinCohort
			if *b == nil {
				*b = &kueue.BorrowWithinCohort{} // else its priority threshold stays
			}
			(*b).Policy = kueue.BorrowWithinCohortPolicy(v)
		})
		if a.Config.FairSharing {
			a.note(Note{Code: BorrowPreemptionIgnored})
		}
	case "queueing":
		err = choose(c, []string{"StrictFIFO", "BestEffortFIFO"}, func(v string) { q.Spec.QueueingStrategy = kueue.QueueingStrategy(v) })
	case "stop":
		err = choose(c, []string{"None", "Hold", "HoldAndDrain"}, func(v string) { q.Spec.StopPolicy = ptr.To(kueue.StopPolicy(v)) })
	case "cohort":
		if q.Spec.CohortName = kueue.CohortReference(c.Value); c.Value == "none" {
			q.Spec.CohortName = ""
			if clearLimits(q) {
				a.note(Note{Code: LimitsCleared, Team: c.Target})
			}
		}
	}
	if err != nil {
		return err
	}
	a.changed(q.Name, old)
	a.put(old, q)
	return nil
}

// choose sets one of a few words, whatever their case.
func choose(c Change, words []string, set func(string)) error {
	for _, w := range words {
		if strings.EqualFold(w, c.Value) {
			set(w)
			return nil
		}
	}
	return &Error{Code: NotWord, Change: c, Names: words}
}

// weight returns a new weight in fair sharing: a number, or a percentage of the current one.
func (a *applied) weight(old *kueue.FairSharing, c Change) (*kueue.FairSharing, error) {
	percent, isPercent, err := percentage(c.Value)
	if err != nil {
		return nil, err
	}
	weight, err := resource.ParseQuantity(c.Value)
	switch {
	case isPercent:
		present := resource.MustParse("1") // Kueue's default
		if old != nil && old.Weight != nil {
			present = *old.Weight
		}
		weight = *resource.NewMilliQuantity(int64(math.Round(present.AsApproximateFloat64()*percent*10)), resource.DecimalSI)
	case err != nil || weight.Sign() < 0:
		return nil, &Error{Code: NotWeight, Change: c}
	}
	if !a.Config.FairSharing {
		a.note(Note{Code: WeightsIgnored})
	}
	return &kueue.FairSharing{Weight: &weight}, nil
}

// prioritize gives a job another priority: a class, with or without "-priority",
// or a number.
func (a *applied) prioritize(c Change) error {
	job, err := a.job(c.Target)
	if err != nil {
		return err
	}
	give := func(value int32, class *kueue.PriorityClassRef) {
		for _, old := range job {
			w := *old
			w.Spec.Priority, w.Spec.PriorityClassRef = ptr.To(value), class
			a.put(old, &w)
		}
	}
	names := map[string]bool{}
	for _, class := range all[*kueue.WorkloadPriorityClass](a.World) {
		names[class.Name], names[strings.TrimSuffix(class.Name, "-priority")] = true, true
		if class.Name == c.Value || class.Name == c.Value+"-priority" {
			give(class.Value, kueue.NewWorkloadPriorityClassRef(class.Name))
			return nil
		}
	}
	n, err := strconv.ParseInt(c.Value, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return &Error{Code: PriorityRange, Change: c}
	}
	if err != nil {
		return notFound(aPriorityClass, c.Value, names)
	}
	give(int32(n), nil)
	return nil
}
