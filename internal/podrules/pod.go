package podrules

import (
	"maps"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

func (c *checker) pod(spec map[string]any) {
	var top at
	volumes := c.volumes(spec)
	claims := map[string]bool{}
	faults.Each(spec["resourceClaims"], func(i int, m map[string]any) {
		p := top.To("resourceClaims", i)
		name, _ := m["name"].(string)
		claims[name] = true
		c.named(p, m, "name", validation.IsDNS1123Label)
		switch one, two := m["resourceClaimName"] != nil, m["resourceClaimTemplateName"] != nil; {
		case one && two:
			c.Invalid(p, name, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
		case !one && !two && m["source"] == nil: // an unknown field is told by itself
			c.Invalid(p, name, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
		}
	})
	host, _ := spec["hostNetwork"].(bool)
	for _, list := range []string{"initContainers", "containers"} {
		faults.Each(spec[list], func(i int, m map[string]any) {
			c.container(top.To(list, i), m, list == "initContainers", host, volumes, claims)
		})
	}
	c.together(top.To("resources"), spec)
	c.whole(spec)
	c.labels(top.To("nodeSelector"), faults.Inner(spec, "nodeSelector"))
	faults.Each(spec["tolerations"], func(i int, m map[string]any) { c.toleration(top.To("tolerations", i), m) })
	c.affinity(top.To("affinity"), faults.Inner(spec, "affinity"))
	faults.Each(spec["topologySpreadConstraints"], func(i int, m map[string]any) {
		p := top.To("topologySpreadConstraints", i)
		c.within(p, m, "maxSkew", atLeastOne)
		c.named(p, m, "topologyKey", nil)
		c.OneOf(p, m, "whenUnsatisfiable", "DoNotSchedule", "ScheduleAnyway")
		c.selector(p.To("labelSelector"), faults.Inner(m, "labelSelector"))
	})
	c.OneOf(top, spec, "restartPolicy", "Always", "OnFailure", "Never")
	c.OneOf(top, spec, "dnsPolicy", "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	if policy, _ := spec["dnsPolicy"].(string); policy == "None" && spec["dnsConfig"] == nil {
		c.Required(top.To("dnsConfig"), "must provide `dnsConfig` when `dnsPolicy` is None")
	}
	c.within(top, spec, "activeDeadlineSeconds", seconds)
	c.optional(top, spec, "nodeName", validation.IsDNS1123Subdomain)
	c.optional(top, spec, "serviceAccountName", validation.IsDNS1123Subdomain)
	c.optional(top, spec, "hostname", validation.IsDNS1123Label)
	c.optional(top, spec, "subdomain", validation.IsDNS1123Label)
	c.optional(top, spec, "runtimeClassName", validation.IsDNS1123Subdomain)
	c.OneOf(top, spec, "preemptionPolicy", "PreemptLowerPriority", "Never")
	c.OneOf(top.To("os"), faults.Inner(spec, "os"), "name", "linux", "windows")
	faults.Each(spec["hostAliases"], func(i int, m map[string]any) {
		c.named(top.To("hostAliases", i), m, "ip", func(s string) []string {
			if _, err := netip.ParseAddr(s); err != nil {
				return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
			}
			return nil
		})
	})
	if list, _ := spec["ephemeralContainers"].([]any); len(list) > 0 {
		c.Forbidden(top.To("ephemeralContainers"), "cannot be set on create")
	}
	c.users(top.To("securityContext"), faults.Inner(spec, "securityContext"))
	if shared, _ := spec["shareProcessNamespace"].(bool); shared && spec["hostPID"] == true {
		c.Invalid(top.To("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
}

// whole checks fields that depend on others of the pod.
func (c *checker) whole(spec map[string]any) {
	gates := map[string]bool{}
	faults.Each(spec["schedulingGates"], func(i int, m map[string]any) {
		name, ok := c.text(m, "name")
		if ok && gates[name] {
			c.Add(at{"schedulingGates", i}, field.ErrorTypeDuplicate, name, "")
		}
		gates[name] = ok
	})
	if spec["restartPolicy"] != "Never" {
		return
	}
	faults.Each(spec["containers"], func(i int, m map[string]any) {
		faults.Each(m["resizePolicy"], func(_ int, policy map[string]any) {
			if policy["restartPolicy"] == "RestartContainer" {
				c.Invalid(at{"containers", i, "resizePolicy"}, "RestartContainer", "must be 'NotRequired' when `restartPolicy` is 'Never'")
			}
		})
	})
}

// labels checks the names and values of labels.
func (c *checker) labels(p at, m map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if c.Open(key) {
			continue
		}
		c.Invalid(p, key, validation.IsQualifiedName(key)...)
		if value, ok := c.text(m, key); ok {
			c.Invalid(p, value, validation.IsValidLabelValue(value)...)
		}
	}
}

// users checks the ids of a security context.
func (c *checker) users(p at, m map[string]any) {
	for _, key := range []string{"runAsUser", "runAsGroup", "fsGroup"} {
		c.within(p, m, key, func(n int) []string { return validation.IsInRange(n, 0, 1<<31-1) })
	}
	if m["privileged"] == true && m["allowPrivilegeEscalation"] == false {
		c.Invalid(p, "", "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
	}
}

func (c *checker) toleration(p at, m map[string]any) {
	key, ok := c.text(m, "key")
	operator, plain := c.text(m, "operator")
	value, given := c.text(m, "value")
	effect, settled := c.text(m, "effect")
	if ok && key != "" {
		c.Invalid(p.To("key"), key, validation.IsQualifiedName(key)...)
	}
	if m["tolerationSeconds"] != nil && settled && effect != "NoExecute" {
		c.Invalid(p.To("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
	}
	switch {
	case !plain || !ok:
	case key == "" && operator != "Exists":
		c.Invalid(p.To("operator"), operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
	case operator == "" || operator == "Equal":
		if given {
			c.Invalid(p.To("operator"), value, validation.IsValidLabelValue(value)...)
		}
	case operator == "Exists":
		if given && value != "" {
			c.Invalid(p.To("operator"), value, "value must be empty when `operator` is 'Exists'")
		}
	case operator != "Lt" && operator != "Gt": // comparisons of numbers are behind a feature gate
		c.Add(p.To("operator"), field.ErrorTypeNotSupported, operator, "", "Equal", "Exists")
	}
	c.OneOf(p, m, "effect", "NoSchedule", "PreferNoSchedule", "NoExecute")
}

func (c *checker) affinity(p at, m map[string]any) {
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	nodes, to := faults.Inner(m, "nodeAffinity"), p.To("nodeAffinity")
	if r := faults.Inner(nodes, required); r != nil {
		if terms, isList := r["nodeSelectorTerms"].([]any); len(terms) == 0 && (isList || r["nodeSelectorTerms"] == nil) {
			c.Required(to.To(required, "nodeSelectorTerms"), "must have at least one node selector term")
		}
		faults.Each(r["nodeSelectorTerms"], func(i int, t map[string]any) { c.term(to.To(required, "nodeSelectorTerms", i), t) })
	}
	faults.Each(nodes[preferred], func(i int, t map[string]any) {
		c.weight(to.To(preferred, i), t)
		c.term(to.To(preferred, i, "preference"), faults.Inner(t, "preference"))
	})
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		pods, to := faults.Inner(m, kind), p.To(kind)
		faults.Each(pods[required], func(i int, t map[string]any) { c.podTerm(to.To(required, i), t) })
		faults.Each(pods[preferred], func(i int, t map[string]any) {
			c.weight(to.To(preferred, i), t)
			c.podTerm(to.To(preferred, i, "podAffinityTerm"), faults.Inner(t, "podAffinityTerm"))
		})
	}
}

func (c *checker) weight(p at, m map[string]any) {
	c.within(p, m, "weight", func(n int) []string {
		if n < 1 || n > 100 {
			return []string{"must be in the range 1-100"}
		}
		return nil
	})
}

func (c *checker) podTerm(p at, m map[string]any) {
	if m == nil {
		return
	}
	if key, ok := c.text(m, "topologyKey"); ok && key == "" {
		c.Required(p.To("topologyKey"), "can not be empty")
	}
	c.selector(p.To("labelSelector"), faults.Inner(m, "labelSelector"))
}

// term checks the requirements of a node selector.
func (c *checker) term(p at, m map[string]any) {
	for _, list := range []string{"matchExpressions", "matchFields"} {
		faults.Each(m[list], func(i int, r map[string]any) {
			p := p.To(list, i)
			c.requirement(p, r, true)
			if key, ok := c.text(r, "key"); ok && list == "matchExpressions" {
				c.Invalid(p.To("key"), key, validation.IsQualifiedName(key)...)
			}
		})
	}
}

// selector checks a label selector.
func (c *checker) selector(p at, m map[string]any) {
	faults.Each(m["matchExpressions"], func(i int, r map[string]any) { c.requirement(p.To("matchExpressions", i), r, false) })
}

// requirement checks the operator and the values of a requirement. Those of nodes can also compare numbers.
func (c *checker) requirement(p at, r map[string]any, numbers bool) {
	operator, ok := c.text(r, "operator")
	values, _ := r["values"].([]any)
	switch {
	case !ok:
	case operator == "In" || operator == "NotIn":
		if len(values) == 0 {
			c.Required(p.To("values"), "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case operator == "Exists" || operator == "DoesNotExist":
		if len(values) > 0 {
			c.Forbidden(p.To("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	case numbers && (operator == "Gt" || operator == "Lt"):
		if len(values) != 1 {
			c.Required(p.To("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		c.Invalid(p.To("operator"), operator, "not a valid selector operator")
	}
}

// Serving returns the faults of the spec of a Deployment or a StatefulSet besides those of its pods' fields: its selector must
// match the labels of its pods, which always restart. The paths lead from the object's spec.
func Serving(spec map[string]any, open func(string) bool) []Fault {
	c := newChecker(Options{Open: open})
	if spec == nil {
		return nil
	}
	c.rollout(spec)
	pods, pod := at{"template", "spec"}, faults.Inner(spec, "template", "spec")
	c.OneOf(pods, pod, "restartPolicy", "Always")
	if pod["activeDeadlineSeconds"] != nil {
		c.Forbidden(pods.To("activeDeadlineSeconds"), "activeDeadlineSeconds in ReplicaSet is not Supported")
	}
	c.match(spec)
	return c.Found
}

// match checks that the selector of an object matches the labels of its pods.
func (c *checker) match(spec map[string]any) {
	top := at{"selector"}
	selector := faults.Inner(spec, "selector")
	want, expressions := faults.Inner(selector, "matchLabels"), selector["matchExpressions"]
	list, _ := expressions.([]any)
	if len(want) == 0 && len(list) == 0 {
		if selector == nil {
			c.Required(top, "")
		} else {
			c.Invalid(top, "", "empty selector is invalid for deployment")
		}
		return
	}
	c.selector(top, selector)
	c.selects(spec)
}

// selects reports labels of the pods that the selector of the object does not match.
func (c *checker) selects(spec map[string]any) {
	selector, labels := faults.Inner(spec, "selector"), faults.Inner(spec, "template", "metadata", "labels")
	list, _ := selector["matchExpressions"].([]any)
	for key, value := range faults.Inner(selector, "matchLabels") {
		w, isText := value.(string)
		have, _ := labels[key].(string)
		if isText && (c.Open(w) || c.Open(have) || c.Open(key)) {
			return
		}
		if isText && have != w {
			c.Invalid(at{"template", "metadata", "labels"}, labels, "`selector` does not match template `labels`")
			return
		}
	}
	for _, item := range list {
		r, _ := item.(map[string]any)
		key, _ := r["key"].(string)
		have, exists := labels[key].(string)
		values, _ := r["values"].([]any)
		in := false
		for _, v := range values {
			in = in || v == have
		}
		operator, _ := r["operator"].(string)
		if operator == "In" && (!exists || !in) || operator == "NotIn" && exists && in || operator == "Exists" && !exists || operator == "DoesNotExist" && exists {
			c.Invalid(at{"template", "metadata", "labels"}, labels, "`selector` does not match template `labels`")
			return
		}
	}
}

// ClaimVolumes returns the names of the volumes that an object gives its pods by templates of claims: those of a StatefulSet,
// a JobSet or a LeaderWorkerSet, also inside of an AppWrapper.
func ClaimVolumes(object map[string]any) (names []string) {
	spec := faults.Inner(object, "spec")
	add := func(_ int, m map[string]any) {
		if name, _ := faults.Inner(m, "metadata")["name"].(string); name != "" {
			names = append(names, name)
		}
	}
	faults.Each(spec["volumeClaimTemplates"], add)
	faults.Each(spec["volumeClaimPolicies"], func(_ int, m map[string]any) { faults.Each(m["templates"], add) })
	faults.Each(faults.Inner(spec, "leaderWorkerTemplate")["volumeClaimTemplates"], add)
	faults.Each(spec["components"], func(_ int, m map[string]any) { names = append(names, ClaimVolumes(faults.Inner(m, "template"))...) })
	return names
}
