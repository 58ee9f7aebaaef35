package simulate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

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
