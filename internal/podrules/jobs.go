package podrules

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// Job returns the faults of the spec of a batch Job besides those of its pods' fields and their restart policy (pkg/apis/batch
// of Kubernetes). The paths lead from the spec.
func Job(spec map[string]any, open func(string) bool) []Fault {
	c := newChecker(Options{Open: open})
	for _, key := range []string{"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"} {
		c.within(nil, spec, key, notNegative)
	}
	c.OneOf(nil, spec, "completionMode", "NonIndexed", "Indexed")
	c.OneOf(nil, spec, "podReplacementPolicy", "Failed", "TerminatingOrFailed")
	mode, settled := c.text(spec, "completionMode")
	indexed := mode == "Indexed" || !settled
	if mode == "Indexed" && spec["completions"] == nil && spec["parallelism"] != nil { // without both, there is one
		c.Required(at{"completions"}, "when completion mode is Indexed")
	}
	for _, key := range []string{"backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"} {
		if spec[key] != nil && !indexed {
			c.Invalid(at{key}, "", "requires indexed completion mode")
		}
	}
	if spec["maxFailedIndexes"] != nil && spec["backoffLimitPerIndex"] == nil {
		c.Required(at{"backoffLimitPerIndex"}, "when maxFailedIndexes is specified")
	}
	if mode == "Indexed" {
		c.indexes(spec)
	}
	if policy, isMap := spec["successPolicy"].(map[string]any); isMap && indexed {
		c.success(at{"successPolicy"}, spec, policy)
	}
	if by, ok := c.text(spec, "managedBy"); ok && by != "" {
		for _, e := range validation.IsDomainPrefixedPath(nil, by) {
			c.Invalid(at{"managedBy"}, by, e.Detail)
		}
	}
	if policy := faults.Inner(spec, "podFailurePolicy"); policy != nil {
		c.failures(at{"podFailurePolicy"}, spec, policy)
		if restart, ok := c.text(faults.Inner(spec, "template", "spec"), "restartPolicy"); ok && restart != "" && restart != "Never" {
			c.Invalid(at{"template", "spec", "restartPolicy"}, restart, `only "Never" is supported when podFailurePolicy is specified`)
		}
	}
	return c.Found
}

// CronJob returns the faults of the spec of a CronJob besides those of its jobs.
func CronJob(spec map[string]any, open func(string) bool) []Fault {
	c := newChecker(Options{Open: open})
	c.named(nil, spec, "schedule", func(s string) []string {
		if strings.Contains(s, "TZ") {
			return []string{"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"}
		}
		if _, err := cron.ParseStandard(s); err != nil { // as the API server checks it
			return []string{err.Error()}
		}
		return nil
	})
	c.zone(spec)
	job := faults.Inner(spec, "jobTemplate", "spec")
	if job["selector"] != nil {
		c.Invalid(at{"jobTemplate", "spec", "selector"}, "", "`selector` will be auto-generated")
	}
	if job["manualSelector"] == true {
		c.Invalid(at{"jobTemplate", "spec", "manualSelector"}, true, "must not be true in a CronJob")
	}
	c.OneOf(nil, spec, "concurrencyPolicy", "Allow", "Forbid", "Replace")
	for _, key := range []string{"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"} {
		c.within(nil, spec, key, notNegative)
	}
	return c.Found
}

// zone checks the time zone of a CronJob, where this machine knows time zones.
func (c *checker) zone(spec map[string]any) {
	zone, ok := c.text(spec, "timeZone")
	if !ok || spec["timeZone"] == nil {
		return
	}
	_, known := time.LoadLocation("America/New_York")
	_, err := time.LoadLocation(zone)
	switch p := (at{"timeZone"}); {
	case zone == "":
		c.Invalid(p, zone, "timeZone must be nil or non-empty string")
	case strings.EqualFold(zone, "Local"):
		c.Invalid(p, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	case err != nil && known == nil:
		c.Invalid(p, zone, err.Error())
	}
}

// CronJobName returns the reason why the name of a CronJob is too long, "" if it is not: its jobs have 11 characters more.
func CronJobName(name string) string {
	if len(name) > longestCronJob {
		return fmt.Sprintf("must be no more than %d characters", longestCronJob)
	}
	return ""
}

const longestCronJob = validation.DNS1035LabelMaxLength - 11

// Selector returns the faults of the selector of a batch Job. The API server makes the selector, by the Job's UID, unless
// manualSelector is true.
func Selector(spec map[string]any, open func(string) bool) []Fault {
	c := newChecker(Options{Open: open})
	if spec["manualSelector"] == true {
		if spec["selector"] == nil {
			c.Required(at{"selector"}, "")
			return c.Found
		}
		c.selects(spec)
	}
	if own, ok := spec["selector"].(map[string]any); ok && spec["manualSelector"] != true && !generated(own) {
		c.Invalid(at{"selector"}, own, "`selector` not auto-generated")
	}
	return c.Found
}

// generated reports the selector of a Job that exists.
func generated(selector map[string]any) bool {
	labels := faults.Inner(selector, "matchLabels")
	if len(labels) != 1 || len(selector) != 1 {
		return false
	}
	return labels["controller-uid"] != nil || labels["batch.kubernetes.io/controller-uid"] != nil
}

// rollout checks how a Deployment or a StatefulSet replaces pods.
func (c *checker) rollout(spec map[string]any) {
	for _, key := range []string{"replicas", "revisionHistoryLimit", "minReadySeconds"} {
		c.within(nil, spec, key, notNegative)
	}
	strategy := faults.Inner(spec, "strategy")
	c.OneOf(at{"strategy"}, strategy, "type", "Recreate", "RollingUpdate")
	if strategy["type"] == "Recreate" && strategy["rollingUpdate"] != nil {
		c.Forbidden(at{"strategy", "rollingUpdate"}, "may not be specified when strategy `type` is 'Recreate'")
	}
	if rolling := faults.Inner(strategy, "rollingUpdate"); nothing(rolling["maxSurge"]) && nothing(rolling["maxUnavailable"]) {
		c.Invalid(at{"strategy", "rollingUpdate", "maxUnavailable"}, rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0")
	}
	c.OneOf(nil, spec, "podManagementPolicy", "OrderedReady", "Parallel")
	c.OneOf(at{"updateStrategy"}, faults.Inner(spec, "updateStrategy"), "type", "RollingUpdate", "OnDelete")
	faults.Each(spec["volumeClaimTemplates"], func(i int, m map[string]any) {
		if claim := faults.Inner(m, "spec"); claim != nil && faults.Inner(claim, "resources", "requests")["storage"] == nil {
			c.Add(at{"volumeClaimTemplates", i, "spec", "resources", "requests", "storage"}, field.ErrorTypeRequired, nil, "")
		}
	})
}

// nothing reports a number or a percentage of zero.
func nothing(v any) bool {
	n, whole := faults.Number(v)
	text, _ := v.(string)
	percent, cut := strings.CutSuffix(text, "%")
	return whole && n == 0 || cut && percent != "" && strings.Trim(percent, "0") == ""
}
