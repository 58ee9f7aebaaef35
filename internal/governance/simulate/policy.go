package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// set changes a policy of a team, or of the cluster.
func (a *applied) set(c Change) error {
	if c.Target == clusterTeam && c.Setting == "fair-sharing" {
		a.Config.FairSharing = c.Value == "on"
		return nil
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
		err = setQuota(q, c)
	case "weight":
		weight, bad := resource.ParseQuantity(c.Value)
		if bad != nil || weight.Sign() < 0 {
			return errs.Usagef("invalid weight %q: must be a number of at least 0", c.Value)
		}
		q.Spec.FairSharing = &kueue.FairSharing{Weight: &weight}
		if !a.Config.FairSharing {
			a.note(Note{Code: WeightsIgnored})
		}
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

// clearLimits drops the limits of borrowing and lending and reports whether there
// were any.
func clearLimits(q *kueue.ClusterQueue) (some bool) {
	for gi := range q.Spec.ResourceGroups {
		for fi := range q.Spec.ResourceGroups[gi].Flavors {
			for ri := range q.Spec.ResourceGroups[gi].Flavors[fi].Resources {
				r := &q.Spec.ResourceGroups[gi].Flavors[fi].Resources[ri]
				some = some || r.BorrowingLimit != nil || r.LendingLimit != nil
				r.BorrowingLimit, r.LendingLimit = nil, nil
			}
		}
	}
	return some
}

// accepted reports a changed queue that Kueue's API would refuse. What was wrong
// with it before is not the changes' fault.
func (a *applied) accepted(ctx context.Context) error {
	for _, q := range all[*kueue.ClusterQueue](a.World) {
		old, changed := a.first[q.Name]
		if !changed {
			continue
		}
		bad, err := a.refusal(ctx, q)
		if err != nil {
			return err
		}
		if bad == "" {
			continue
		}
		if old != nil {
			if was, err := a.refusal(ctx, old); err != nil {
				return err
			} else if was == bad {
				continue
			}
		}
		return errs.Usagef("Kueue refuses the ClusterQueue of team %s with these changes", quota.TeamOf(q.Name)).WithFact("because", bad)
	}
	return nil
}

// refusal is why Kueue's API refuses a queue; "" when it does not.
func (a *applied) refusal(ctx context.Context, q *kueue.ClusterQueue) (string, error) {
	if p := q.Spec.Preemption; p != nil && (p.ReclaimWithinCohort == "" || p.ReclaimWithinCohort == kueue.PreemptionPolicyNever) &&
		p.BorrowWithinCohort != nil && p.BorrowWithinCohort.Policy != "" && p.BorrowWithinCohort.Policy != kueue.BorrowWithinCohortPolicyNever {
		return "borrow-preemption requires reclaim LowerPriority or Any", nil
	}
	_, bad, err := World{Config: a.Config, Objects: []client.Object{q}, Now: a.Now}.engine(ctx)
	if err != nil || bad == nil {
		return "", err
	}
	return strings.ReplaceAll(bad.Error(), "\n", "; "), nil
}

// choose sets one of a few words, whatever their case.
func choose(c Change, words []string, set func(string)) error {
	for _, w := range words {
		if strings.EqualFold(w, c.Value) {
			set(w)
			return nil
		}
	}
	return errs.Usagef("invalid %s %q: must be one of %s", c.Setting, c.Value, strings.Join(words, ", "))
}

// setQuota sets the amount or a limit of the resources that are meant.
func setQuota(q *kueue.ClusterQueue, c Change) error {
	percent, isPercent := strings.CutSuffix(c.Value, "%")
	limit := c.Setting != "quota"
	// No limit, none at all and a percentage mean every resource; an amount is one of
	// the devices', unless it says which.
	everything := limit && (isPercent || c.Value == "none" || c.Value == "0")
	meant, err := quotas(q, c, everything)
	if err != nil {
		return err
	}
	for _, r := range meant {
		switch {
		case limit && c.Value == "none":
			setLimit(r, c.Setting, nil)
		case limit && isPercent:
			p, err := strconv.ParseFloat(percent, 64)
			if err != nil || !(p >= 0 && p <= 1e6) { // NaN is neither
				return errs.Usagef("invalid percentage %q: must be a number of at least 0%%", c.Value)
			}
			part, ok := share(r, p)
			if !ok {
				return errs.Usagef("%s of a quota of %s is too large", c.Value, r.NominalQuota.String())
			}
			setLimit(r, c.Setting, part)
		default:
			amount, err := resource.ParseQuantity(c.Value)
			switch {
			case err != nil:
				return errs.Usagef("invalid amount %q: must be a quantity, for example 32, 500m or 64Gi", c.Value)
			case amount.Sign() < 0:
				return errs.Usagef("invalid %s: must be at least 0", c.Text)
			case quota.AmountOf(string(r.Name), amount) == quota.Unlimited:
				return errs.Usagef("invalid %s: the amount is too large", c.Text)
			}
			if limit {
				setLimit(r, c.Setting, &amount)
			} else {
				r.NominalQuota = amount
				if l := r.LendingLimit; l != nil && l.Cmp(amount) > 0 {
					r.LendingLimit = &amount // Kueue allows no more than what is owned
				}
			}
		}
	}
	return nil
}

func setLimit(r *kueue.ResourceQuota, setting string, q *resource.Quantity) {
	if setting == "lend-limit" {
		r.LendingLimit = q
	} else {
		r.BorrowingLimit = q
	}
}

// share is a percentage of what is owned, rounded down; false where that is more than
// can be counted.
func share(r *kueue.ResourceQuota, percent float64) (*resource.Quantity, bool) {
	owned := quota.AmountOf(string(r.Name), r.NominalQuota)
	part := math.Floor(float64(owned) * percent / 100)
	if owned == quota.Unlimited || part >= math.MaxInt64 {
		return nil, false
	}
	q := quota.QuantityOf(string(r.Name), int64(part))
	return &q, true
}

// quotas are the resources of a queue that a change means.
func quotas(q *kueue.ClusterQueue, c Change, everything bool) ([]*kueue.ResourceQuota, error) {
	var meant []*kueue.ResourceQuota
	var all, owned []string
	var owns []*kueue.ResourceQuota
	devices := false
	for _, g := range q.Spec.ResourceGroups {
		devices = devices || slices.ContainsFunc(g.CoveredResources, func(n corev1.ResourceName) bool { return kinds.Accelerator(string(n)) })
	}
	for gi := range q.Spec.ResourceGroups {
		for fi := range q.Spec.ResourceGroups[gi].Flavors {
			f := &q.Spec.ResourceGroups[gi].Flavors[fi]
			for ri := range f.Resources {
				r := &f.Resources[ri]
				name := fmt.Sprintf("%s@%s", r.Name, f.Name)
				all = append(all, name)
				switch {
				case c.Flavor != "" && string(f.Name) != c.Flavor, c.Resource != "" && string(r.Name) != c.Resource:
					continue
				case c.Resource == "" && !everything && devices && !kinds.Accelerator(string(r.Name)):
					continue
				}
				meant = append(meant, r)
				if r.NominalQuota.Sign() > 0 {
					owned, owns = append(owned, name), append(owns, r)
				}
			}
		}
	}
	slices.Sort(all)
	switch {
	case len(meant) == 0:
		return nil, errs.NotFoundf("team %s has no quota for %s", c.Target, strings.Trim(c.Resource+"@"+c.Flavor, "@")).
			WithFact("available", strings.Join(all, ", "))
	case everything || len(meant) == 1:
		return meant, nil
	case len(owns) == 1:
		return owns, nil
	}
	slices.Sort(owned)
	if len(owned) == 0 {
		owned = all
	}
	return nil, errs.Usagef("%s does not name a resource and flavor", c.Text).WithFact("available", strings.Join(owned, ", ")).
		Suggest(suggest.SetPolicy(c.Target, c.Setting+"/"+owned[0], c.Value))
}

// prioritize gives a job another priority: a class, with or without "-priority",
// or a number.
func (a *applied) prioritize(c Change) error {
	old, err := a.job(c.Target)
	if err != nil {
		return err
	}
	w := *old
	names := map[string]bool{}
	for _, class := range all[*kueue.WorkloadPriorityClass](a.World) {
		names[class.Name], names[strings.TrimSuffix(class.Name, "-priority")] = true, true
		if class.Name == c.Value || class.Name == c.Value+"-priority" {
			w.Spec.Priority = ptr.To(class.Value)
			w.Spec.PriorityClassRef = kueue.NewWorkloadPriorityClassRef(class.Name)
			a.put(old, &w)
			return nil
		}
	}
	n, err := strconv.ParseInt(c.Value, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return errs.Usagef("invalid priority %s: must be between -2147483648 and 2147483647", c.Value)
	}
	if err != nil {
		return unknown("priority class", c.Value, names)
	}
	w.Spec.Priority = ptr.To(int32(n))
	w.Spec.PriorityClassRef = nil
	a.put(old, &w)
	return nil
}
