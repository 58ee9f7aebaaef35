package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
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

// accepted reports an error for a changed queue that Kueue's API would refuse. What was wrong
// with it before is not the changes' fault.
func (a *applied) accepted(ctx context.Context) error {
	var queues []*kueue.ClusterQueue
	for _, q := range all[*kueue.ClusterQueue](a.World) {
		if _, changed := a.first[q.Name]; changed {
			queues = append(queues, q)
		}
	}
	if ok, err := a.acceptedTogether(ctx, queues); ok || err != nil {
		return err
	}
	for _, q := range queues {
		old := a.first[q.Name]
		bad, err := a.refusal(ctx, q)
		if err != nil {
			return err
		}
		if len(bad) == 0 {
			continue
		}
		if old != nil {
			if was, err := a.refusal(ctx, old); err != nil {
				return err
			} else if reflect.DeepEqual(was, bad) {
				continue
			}
		}
		return &Error{Code: Refused, Kind: kinds.ClusterQueue.Kind, Value: q.Name, Refusals: bad}
	}
	return nil
}

// acceptedTogether reports whether Kueue's API accepts all of some ClusterQueues.
func (a *applied) acceptedTogether(ctx context.Context, queues []*kueue.ClusterQueue) (bool, error) {
	var objects []client.Object
	for _, q := range queues {
		if borrowsWithoutReclaim(q) {
			return false, nil
		}
		objects = append(objects, q)
	}
	if len(objects) == 0 {
		return true, nil
	}
	bad, err := a.problems(ctx, objects)
	return err == nil && bad == nil, err
}

// refusal returns why Kueue's API refuses a ClusterQueue or Cohort; nil when it does not.
func (a *applied) refusal(ctx context.Context, o client.Object) ([]Refusal, error) {
	if q, ok := o.(*kueue.ClusterQueue); ok && borrowsWithoutReclaim(q) {
		return []Refusal{{}}, nil
	}
	bad, err := a.problems(ctx, []client.Object{o})
	if err != nil {
		return nil, err
	}
	var out []Refusal
	for _, problem := range admission.Problems(bad) {
		out = append(out, Refusal{problem})
	}
	return out, nil
}

// problems returns what is wrong with objects alone.
func (a *applied) problems(ctx context.Context, objects []client.Object) (bad, err error) {
	_, bad, err = World{Config: a.Config, Objects: objects, Now: a.Now}.engine(ctx, func() time.Time { return a.Now })
	return bad, err
}

