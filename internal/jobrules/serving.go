package jobrules

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// leaderWorkerSet is the webhook of LeaderWorkerSets (pkg/webhooks/leaderworkerset_webhook.go, v0.9).
func leaderWorkerSet(c *checker) {
	c.named(0)
	c.notNegative(spec(), c.spec, "replicas")
	template, p := faults.Inner(c.spec, "leaderWorkerTemplate"), spec("leaderWorkerTemplate")
	c.positive(p, template, "size")
	replicas, knowsReplicas := numberOr(c.spec["replicas"], 1)
	size, knowsSize := numberOr(template["size"], 1)
	if knowsReplicas && knowsSize && replicas > 0 && size > math.MaxInt32/replicas {
		c.Invalid(spec("replicas"), replicas, fmt.Sprintf("the product of replicas and size must not exceed %d", math.MaxInt32))
	}
	c.rolling(replicas, knowsReplicas)
	const exclusive = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
	group, p := faults.Inner(template, "subGroupPolicy"), p.To("subGroupPolicy", "subGroupSize")
	if group == nil {
		if value, ok := faults.Inner(c.object, "metadata", "annotations")[exclusive]; ok && template["subGroupPolicy"] == nil {
			c.Invalid(at{"metadata", "annotations", exclusive}, value, "requires spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize")
		}
		return
	}
	part, given := faults.Number(group["subGroupSize"])
	switch {
	case group["subGroupSize"] == nil:
		c.Required(p, "")
	case !given || !knowsSize:
	case part < 1:
		c.Invalid(p, part, "must be greater than or equal to 1")
	case size < part:
		c.Invalid(p, part, fmt.Sprintf("must not be greater than size, which is %d", size))
	case size%part != 0 && (size-1)%part != 0:
		c.Invalid(p, part, fmt.Sprintf("must divide size or size - 1; size is %d", size))
	case group["subGroupPolicyType"] == "LeaderExcluded" && (size-1)%part != 0:
		c.Invalid(p, part, fmt.Sprintf("must divide size - 1 with LeaderExcluded; size is %d", size))
	}
}

// rolling checks how a LeaderWorkerSet replaces its groups.
func (c *checker) rolling(replicas int64, knowsReplicas bool) {
	m, p := faults.Inner(c.spec, "rolloutStrategy", "rollingUpdateConfiguration"), spec("rolloutStrategy", "rollingUpdateConfiguration")
	c.notNegative(p, m, "partition")
	scaled := func(key string, otherwise int64) (value int64, ok bool) {
		v := m[key]
		text, isText := v.(string)
		percent, cut := strings.CutSuffix(text, "%")
		n, err := strconv.Atoi(percent)
		switch {
		case !isText:
			c.notNegative(p, m, key)
			return numberOr(v, otherwise)
		case c.Open(text):
			return 0, false
		case !cut || err != nil || n < 0:
			c.Invalid(p.To(key), text, "must be a whole number or a percentage, such as 5%")
			return 0, false
		case n > 100:
			c.Invalid(p.To(key), text, "must not be greater than 100%")
			return 0, false
		}
		if key == "maxSurge" { // rounded up
			return (replicas*int64(n) + 99) / 100, knowsReplicas
		}
		return replicas * int64(n) / 100, knowsReplicas
	}
	unavailable, known := scaled("maxUnavailable", 1)
	surge, knowsSurge := scaled("maxSurge", 0)
	if known && knowsSurge && knowsReplicas && unavailable == 0 && surge == 0 && replicas != 0 {
		c.Invalid(p.To("maxUnavailable"), plain(m["maxUnavailable"]), "must not be 0 when maxSurge is 0")
	}
}

// sparkApplication is the webhook of the Spark operator (internal/webhook/sparkapplication_validator.go, v2.5). The rule about
// node selectors is in the description of the kind.
func sparkApplication(c *checker) {
	c.named(0)
	ports, formats := map[int64]bool{}, map[string]bool{}
	faults.Each(c.spec["driverIngressOptions"], func(i int, m map[string]any) {
		p := spec("driverIngressOptions", i)
		if port, ok := faults.Number(m["servicePort"]); ok {
			if ports[port] {
				c.Add(p.To("servicePort"), field.ErrorTypeDuplicate, port, "")
			}
			ports[port] = true
		}
		format, ok := c.text(m, "ingressURLFormat")
		switch {
		case m["ingressURLFormat"] == nil || m["ingressURLFormat"] == "":
			c.Required(p.To("ingressURLFormat"), "")
		case ok && formats[format]:
			c.Add(p.To("ingressURLFormat"), field.ErrorTypeDuplicate, format, "")
		}
		formats[format] = true
	})
	text, known := c.text(c.spec, "sparkVersion")
	have, err := version.ParseGeneric(text)
	for _, role := range []string{"driver", "executor"} {
		if faults.Inner(c.spec, role, "template") != nil && known && err == nil && have.Major() < 3 {
			c.Forbidden(spec(role, "template"), "pod templates require Spark 3.0.0 or later")
		}
	}
}
