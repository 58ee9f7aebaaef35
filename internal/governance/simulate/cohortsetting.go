package simulate

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

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
