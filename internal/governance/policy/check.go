package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// Facts are what a check knows about the cluster. With the zero value, everything is unknown.
type Facts struct {
	// Capacity is the number of healthy instances by instance type; nil: unknown.
	Capacity map[string]int
	// Served are instance types and MIG profiles that the service knows and this program
	// may not.
	Served []string
}

// Check returns all findings about a document, by position in the text.
func Check(d *Document, at Positions, f Facts) []Finding {
	c := &checker{d: d, at: at, facts: f}
	if d.Cluster != nil && len(d.Cluster.Capacity) > 0 && f.Capacity == nil {
		c.facts.Capacity = map[string]int{}
		for name, n := range d.Cluster.Capacity {
			c.facts.Capacity[instances.Full(name)] = n
		}
	}
	c.cluster()
	c.policy()
	c.teams()
	c.sharing()
	c.capacity()
	c.specs()
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code))
	})
	return c.found
}

// Worst returns the most severe level of findings, "" without any.
func Worst(found []Finding) Level {
	worst := Level("")
	for _, f := range found {
		switch {
		case f.Level == LevelError:
			return LevelError
		case f.Level == LevelWarning || worst == "":
			worst = f.Level
		}
	}
	return worst
}

type checker struct {
	d     *Document
	at    Positions
	facts Facts
	found []Finding
}

func (c *checker) add(code, path string, f Finding) {
	c.found = append(c.found, NewFinding(code, path, c.at, f))
}

func num[T int | int64 | float64](n T) *float64 { v := float64(n); return &v }

// within reports a number outside its limits.
func (c *checker) within(path, team string, n, least, most float64) {
	limit := most
	if n < least {
		limit = least
	}
	if n < least || n > most {
		c.add(OutOfRange, path, Finding{Team: team, Value: &n, Limit: &limit})
	}
}

func (c *checker) cluster() {
	if c.d.Cluster == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.d.Cluster.Capacity)) {
		path := "cluster.capacity." + name
		c.within(path, "", float64(c.d.Cluster.Capacity[name]), 0, maxAmount)
		c.instance(path, "", name)
	}
}

func (c *checker) instance(path, team, name string) bool {
	if _, ok := instances.Lookup(name); !ok {
		if slices.Contains(c.facts.Served, instances.Full(name)) {
			return false
		}
		c.add(UnknownInstance, path, Finding{Team: team, Text: name, Names: instances.Near(name)})
		return false
	}
	return true
}

func (c *checker) policy() {
	p := c.d.Policy
	if p == nil {
		return
	}
	if p.Name != "" && !allocationName().MatchString(p.Name) {
		c.add(BadName, "policy.name", Finding{Text: p.Name})
	}
	c.description("policy.description", "", p.Description)
	if len(p.PriorityClasses) == 0 && (c.d.Kueue == nil || len(c.d.Kueue.PriorityClasses) == 0) {
		c.add(NoClasses, "policy", Finding{})
	}
	if n := len(p.PriorityClasses); n > MaxClasses {
		c.add(TooMany, "policy.priorityClasses", Finding{Value: num(n), Limit: num(MaxClasses)})
	}
	seen := map[string]bool{}
	for i, class := range p.PriorityClasses {
		path := fmt.Sprintf("policy.priorityClasses[%d]", i)
		c.name(path+".name", "", class.Name)
		c.within(path+".weight", "", float64(class.Weight), 0, maxWeight)
		if seen[class.Name] {
			c.add(Duplicate, path, Finding{Subject: "priority class", Text: class.Name})
		}
		seen[class.Name] = true
	}
}

func (c *checker) description(path, team, text string) {
	if n := len([]rune(text)); n > maxDescription {
		c.add(OutOfRange, path, Finding{Team: team, Value: num(n), Limit: num(maxDescription)})
	}
	for _, r := range text {
		if !unicode.In(r, descriptionRunes...) {
			c.add(BadText, path, Finding{Team: team, Text: string(r)})
			return
		}
	}
}

func (c *checker) name(path, team, name string) {
	if name != "" && !teamName().MatchString(name) || len(name) > maxTeam {
		c.add(BadName, path, Finding{Team: team, Text: name})
	}
}

func (c *checker) teams() {
	teams, allocations, locals := map[string]bool{}, map[string]bool{}, map[Local]string{}
	queues := map[string]string{}
	for i := range c.d.Teams {
		t := &c.d.Teams[i]
		path := fmt.Sprintf("teams[%d]", i)
		c.name(path+".team", t.Team, t.Team)
		if teams[t.Team] {
			c.add(Duplicate, path+".team", Finding{Team: t.Team, Subject: "team", Text: t.Team})
			continue
		}
		teams[t.Team] = true
		if t.Name != "" && !allocationName().MatchString(t.Name) {
			c.add(BadName, path+".name", Finding{Team: t.Team, Text: t.Name})
		}
		if allocations[t.AllocationName()] {
			c.add(Duplicate, path+".name", Finding{Team: t.Team, Subject: "compute allocation", Text: t.AllocationName()})
		}
		allocations[t.AllocationName()] = true
		if other, used := queues[t.Queue()]; used {
			c.add(Duplicate, path+".kueue.clusterQueue", Finding{Team: t.Team, Subject: "ClusterQueue", Text: t.Queue(), Names: []string{other}})
		}
		queues[t.Queue()] = t.Team
		for j, l := range t.LocalQueues() {
			if other, used := locals[l]; used {
				c.add(SameNamespace, fmt.Sprintf("%s.kueue.localQueues[%d]", path, j), Finding{Team: t.Team, Text: l.Namespace + "/" + l.Name, Names: []string{other}})
			}
			locals[l] = t.Team
		}
		c.description(path+".description", t.Team, t.Description)
		if t.FairShareWeight != nil {
			c.within(path+".fairShareWeight", t.Team, float64(*t.FairShareWeight), 0, maxWeight)
		}
		c.borrow(t, path)
		c.rows(t, path+".quota", t.Quota, true)
		c.rows(t, path+".absoluteBorrowLimits", t.AbsoluteBorrowLimits, false)
		if t.Kueue != nil && t.Kueue.Spec["resourceGroups"] != nil && len(t.Quota)+len(t.AbsoluteBorrowLimits) > 0 {
			c.add(TwiceDescribed, path+".kueue.spec", Finding{Team: t.Team})
		}
	}
}

