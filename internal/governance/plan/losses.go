package plan

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Losses returns a function that reports the changes that take something away: a team, a field, or a part of an amount. A
// change that is not one of numbers counts if the plan lowers quota of its team.
func (p *Plan) Losses() func(policy.Change) bool {
	lowered := map[string]bool{}
	for _, ops := range [][]policy.Operation{p.Operations, p.kueue} {
		for i := range ops {
			if op := &ops[i]; op.Lowers && op.Team != "" {
				lowered[op.Team] = true
			} else if op.Lowers {
				lowered[quota.TeamOf(op.Name)] = true
			}
		}
	}
	return func(c policy.Change) bool {
		switch c.Action {
		case policy.Delete:
			return true
		case policy.Create:
			return false
		}
		from, isFrom := number(c.From)
		to, isTo := number(c.To)
		if isFrom && isTo {
			return to.Cmp(from) < 0
		}
		return lowered[c.Team]
	}
}

// number returns a value that is a number, or a quantity of Kubernetes.
func number(v any) (resource.Quantity, bool) {
	switch v := v.(type) {
	case float64:
		return *resource.NewMilliQuantity(int64(v*1000), resource.DecimalSI), true
	case string:
		q, err := resource.ParseQuantity(v)
		return q, err == nil
	}
	return resource.Quantity{}, false
}

// Loses reports a team that a plan removes, or that has less quota or fewer jobs with quota after it.
func Loses(t simulate.Team) bool {
	if t.Before == nil || t.After == nil {
		return t.After == nil
	}
	return t.After.Admitted+t.After.WaitsForNodes < t.Before.Admitted+t.Before.WaitsForNodes ||
		less(t.After.Nominal, t.Before.Nominal) || less(t.After.Limit, t.Before.Limit)
}

// less reports an amount that is smaller than it was.
func less(now, was []simulate.Amount) bool {
	type key struct{ flavor, resource string }
	has := map[key]quota.Base{}
	for _, a := range now {
		has[key{a.Flavor, a.Resource}] = a.Amount
	}
	for _, a := range was {
		if has[key{a.Flavor, a.Resource}] < a.Amount {
			return true
		}
	}
	return false
}
