package getquota

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// notes explain the bars, the capacity of the nodes and figures that need a definition.
func (p page) notes(lines []line, wide bool) []string {
	if len(lines) == 0 {
		return nil
	}
	lent, several, overcommit, hidden := 0, false, false, ""
	for _, l := range lines {
		if l.team != nil && l.team.State == quota.Hidden {
			hidden = l.team.Name
		}
		if l.sum {
			continue
		}
		if l.row.Lent != nil && *l.row.Lent > 0 && l.team != nil {
			lent++
		}
		several = several || l.team != nil && used(l.row.Flavors) > 1
		overcommit = overcommit || over(l.row.Figures)
	}
	alarm := ""
	if overcommit {
		alarm = "overcommitted"
	}
	var out []string
	if slices.ContainsFunc(lines, func(l line) bool { return l.bar }) {
		out = append(out, p.io.Legend("own", "borrowed", "lent", "free", alarm))
	}
	if !p.narrow {
		for _, name := range p.resources {
			if text := p.capacity(name); text != "" {
				out = append(out, text)
			}
		}
	}
	if several && !wide {
		out = append(out, "totals over all flavors; a pod set uses one flavor (see -o wide)")
	}
	if lent > 1 {
		out = append(out, "LENT is an estimate by convention, because Kueue does not record lenders (see docs/quota.md)")
	}
	switch {
	case hidden != "":
		out = append(out, "use of "+hidden+" is that of your namespaces: jobs of other namespaces are not counted")
	case p.report.Source == quota.FromStatus:
		out = append(out, "use is from the status of the ClusterQueues and can be seconds old")
	}
	if !p.narrow {
		for _, resource := range p.resources {
			if text := p.idle(resource); text != "" {
				out = append(out, text)
			}
		}
	}
	return append(out, p.slices()...)
}

// idle returns the idle accelerators that nobody may borrow, and why.
func (p page) idle(resource string) string {
	if !kinds.Accelerator(resource) {
		return ""
	}
	why := map[string]string{quota.IdleStopped: "stopped", quota.IdleInactive: "inactive", quota.IdleAlone: "no other team in its cohort", quota.IdleLendingLimit: "lending limit"}
	var total int64
	var parts []string
	const shown = 4
	list := p.report.Idle(resource)
	for i, one := range list {
		total += one.Amount
		if i < shown {
			parts = append(parts, fmt.Sprintf("%s of %s (%s)", quota.Text(resource, one.Amount), one.Team, why[one.Why]))
		}
	}
	if len(list) == 0 {
		return ""
	}
	if more := len(list) - shown; more > 0 {
		parts = append(parts, words.Count(more, "more team", "more teams"))
	}
	return fmt.Sprintf("%s %s stays idle: %s", quota.Text(resource, total), p.called(resource), strings.Join(parts, ", "))
}

// used counts the flavors that there is something of.
func used(flavors []quota.FlavorRow) int {
	n := 0
	for _, f := range flavors {
		if f.Nominal > 0 || f.Reserved > 0 {
			n++
		}
	}
	return n
}

// capacity sets quota and use against what the nodes have.
func (p page) capacity(resource string) string {
	all := quota.SumCapacity(p.report.Capacity)
	has := all.Capacity[resource]
	if all.Nodes == 0 || has == 0 {
		return ""
	}
	var nodes []string
	counts := [3]int{}
	notReady, cordoned := 0, 0
	for _, c := range p.report.Capacity {
		if c.Capacity[resource] > 0 {
			notReady, cordoned = notReady+c.NotReady, cordoned+c.Cordoned
			counts[0], counts[1], counts[2] = counts[0]+c.Healthy, counts[1]+c.Unhealthy, counts[2]+c.Unknown
		}
	}
	for i, word := range []string{"healthy", "unhealthy", "of unknown health"} {
		if counts[i] > 0 {
			nodes = append(nodes, fmt.Sprintf("%d %s", counts[i], word))
		}
	}
	sum := p.report.Sum(resource)
	text := fmt.Sprintf("capacity %s on %s nodes", quota.Text(resource, has), strings.Join(nodes, ", "))
	var closed []string // to new pods
	if notReady > 0 {
		closed = append(closed, fmt.Sprintf("%d not ready", notReady))
	}
	if cordoned > 0 {
		closed = append(closed, fmt.Sprintf("%d cordoned", cordoned))
	}
	if len(closed) > 0 {
		text += " (" + strings.Join(closed, ", ") + ")"
	}
	if len(p.resources) > 1 {
		text = p.called(resource) + ": " + text
	}
	// What is offered differs from what is there by nature for cpu and memory.
	if offered := all.Allocatable[resource]; kinds.Accelerator(resource) && offered != has {
		text += fmt.Sprintf(", %s allocatable", quota.Text(resource, offered))
	}
	text += ", quota " + quota.Text(resource, sum.Nominal)
	if sum.Nominal > 0 {
		text += fmt.Sprintf(", %.0f %% of quota used", 100*float64(sum.Used)/float64(sum.Nominal))
	}
	return text
}

// nominal returns the quota of a resource that the table is of.
func (p page) nominal(resource string) int64 {
	if !p.narrow {
		return p.report.Sum(resource).Nominal
	}
	var sum quota.Figures
	for i := range p.teams {
		if row, ok := p.teams[i].Of(resource); ok {
			sum.Add(&row.Figures)
		}
	}
	return sum.Nominal
}

// slices says what slices of GPUs are worth, where there are any.
func (p page) slices() []string {
	whole, parts := 0.0, []string{}
	for _, name := range p.resources {
		worth, ok := quota.GPUs(name)
		n := p.nominal(name)
		if !ok || n == 0 || n == quota.Unlimited {
			continue
		}
		whole += worth * float64(n)
		parts = append(parts, fmt.Sprintf("%d %s", n, strings.TrimPrefix(name, "nvidia.com/")))
	}
	mig := strings.Contains(strings.Join(parts, " "), "mig-")
	if !mig {
		return nil
	}
	return []string{fmt.Sprintf("%s: %.2f GPUs in total (each slice counts as the sevenths in its profile)", strings.Join(parts, " + "), whole)}
}
