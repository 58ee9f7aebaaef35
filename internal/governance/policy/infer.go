package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// inferQuota returns the row that reserves exactly these amounts of an instance type:
// whole instances where it can, else the fewest units. False: no row does.
func inferQuota(instanceType string, want amounts) (Quota, bool) {
	t, ok := instances.Lookup(instanceType)
	if !ok {
		return Quota{}, false
	}
	for _, q := range candidates(t, want) {
		if a, ok := q.Amounts(); ok && sameAmounts(a, want) {
			return q, true
		}
	}
	return Quota{}, false
}

func candidates(t instances.Type, want amounts) []Quota {
	row := func(f func(q *Quota)) Quota {
		q := Quota{InstanceType: t.Name}
		f(&q)
		return q
	}
	cores, memory := float64(want["cpu"])/1000, float64(want["memory"])/gib
	var out []Quota
	both := func(f func(q *Quota)) {
		out = append(out, row(f), row(func(q *Quota) { f(q); q.VCPU, q.MemoryInGiB = &cores, &memory }))
	}
	if n := want[t.Resource]; t.Accelerators > 0 && n > 0 && n < maxAmount {
		if n%int64(t.Accelerators) == 0 {
			count := int(n) / t.Accelerators
			out = append(out, row(func(q *Quota) { q.Count = &count }))
		}
		devices := int(n)
		both(func(q *Quota) { q.Accelerators = &devices })
	}
	for _, r := range slices.Sorted(maps.Keys(want)) {
		if profile, ok := strings.CutPrefix(r, instances.MIGPrefix); ok && want[r] > 0 && want[r] < maxAmount {
			p := &Partition{Type: "mig-" + profile, Count: int(want[r])}
			both(func(q *Quota) { q.AcceleratorPartition = p })
		}
	}
	if n := want["cpu"] / (int64(t.VCPU) * 1000); n > 0 && n < maxAmount {
		count := int(n)
		out = append(out, row(func(q *Quota) { q.Count = &count }))
	}
	if cores > 0 || memory > 0 {
		out = append(out, row(func(q *Quota) { q.VCPU = &cores }), row(func(q *Quota) { q.MemoryInGiB = &memory }),
			row(func(q *Quota) { q.VCPU, q.MemoryInGiB = &cores, &memory }))
	} else {
		none := 0
		out = append(out, row(func(q *Quota) { q.Count = &none }))
	}
	return out
}

// sameAmounts compares amounts; what is absent is 0.
func sameAmounts(a, b amounts) bool {
	for r, n := range a {
		if b[r] != n {
			return false
		}
	}
	for r, n := range b {
		if a[r] != n {
			return false
		}
	}
	return true
}

// inferBorrow sets how a team borrows: a percentage where one gives all limits, else
// amounts by instance type. limits and nominal are by instance type. False: neither does.
func (t *mapper) inferBorrow(team *Team, order []string, nominal, limits map[string]amounts) bool {
	if p, ok := t.inferPercent(order, nominal, limits); ok {
		team.BorrowLimit = &p
		return true
	}
	for _, typ := range order {
		q, ok := inferQuota(typ, limits[typ])
		if !ok {
			return false
		}
		team.AbsoluteBorrowLimits = append(team.AbsoluteBorrowLimits, q)
	}
	return true
}

func (t *mapper) inferPercent(order []string, nominal, limits map[string]amounts) (int, bool) {
	tries := []int{defaultBorrowLimit, 100, 0}
	for _, typ := range order {
		for r, n := range nominal[typ] {
			if n > 0 && limits[typ][r] < 1<<50 {
				p := int(limits[typ][r] * 100 / n)
				tries = append(tries, p, p+1)
			}
		}
	}
	slices.Sort(tries[3:])
	for _, p := range tries {
		if t.allAt(p, order, nominal, limits) {
			return p, true
		}
	}
	return 0, false
}

func (t *mapper) allAt(p int, order []string, nominal, limits map[string]amounts) bool {
	for _, typ := range order {
		for r, limit := range limits[typ] {
			if t.percent(nominal[typ][r], p, r) != limit {
				return false
			}
		}
		for r, n := range nominal[typ] {
			if t.percent(n, p, r) != limits[typ][r] {
				return false
			}
		}
	}
	return true
}
