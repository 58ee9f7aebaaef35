package governancecmd

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// alertRules are rules for Prometheus on the metrics of get-quota -o prometheus.
func alertRules() string {
	m := func(name string) string { return quota.MetricPrefix + "cluster_queue_" + name }
	var b strings.Builder
	b.WriteString("groups:\n- name: hyperpod-governance\n  rules:\n")
	for _, r := range []struct{ name, expr, wait, summary string }{
		{"HyperpodTeamStarved", fmt.Sprintf("%s > 0", m("pending_workloads")), "1h",
			"team {{ $labels.team }} has {{ $value }} pending workloads for an hour"},
		{"HyperpodQuotaIdleWhileOthersWait", fmt.Sprintf("sum by (flavor, resource) (%s{resource=~\"nvidia.com/.*|aws.amazon.com/neuron.*\"}) > 0 and on () sum(%s) > 0", m("free"), m("pending_workloads")), "1h",
			"{{ $value }} {{ $labels.resource }} of {{ $labels.flavor }} are idle while workloads are pending"},
		{"HyperpodTeamOvercommitted", fmt.Sprintf("%s > 0", m("overcommitted")), "15m",
			"team {{ $labels.team }} uses {{ $value }} {{ $labels.resource }} beyond its quota, which nobody lends"},
		{"HyperpodAboveLimit", fmt.Sprintf("%squota_problem{code=%q} > 0", quota.MetricPrefix, quota.AboveLimit), "15m",
			"{{ $labels.subject }} uses more {{ $labels.resource }} of {{ $labels.flavor }} than its limit"},
		{"HyperpodQuotaExceedsCapacity", fmt.Sprintf("%snode_reserved_quota > on (instance_type, resource) %snode_healthy_allocatable", quota.MetricPrefix, quota.MetricPrefix), "15m",
			"quota of {{ $labels.instance_type }} exceeds what healthy nodes offer of {{ $labels.resource }}"},
	} {
		fmt.Fprintf(&b, "  - alert: %s\n    expr: %s\n    for: %s\n    labels: {severity: warning}\n    annotations:\n      summary: %q\n", r.name, r.expr, r.wait, r.summary)
	}
	return b.String()
}
