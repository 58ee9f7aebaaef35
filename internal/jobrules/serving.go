package jobrules

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
)

// leaderWorkerSet is the webhook of LeaderWorkerSets (pkg/webhooks/leaderworkerset_webhook.go, v0.9).
func leaderWorkerSet(c *checker) {
	c.named(0)
	c.notNegative(spec(), c.spec, "replicas")
	template, p := inner(c.spec, "leaderWorkerTemplate"), spec("leaderWorkerTemplate")
	c.positive(p, template, "size")
	replicas, knowsReplicas := numberOr(c.spec["replicas"], 1)
	size, knowsSize := numberOr(template["size"], 1)
	if knowsReplicas && knowsSize && replicas > 0 && size > math.MaxInt32/replicas {
		c.invalid(spec("replicas"), replicas, fmt.Sprintf("the product of replicas and size must not exceed %d", math.MaxInt32))
	}
	c.rolling(replicas, knowsReplicas)
	const exclusive = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
	group, p := inner(template, "subGroupPolicy"), p.to("subGroupPolicy", "subGroupSize")
	if group == nil {
		if value, ok := inner(c.object, "metadata", "annotations")[exclusive]; ok && template["subGroupPolicy"] == nil {
			c.invalid(at{"metadata", "annotations", exclusive}, value, "requires spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize")
		}
		return
	}
	part, given := number(group["subGroupSize"])
	switch {
	case group["subGroupSize"] == nil:
		c.required(p, "")
	case !given || !knowsSize:
	case part < 1:
		c.invalid(p, part, "must be greater than or equal to 1")
	case size < part:
		c.invalid(p, part, fmt.Sprintf("must not be greater than size, which is %d", size))
	case size%part != 0 && (size-1)%part != 0:
		c.invalid(p, part, fmt.Sprintf("must divide size or size - 1; size is %d", size))
	case group["subGroupPolicyType"] == "LeaderExcluded" && (size-1)%part != 0:
		c.invalid(p, part, fmt.Sprintf("must divide size - 1 with LeaderExcluded; size is %d", size))
	}
}

// rolling checks how a LeaderWorkerSet replaces its groups.
func (c *checker) rolling(replicas int64, knowsReplicas bool) {
	m, p := inner(c.spec, "rolloutStrategy", "rollingUpdateConfiguration"), spec("rolloutStrategy", "rollingUpdateConfiguration")
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
		case c.open(text):
			return 0, false
		case !cut || err != nil || n < 0:
			c.invalid(p.to(key), text, "must be a whole number or a percentage, such as 5%")
			return 0, false
		case n > 100:
			c.invalid(p.to(key), text, "must not be greater than 100%")
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
		c.invalid(p.to("maxUnavailable"), plain(m["maxUnavailable"]), "must not be 0 when maxSurge is 0")
	}
}

// sparkApplication is the webhook of the Spark operator (internal/webhook/sparkapplication_validator.go, v2.5). The rule about
// node selectors is in the description of the kind.
func sparkApplication(c *checker) {
	c.named(0)
	ports, formats := map[int64]bool{}, map[string]bool{}
	each(c.spec["driverIngressOptions"], func(i int, m map[string]any) {
		p := spec("driverIngressOptions", i)
		if port, ok := number(m["servicePort"]); ok {
			if ports[port] {
				c.add(p.to("servicePort"), field.ErrorTypeDuplicate, port, "")
			}
			ports[port] = true
		}
		format, ok := c.text(m, "ingressURLFormat")
		switch {
		case m["ingressURLFormat"] == nil || m["ingressURLFormat"] == "":
			c.required(p.to("ingressURLFormat"), "")
		case ok && formats[format]:
			c.add(p.to("ingressURLFormat"), field.ErrorTypeDuplicate, format, "")
		}
		formats[format] = true
	})
	text, known := c.text(c.spec, "sparkVersion")
	have, err := version.ParseGeneric(text)
	for _, role := range []string{"driver", "executor"} {
		if inner(c.spec, role, "template") != nil && known && err == nil && have.Major() < 3 {
			c.forbidden(spec(role, "template"), "pod templates require Spark 3.0.0 or later")
		}
	}
}
