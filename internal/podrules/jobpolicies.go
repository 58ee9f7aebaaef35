package podrules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// The most that the API server allows in a policy of a batch Job, and pods of an indexed Job at a time (pkg/apis/batch/validation).
const (
	mostSuccessRules = 20
	mostExitCodes    = 255
	mostIndexedPods  = 100_000
)

// indexes checks the numbers of an indexed Job against each other.
func (c *checker) indexes(spec map[string]any) {
	completions, counted := faults.Number(spec["completions"])
	if n, ok := faults.Number(spec["parallelism"]); ok && n > mostIndexedPods {
		c.Invalid(at{"parallelism"}, n, fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", mostIndexedPods))
	}
	if n, ok := faults.Number(spec["maxFailedIndexes"]); ok && counted && n > completions {
		c.Invalid(at{"maxFailedIndexes"}, n, "must be less than or equal to completions")
	}
}

// failures checks the rules for failed pods.
func (c *checker) failures(p at, spec, m map[string]any) {
	if policy, ok := c.text(spec, "podReplacementPolicy"); ok && policy == "TerminatingOrFailed" {
		c.Add(at{"podReplacementPolicy"}, field.ErrorTypeNotSupported, policy, "", "Failed")
	}
	faults.Each(m["rules"], func(i int, rule map[string]any) {
		p := p.To("rules", i)
		c.OneOf(p, rule, "action", "Count", "FailIndex", "FailJob", "Ignore")
		if action, ok := c.text(rule, "action"); ok && action == "FailIndex" && spec["backoffLimitPerIndex"] == nil {
			c.Invalid(p.To("action"), action, "requires the backoffLimitPerIndex to be set")
		}
		codes := faults.Inner(rule, "onExitCodes")
		conditions, _ := rule["onPodConditions"].([]any)
		switch {
		case codes == nil && len(conditions) == 0:
			c.Invalid(p, "", "specifying one of OnExitCodes and OnPodConditions is required")
		case codes != nil && len(conditions) > 0:
			c.Invalid(p, "", "specifying both OnExitCodes and OnPodConditions is not supported")
		}
		c.exitCodes(p.To("onExitCodes"), faults.Inner(spec, "template", "spec"), codes)
		faults.Each(rule["onPodConditions"], func(k int, condition map[string]any) {
			if s, ok := c.text(condition, "status"); ok && s != "" {
				c.OneOf(p.To("onPodConditions", k), condition, "status", "False", "True", "Unknown")
			}
		})
	})
}

// exitCodes checks the exit codes and the container of a rule.
func (c *checker) exitCodes(p at, pod, codes map[string]any) {
	c.OneOf(p, codes, "operator", "In", "NotIn")
	if name, ok := c.text(codes, "containerName"); ok && name != "" && !c.contains(pod, name) {
		c.Invalid(p.To("containerName"), name, "must be one of the container or initContainer names in the pod template")
	}
	values, isList := codes["values"].([]any)
	switch {
	case codes == nil:
	case len(values) == 0 && (isList || codes["values"] == nil):
		c.Invalid(p.To("values"), "", "at least one value is required")
	case len(values) > mostExitCodes:
		c.Invalid(p.To("values"), len(values), fmt.Sprintf("must have at most %d items", mostExitCodes))
	}
	var before []int64
	ordered := true
	for k, v := range values {
		n, ok := faults.Number(v)
		switch {
		case !ok:
			continue
		case n == 0 && codes["operator"] == "In":
			c.Invalid(p.To("values", k), n, "must not be 0 for the In operator")
		case slices.Contains(before, n):
			c.Add(p.To("values", k), field.ErrorTypeDuplicate, strconv.FormatInt(n, 10), "")
		}
		ordered = ordered && (len(before) == 0 || before[len(before)-1] <= n)
		before = append(before, n)
	}
	if !ordered {
		c.Invalid(p.To("values"), "", "must be ordered")
	}
}

// contains reports whether a pod has a container of this name, or one whose name is not known.
func (c *checker) contains(pod map[string]any, name string) bool {
	found := pod == nil
	for _, list := range []string{"containers", "initContainers"} {
		faults.Each(pod[list], func(_ int, m map[string]any) {
			s, ok := c.text(m, "name")
			found = found || !ok || s == name
		})
	}
	return found
}

// success checks the rules by which an indexed Job succeeds before its end.
func (c *checker) success(p at, spec, m map[string]any) {
	rules, isList := m["rules"].([]any)
	switch {
	case len(rules) == 0 && (isList || m["rules"] == nil):
		c.Required(p.To("rules"), "at least one rules must be specified when the successPolicy is specified")
	case len(rules) > mostSuccessRules:
		c.Invalid(p.To("rules"), len(rules), fmt.Sprintf("must have at most %d items", mostSuccessRules))
	}
	completions, counted := faults.Number(spec["completions"])
	faults.Each(m["rules"], func(i int, rule map[string]any) {
		p := p.To("rules", i)
		if rule["succeededCount"] == nil && rule["succeededIndexes"] == nil {
			c.Required(p, "at least one of succeededCount or succeededIndexes must be specified")
		}
		total := int64(-1)
		if text, ok := c.text(rule, "succeededIndexes"); ok && text != "" && counted {
			var err error
			if total, err = countIndexes(text, completions); err != nil {
				c.Invalid(p.To("succeededIndexes"), text, "error parsing succeededIndexes: "+err.Error())
				total = -1
			}
		}
		switch n, ok := faults.Number(rule["succeededCount"]); {
		case !ok:
		case n < 0:
			c.Invalid(p.To("succeededCount"), n, "must be greater than or equal to 0")
		case counted && n > completions:
			c.Invalid(p.To("succeededCount"), n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))
		case total >= 0 && n > total:
			c.Invalid(p.To("succeededCount"), n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))
		}
	})
}

// countIndexes returns how many indexes a text such as 0-2,5 has.
func countIndexes(text string, completions int64) (int64, error) {
	total, last := int64(0), int64(-1)
	for part := range strings.SplitSeq(text, ",") {
		limits := strings.Split(part, "-")
		if len(limits) > 2 {
			return 0, fmt.Errorf("invalid format: %q: an interval has at most one hyphen", part)
		}
		for i, limit := range limits {
			n, err := strconv.ParseInt(limit, 10, 32)
			switch {
			case err != nil:
				return 0, fmt.Errorf("cannot convert string to integer for index: %q", limit)
			case n >= completions:
				return 0, fmt.Errorf("too large index: %q", limit)
			case n <= last:
				return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, n)
			case i == 1:
				total += n - last
			default:
				total++
			}
			last = n
		}
	}
	return total, nil
}