// borrowsWithoutReclaim reports a preemption while borrowing that Kueue's API refuses without one to reclaim quota.
func borrowsWithoutReclaim(q *kueue.ClusterQueue) bool {
	if q.Spec.Preemption == nil {
		return false
	}
	p, b := q.Spec.Preemption, q.Spec.Preemption.BorrowWithinCohort
	return (p.ReclaimWithinCohort == "" || p.ReclaimWithinCohort == kueue.PreemptionPolicyNever) &&
		b != nil && b.Policy != "" && b.Policy != kueue.BorrowWithinCohortPolicyNever
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

// setQuota sets the amount or a limit of the resources that are meant.
func setQuota(groups []kueue.ResourceGroup, c Change) error {
	percent, isPercent, err := percentage(c.Value)
	if err != nil {
		return err
	}
	limit := c.Setting != "quota"
	// Removing a limit, a limit of 0 and a percentage apply to every resource; an amount applies to the devices,
	// unless the change names a resource.
	everything := isPercent || limit && (c.Value == "none" || c.Value == "0")
	meant, err := quotas(groups, c, everything)
	if err != nil {
		return err
	}
	for _, r := range meant {
		switch {
		case limit && c.Value == "none":
			setLimit(r, c.Setting, nil)
		case isPercent:
			part, ok := share(r, percent)
			switch {
			case !ok:
				return &Error{Code: PercentOfQuota, Change: c, Value: r.NominalQuota.String()}
			case limit:
				setLimit(r, c.Setting, part)
			default:
				setNominal(r, *part)
			}
		default:
			amount, err := resource.ParseQuantity(c.Value)
			switch {
			case err != nil:
				return &Error{Code: NotAmount, Change: c}
			case amount.Sign() < 0:
				return &Error{Code: Negative, Change: c}
			case quota.AmountOf(string(r.Name), amount) == quota.Unlimited:
				return &Error{Code: TooLarge, Change: c}
			}
			if limit {
				setLimit(r, c.Setting, &amount)
			} else {
				setNominal(r, amount)
			}
		}
	}
	return nil
}

// setNominal sets the quota of a resource, and lowers a lending limit to it: Kueue
// allows no more than what is owned.
func setNominal(r *kueue.ResourceQuota, amount resource.Quantity) {
	r.NominalQuota = amount
	if l := r.LendingLimit; l != nil && l.Cmp(amount) > 0 {
		r.LendingLimit = &amount
	}
}

// percentage reads a value that ends with a percent sign.
func percentage(value string) (percent float64, is bool, err error) {
	text, is := strings.CutSuffix(value, "%")
	if !is {
		return 0, false, nil
	}
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p >= 0 && p <= 1e6) { // NaN is neither
		return 0, true, &Error{Code: NotPercentage, Value: value}
	}
	return p, true, nil
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

// cohortTarget begins the target of a setting of a cohort.
const cohortTarget = "cohort:"

// cohortSettings are the settings that a cohort has, too.
var cohortSettings = []string{"borrow-limit", "cohort", "lend-limit", "quota", "weight"}

// setCohort changes a cohort's quota, limits, weight or parent. A cohort that is only
// named gets an object.
func (a *applied) setCohort(ctx context.Context, name string, c Change) error {
	names := map[string]bool{}
	for _, q := range all[*kueue.ClusterQueue](a.World) {
		names[string(q.Spec.CohortName)] = true
	}
	for _, o := range all[*kueue.Cohort](a.World) {
		names[o.Name], names[string(o.Spec.ParentName)] = true, true
	}
	delete(names, "")
	if !names[name] {
		return notFound(aCohort, name, names)
	}
	old := find[*kueue.Cohort](a.World, name)
	o := &kueue.Cohort{}
	if o.Name = name; old != nil {
		o = old.DeepCopy()
	}
	var err error
	switch c.Setting {
	case "quota", "borrow-limit", "lend-limit":
		if c.Setting == "quota" {
			a.cover(o, c)
		}
		err = setQuota(o.Spec.ResourceGroups, c)
	case "weight":
		o.Spec.FairSharing, err = a.weight(o.Spec.FairSharing, c)
	case "cohort":
		if o.Spec.ParentName = kueue.CohortReference(c.Value); c.Value == "none" {
			o.Spec.ParentName = ""
		}
	default:
		return &Error{Code: TeamsOnly, Change: c, Names: cohortSettings}
	}
	if err != nil {
		return err
	}
	bad, err := a.refusal(ctx, o)
	if err != nil {
		return err
	}
	if len(bad) > 0 {
		return &Error{Code: Refused, Kind: kinds.Cohort.Kind, Value: name, Refusals: bad}
	}
	if old == nil {
		a.Objects = append(a.Objects, o)
	} else {
		a.put(old, o)
	}
	return nil
}

// cover gives a cohort without quota of a flavor and resource a quota of 0 of those that
// a setting names and its members have.
func (a *applied) cover(o *kueue.Cohort, c Change) {
	if c.Resource == "" || c.Flavor == "" {
		return
	}
	for _, g := range o.Spec.ResourceGroups {
		if slices.Contains(g.CoveredResources, corev1.ResourceName(c.Resource)) {
			return
		}
	}
	for _, q := range all[*kueue.ClusterQueue](a.World) {
		for _, g := range q.Spec.ResourceGroups {
			for _, f := range g.Flavors {
				if string(f.Name) == c.Flavor && slices.Contains(g.CoveredResources, corev1.ResourceName(c.Resource)) {
					o.Spec.ResourceGroups = append(o.Spec.ResourceGroups, kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{corev1.ResourceName(c.Resource)},
						Flavors: []kueue.FlavorQuotas{{Name: f.Name, Resources: []kueue.ResourceQuota{{Name: corev1.ResourceName(c.Resource)}}}}})
					return
				}
			}
		}
	}
}

func setLimit(r *kueue.ResourceQuota, setting string, q *resource.Quantity) {
	if setting == "lend-limit" {
		r.LendingLimit = q
	} else {
		r.BorrowingLimit = q
	}
}

// share returns a percentage of what is owned, rounded down; false where that is more than
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

// quotas returns the resources that a change means.
func quotas(groups []kueue.ResourceGroup, c Change, everything bool) ([]*kueue.ResourceQuota, error) {
	var meant []*kueue.ResourceQuota
	var all, owned []string
	var owns []*kueue.ResourceQuota
	devices := false
	for _, g := range groups {
		devices = devices || slices.ContainsFunc(g.CoveredResources, func(n corev1.ResourceName) bool { return kinds.Accelerator(string(n)) })
	}
	for gi := range groups {
		for fi := range groups[gi].Flavors {
			f := &groups[gi].Flavors[fi]
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
		return nil, &Error{Code: NoQuota, Change: c, Names: all}
	case everything || len(meant) == 1:
		return meant, nil
	case len(owns) == 1:
		return owns, nil
	}
	slices.Sort(owned)
	if len(owned) == 0 {
		owned = all
	}
	return nil, &Error{Code: WhichQuota, Change: c, Names: owned}
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
		return &Error{Code: PriorityRange, Change: c}
	}
	if err != nil {
		return notFound(aPriorityClass, c.Value, names)
	}
	w.Spec.Priority = ptr.To(int32(n))
	w.Spec.PriorityClassRef = nil
	a.put(old, &w)
	return nil
}