func (c *checker) borrow(t *Team, path string) {
	if l := t.BorrowLimit; l != nil {
		c.within(path+".borrowLimit", t.Team, float64(*l), 0, maxBorrow)
		if *l > usualBorrow && *l <= maxBorrow {
			c.add(LargeBorrow, path+".borrowLimit", Finding{Team: t.Team, Value: num(*l), Limit: num(usualBorrow)})
		}
		if t.Shares() != LendAndBorrow && *l > 0 {
			c.add(BorrowIgnored, path+".borrowLimit", Finding{Team: t.Team, Subject: "borrowLimit", Text: t.Shares()})
		}
	}
	if len(t.AbsoluteBorrowLimits) > 0 && t.Shares() != LendAndBorrow {
		c.add(BorrowIgnored, path+".absoluteBorrowLimits", Finding{Team: t.Team, Subject: "absoluteBorrowLimits", Text: t.Shares()})
	}
}

func (c *checker) rows(t *Team, path string, rows []Quota, own bool) {
	if n := len(rows); n > maxRows {
		c.add(TooMany, path, Finding{Team: t.Team, Value: num(n), Limit: num(maxRows)})
	}
	seen := map[string]bool{}
	for i := range rows {
		q, at := &rows[i], fmt.Sprintf("%s[%d]", path, i)
		name := instances.Full(q.InstanceType)
		if seen[name] {
			c.add(Duplicate, at+".instanceType", Finding{Team: t.Team, Subject: "instance type", Text: name})
		}
		seen[name] = true
		if !c.instance(at+".instanceType", t.Team, q.InstanceType) {
			continue
		}
		c.units(t, at, q)
		if own {
			c.small(t, at, q)
		}
	}
}

// units checks what a row says against the instance type.
func (c *checker) units(t *Team, path string, q *Quota) {
	typ, _ := instances.Lookup(q.InstanceType)
	bad := len(c.found)
	given := map[string]float64{}
	if q.Count != nil {
		given["count"] = float64(*q.Count)
	}
	if q.Accelerators != nil {
		given["accelerators"] = float64(*q.Accelerators)
	}
	if q.VCPU != nil {
		given["vcpu"] = *q.VCPU
	}
	if q.MemoryInGiB != nil {
		given["memoryInGiB"] = *q.MemoryInGiB
	}
	if q.AcceleratorPartition != nil {
		given["acceleratorPartition.count"] = float64(q.AcceleratorPartition.Count)
	}
	for _, unit := range slices.Sorted(maps.Keys(given)) {
		c.within(path+"."+unit, t.Team, given[unit], 0, maxAmount)
	}
	if q.Count != nil && len(given) > 1 {
		delete(given, "count")
		c.add(UnitConflict, path, Finding{Team: t.Team, Subject: typ.Name, Names: slices.Sorted(maps.Keys(given))})
	}
	if p := q.AcceleratorPartition; p != nil && !slices.Contains(c.facts.Served, p.Type) {
		if !hasProfile(typ, p.Type) || !strings.HasPrefix(p.Type, "mig-") {
			var names []string
			for _, m := range typ.MIG {
				names = append(names, "mig-"+m)
			}
			c.add(BadPartition, path+".acceleratorPartition.type", Finding{Team: t.Team, Subject: typ.Name, Text: p.Type, Names: names})
		} else if q.Accelerators != nil {
			c.add(BadPartition, path+".acceleratorPartition", Finding{Team: t.Team, Subject: typ.Name, Names: []string{"accelerators"}})
		}
	}
	if len(c.found) > bad {
		return
	}
	if _, ok := q.Amounts(); !ok {
		unit := ""
		if q.Accelerators != nil {
			unit = "accelerators"
		}
		c.add(UnitMissing, path, Finding{Team: t.Team, Subject: typ.Name, Text: unit})
	}
}

// small notes quotas that surprise because they are small.
func (c *checker) small(t *Team, path string, q *Quota) {
	typ, _ := instances.Lookup(q.InstanceType)
	a, ok := q.Amounts()
	n := a[typ.Resource]
	if !ok || typ.Accelerators == 0 || n <= 0 {
		return
	}
	if n%int64(typ.Accelerators) != 0 {
		c.add(PartOfInstance, path, Finding{Team: t.Team, Subject: typ.Name, Value: num(n), Limit: num(typ.Accelerators)})
	}
	absolute := slices.ContainsFunc(t.AbsoluteBorrowLimits, func(l Quota) bool { return instances.Full(l.InstanceType) == typ.Name })
	if p := t.Percent(); p > 0 && n*int64(p) < 100 && !absolute {
		c.add(BorrowsNothing, path, Finding{Team: t.Team, Subject: typ.Name, Value: num(n), Limit: num(p)})
	}
}
