package quota

import (
	"math"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/metrics"
)

// The names of the metrics, and what they measure. Values are in base units:
// cores, bytes, devices.
var measured = []struct {
	name, help string
	of         func(FiguresJSON) *float64
}{
	{"nominal_quota", "Quota of the queue's own.", func(f FiguresJSON) *float64 { return f.Nominal }},
	{"resource_reservation", "What workloads with reserved quota hold.", func(f FiguresJSON) *float64 { return f.Reserved }},
	{"resource_usage", "What admitted workloads hold.", func(f FiguresJSON) *float64 { return f.Used }},
	{"borrowed", "Use beyond nominal quota that others lend.", func(f FiguresJSON) *float64 { return f.Borrowed }},
	{"overcommitted", "Use beyond nominal quota that nobody lends.", func(f FiguresJSON) *float64 { return f.Overcommit }},
	{"lent", "What others use of the nominal quota, by the convention of docs/quota.md.", func(f FiguresJSON) *float64 { return f.Lent }},
	{"free", "Nominal quota that is neither used nor lent and is available now.", func(f FiguresJSON) *float64 { return f.Free }},
	{"borrowable", "Quota that can be borrowed now in addition to the free quota.", func(f FiguresJSON) *float64 { return f.Borrowable }},
	{"limit", "Maximum that the queue can ever hold.", func(f FiguresJSON) *float64 { return f.Limit }},
}

// MetricPrefix is the beginning of all names of metrics.
const MetricPrefix = "hyperpod_"

// Metrics returns the document as metrics. Unknown values have no sample.
func (d Document) Metrics() []metrics.Family {
	var out []metrics.Family
	for _, m := range measured {
		f := metrics.Family{Name: MetricPrefix + "cluster_queue_" + m.name, Help: m.help}
		for _, q := range d.Quota {
			for _, flavor := range q.Flavors {
				if v := m.of(flavor.FiguresJSON); v != nil {
					f.Put(*v, q.labels(metrics.Label{Name: "flavor", Value: flavor.Flavor})...)
				}
			}
		}
		out = append(out, f)
	}
	pending := metrics.Family{Name: MetricPrefix + "cluster_queue_pending_demand", Help: "What waiting workloads ask for."}
	for _, q := range d.Quota {
		if q.Pending != nil {
			pending.Put(*q.Pending, q.labels()...)
		}
	}
	out = append(out, pending)
	out = append(out, d.teamMetrics()...)
	out = append(out, d.problemMetrics())
	return append(out, CapacityMetrics(d.Capacity, false)...)
}

func (q QuotaJSON) labels(more ...metrics.Label) []metrics.Label {
	cohort := ""
	if q.Cohort != nil {
		cohort = *q.Cohort
	}
	out := []metrics.Label{{Name: "cohort", Value: cohort}, {Name: "cluster_queue", Value: q.ClusterQueue}, {Name: "team", Value: q.Team}}
	return append(append(out, more...), metrics.Label{Name: "resource", Value: q.Resource})
}

// problemMetrics has a sample of 1 for each problem.
func (d Document) problemMetrics() metrics.Family {
	f := metrics.Family{Name: MetricPrefix + "quota_problem", Help: "A problem of the quota, by its code."}
	for _, p := range d.Problems {
		f.Put(1, metrics.Label{Name: "code", Value: p.Code}, metrics.Label{Name: "subject", Value: p.Subject},
			metrics.Label{Name: "flavor", Value: p.Flavor}, metrics.Label{Name: "resource", Value: p.Resource})
	}
	return f
}

func (d Document) teamMetrics() []metrics.Family {
	weight := metrics.Family{Name: MetricPrefix + "cluster_queue_fair_share_weight", Help: "Weight in fair sharing."}
	share := metrics.Family{Name: MetricPrefix + "cluster_queue_weighted_share", Help: "Share in fair sharing: the lowest goes first, +Inf borrows with weight 0."}
	active := metrics.Family{Name: MetricPrefix + "cluster_queue_active", Help: "1: Kueue admits workloads through the queue; 0: it does not."}
	running := metrics.Family{Name: MetricPrefix + "cluster_queue_reserving_workloads", Help: "Workloads that hold quota."}
	waiting := metrics.Family{Name: MetricPrefix + "cluster_queue_pending_workloads", Help: "Workloads that wait for quota."}
	for _, t := range d.Teams {
		labels := []metrics.Label{{Name: "cluster_queue", Value: t.ClusterQueue}, {Name: "team", Value: t.Team}}
		if t.FairShareWeight != nil {
			weight.Put(*t.FairShareWeight, labels...)
		}
		admits := 0.0
		if t.State == Active {
			admits = 1
		}
		if t.State != Hidden {
			active.Put(admits, labels...)
		}
		if v := t.FairShare; v != nil {
			share.Put(*v, labels...)
		} else if t.FairShareReason != nil && *t.FairShareReason == ShareInfinite {
			share.Put(math.Inf(1), labels...)
		}
		running.Put(float64(t.Running), labels...)
		waiting.Put(float64(t.Waiting), labels...)
	}
	return []metrics.Family{weight, share, active, running, waiting}
}

// CapacityMetrics returns capacities by instance type, or by node group, as metrics. Nodes without the label have the
// name "".
func CapacityMetrics(all []CapacityJSON, byGroup bool) []metrics.Family {
	label := func(c CapacityJSON) metrics.Label {
		if byGroup {
			return metrics.Label{Name: "node_group", Value: c.NodeGroup}
		}
		return metrics.Label{Name: "instance_type", Value: c.InstanceType}
	}
	nodes := metrics.Family{Name: MetricPrefix + "nodes", Help: "Nodes by HyperPod health label; unknown ones have none."}
	amounts := []struct {
		name, help string
		of         func(CapacityJSON) map[string]float64
	}{
		{"node_capacity", "What all nodes have.", func(c CapacityJSON) map[string]float64 { return c.Capacity }},
		{"node_allocatable", "What all nodes offer to pods.", func(c CapacityJSON) map[string]float64 { return c.Allocatable }},
		{"node_healthy_allocatable", "What healthy nodes offer to pods.", func(c CapacityJSON) map[string]float64 { return c.HealthyAllocatable }},
		{"node_reserved_quota", "Quota of all teams for nodes of the instance type.", func(c CapacityJSON) map[string]float64 { return c.Reserved }},
		{"node_governed_requests", "What pods of admitted workloads ask for.", func(c CapacityJSON) map[string]float64 { return c.Governed }},
		{"node_ungoverned_requests", "What pods ask for that Kueue did not admit.", func(c CapacityJSON) map[string]float64 { return c.Ungoverned }},
	}
	out := []metrics.Family{}
	for _, c := range all {
		for _, h := range []struct {
			health string
			n      int
		}{{"healthy", c.Healthy}, {"unhealthy", c.Unhealthy}, {"unknown", c.Unknown}} {
			nodes.Put(float64(h.n), label(c), metrics.Label{Name: "health", Value: h.health})
		}
	}
	out = append(out, nodes)
	for _, a := range amounts {
		f := metrics.Family{Name: MetricPrefix + a.name, Help: a.help}
		for _, c := range all {
			of := a.of(c)
			for _, name := range sortedNames(of) {
				f.Put(of[name], label(c), metrics.Label{Name: "resource", Value: name})
			}
		}
		out = append(out, f)
	}
	return out
}

func sortedNames(m map[string]float64) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
