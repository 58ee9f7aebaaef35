package podrules

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Job returns the faults of the spec of a batch Job besides those of its pods' fields and their restart policy (pkg/apis/batch
// of Kubernetes). The paths lead from the spec.
func Job(spec map[string]any, open func(string) bool) []Fault {
	c := newChecker(Options{Open: open})
	for _, key := range []string{"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"} {
		c.within(nil, spec, key, notNegative)
	}
	c.oneOf(nil, spec, "completionMode", "NonIndexed", "Indexed")
	c.oneOf(nil, spec, "podReplacementPolicy", "Failed", "TerminatingOrFailed")
	mode, settled := c.text(spec, "completionMode")
	indexed := mode == "Indexed" || !settled
	if mode == "Indexed" && spec["completions"] == nil && spec["parallelism"] != nil { // without both, there is one
		c.required(at{"completions"}, "when completion mode is Indexed")
	}
	for _, key := range []string{"backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"} {
		if spec[key] != nil && !indexed {
			c.invalid(at{key}, "", "requires indexed completion mode")
		}
	}
	if spec["maxFailedIndexes"] != nil && spec["backoffLimitPerIndex"] == nil {
		c.required(at{"backoffLimitPerIndex"}, "when maxFailedIndexes is specified")
	}
	if policy := inner(spec, "podFailurePolicy"); policy != nil {
		c.failures(at{"podFailurePolicy"}, policy)
		if restart, ok := c.text(inner(spec, "template", "spec"), "restartPolicy"); ok && restart != "" && restart != "Never" {
			c.invalid(at{"template", "spec", "restartPolicy"}, restart, `only "Never" is supported when podFailurePolicy is specified`)
		}
	}
	return c.found
}

// failures checks the rules for failed pods.
func (c *checker) failures(p at, m map[string]any) {
	each(m["rules"], func(i int, rule map[string]any) {
		p := p.to("rules", i)
		c.oneOf(p, rule, "action", "Count", "FailIndex", "FailJob", "Ignore")
		codes := inner(rule, "onExitCodes")
		conditions, _ := rule["onPodConditions"].([]any)
		if codes == nil && len(conditions) == 0 {
			c.invalid(p, "", "specifying one of OnExitCodes and OnPodConditions is required")
		}
		c.oneOf(p.to("onExitCodes"), codes, "operator", "In", "NotIn")
		values, _ := codes["values"].([]any)
		for k, v := range values {
			if n, ok := number(v); ok && n == 0 && codes["operator"] == "In" {
				c.invalid(p.to("onExitCodes", "values", k), n, "must not be 0 for the In operator")
			}
		}
	})
}

// CronJob returns the faults of the spec of a CronJob besides those of its jobs.
func CronJob(spec map[string]any, open func(string) bool) []Fault {
	c := newChecker(Options{Open: open})
	c.named(nil, spec, "schedule", func(s string) []string {
		switch {
		case strings.Contains(s, "TZ"):
			return []string{"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}
		case !strings.HasPrefix(s, "@") && len(strings.Fields(s)) != 5:
			return []string{"expected exactly 5 fields"}
		}
		return nil
	})
	c.oneOf(nil, spec, "concurrencyPolicy", "Allow", "Forbid", "Replace")
	for _, key := range []string{"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"} {
		c.within(nil, spec, key, notNegative)
	}
	return c.found
}

// rollout checks how a Deployment or a StatefulSet replaces pods.
func (c *checker) rollout(spec map[string]any) {
	for _, key := range []string{"replicas", "revisionHistoryLimit", "minReadySeconds"} {
		c.within(nil, spec, key, notNegative)
	}
	strategy := inner(spec, "strategy")
	c.oneOf(at{"strategy"}, strategy, "type", "Recreate", "RollingUpdate")
	if strategy["type"] == "Recreate" && strategy["rollingUpdate"] != nil {
		c.forbidden(at{"strategy", "rollingUpdate"}, "may not be specified when strategy `type` is 'Recreate'")
	}
	c.oneOf(nil, spec, "podManagementPolicy", "OrderedReady", "Parallel")
	c.oneOf(at{"updateStrategy"}, inner(spec, "updateStrategy"), "type", "RollingUpdate", "OnDelete")
	each(spec["volumeClaimTemplates"], func(i int, m map[string]any) {
		if claim := inner(m, "spec"); claim != nil && inner(claim, "resources", "requests")["storage"] == nil {
			c.add(at{"volumeClaimTemplates", i, "spec", "resources", "requests", "storage"}, field.ErrorTypeRequired, nil, "")
		}
	})
}

func newChecker(o Options) *checker {
	if o.Open == nil {
		o.Open = func(string) bool { return false }
	}
	return &checker{Options: o}
}
