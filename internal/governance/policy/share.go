package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// sharing checks how the teams share: weights, lenders and borrowers.
func (c *checker) sharing() {
	p := c.d.Policy
	weighted := slices.ContainsFunc(c.d.Teams, func(t Team) bool { return t.Weight() > 0 })
	lends := map[string]lenders{} // by instance type
	for i := range c.d.Teams {
		if t := &c.d.Teams[i]; t.Shares() != DontLend {
			for _, typ := range typesOf(t) {
				lends[typ] = lends[typ].and(t.Team)
			}
		}
	}
	for i := range c.d.Teams {
		t := &c.d.Teams[i]
		path := fmt.Sprintf("teams[%d]", i)
		if p != nil && p.FairShare == Disabled && t.Weight() > 0 {
			c.add(WeightIgnored, path+".fairShareWeight", Finding{Team: t.Team, Value: num(t.Weight())})
		}
		if p != nil && p.FairShare != Disabled && weighted && t.Weight() == 0 && t.Percent() > 0 {
			c.add(WeightZero, path+".fairShareWeight", Finding{Team: t.Team})
		}
		if t.Shares() != LendAndBorrow || t.Percent() == 0 && len(t.AbsoluteBorrowLimits) == 0 {
			continue
		}
		alone, types := true, typesOf(t)
		for _, typ := range types {
			alone = alone && !lends[typ].beside(t.Team)
		}
		if len(types) == 0 || !alone || p != nil && p.IdleResourceSharing == Enabled {
			continue
		}
		if len(c.d.Teams) == 1 {
			c.add(NobodyToShare, path, Finding{Team: t.Team, Names: types})
		} else {
			c.add(NobodyLends, path, Finding{Team: t.Team, Names: types})
		}
	}
}

// lenders says if others lend an instance type, without a list of all of them for each team.
type lenders struct {
	any, several bool
	first        string
}

func (l lenders) and(team string) lenders {
	if !l.any {
		return lenders{any: true, first: team}
	}
	l.several = l.several || team != l.first
	return l
}

// beside reports whether a team other than this one lends.
func (l lenders) beside(team string) bool { return l.several || l.any && l.first != team }

// typesOf returns the instance types that a team has quota of, sorted.
func typesOf(t *Team) []string {
	types := map[string]bool{}
	for _, q := range t.Quota {
		types[instances.Full(q.InstanceType)] = true
	}
	return slices.Sorted(maps.Keys(types))
}

// capacity compares the quota of all teams with what the cluster has.
func (c *checker) capacity() {
	if c.facts.Capacity == nil {
		return
	}
	reserved, teams := map[string]amounts{}, map[string][]string{}
	first := map[string]string{}
	type share struct{ instanceType, team string }
	counted := map[share]bool{}
	for i := range c.d.Teams {
		for j, q := range c.d.Teams[i].Quota {
			a, ok := q.Amounts()
			if !ok {
				continue
			}
			typ := instances.Full(q.InstanceType)
			if reserved[typ] == nil {
				reserved[typ] = amounts{}
				first[typ] = fmt.Sprintf("teams[%d].quota[%d]", i, j)
			}
			if name := c.d.Teams[i].Team; !counted[share{typ, name}] {
				counted[share{typ, name}] = true
				teams[typ] = append(teams[typ], name)
			}
			for r, n := range a {
				reserved[typ][r] += n
			}
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(reserved)) {
		t, _ := instances.Lookup(typ)
		n := int64(c.facts.Capacity[typ])
		has := amounts{"cpu": n * int64(t.VCPU) * 1000, "memory": n * int64(t.MemoryGiB) * gib}
		if t.Resource != "" {
			has[t.Resource] = n * int64(t.Accelerators)
		}
		for _, r := range []string{t.Resource, "cpu", "memory"} {
			if over := reserved[typ][r]; r != "" && over > has[r] {
				c.add(OverCapacity, first[typ], Finding{Subject: typ, Text: r, Value: inUnit(r, over), Limit: inUnit(r, has[r]), Names: teams[typ]})
				break
			}
		}
	}
	if c.d.Policy != nil && c.d.Policy.IdleResourceSharing == Enabled {
		return
	}
	for _, typ := range slices.Sorted(maps.Keys(c.facts.Capacity)) {
		t, known := instances.Lookup(typ)
		n := int64(c.facts.Capacity[typ])
		free := n*int64(t.Accelerators) - reserved[typ][t.Resource]
		if known && t.Accelerators > 0 && free > 0 {
			c.add(Unreserved, "policy.idleResourceSharing", Finding{Subject: typ, Text: t.Resource, Value: num(free), Limit: num(n * int64(t.Accelerators))})
		}
	}
}

// inUnit returns an amount in cores, bytes or devices.
func inUnit(r string, n int64) *float64 {
	if r == "cpu" {
		return num(float64(n) / 1000)
	}
	return num(n)
}

// specs reports specs that Kueue's API does not know.
func (c *checker) specs() {
	m := DefaultMapping()
	for i := range c.d.Teams {
		t := newMapper(m)
		if _, err := t.spec(&c.d.Teams[i]); err != nil {
			c.add(BadSpec, fmt.Sprintf("teams[%d].kueue.spec", i), Finding{Team: c.d.Teams[i].Team, Text: err.Error()})
		}
	}
	if c.d.Kueue == nil {
		return
	}
	t := newMapper(m)
	if err := t.objects(c.d.Kueue); err != nil {
		c.add(BadSpec, "kueue", Finding{Text: err.Error()})
	}
}
