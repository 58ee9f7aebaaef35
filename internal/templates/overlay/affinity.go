package overlay

import (
	"maps"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// nodeRules changes the node requirements of a pod.
type nodeRules struct{ pod map[string]any }

// mentions reports whether the pod has a requirement for a label.
func (r nodeRules) mentions(key string) bool {
	if _, ok := jobobject.Inner(r.pod, "nodeSelector")[key]; ok {
		return true
	}
	affinity := jobobject.Inner(r.pod, "affinity", "nodeAffinity")
	for _, term := range jobobject.MapsIn(jobobject.Inner(affinity, requiredTerms)["nodeSelectorTerms"]) {
		if hasKey(term, key) {
			return true
		}
	}
	for _, p := range jobobject.MapsIn(affinity[preferredTerms]) {
		if hasKey(jobobject.Inner(p, "preference"), key) {
			return true
		}
	}
	return false
}

func hasKey(term map[string]any, key string) bool {
	return slices.ContainsFunc(jobobject.MapsIn(term["matchExpressions"]), func(e map[string]any) bool { return e["key"] == key })
}

// drop removes every requirement for a label.
func (r nodeRules) drop(key string) {
	if selector := jobobject.Inner(r.pod, "nodeSelector"); selector != nil {
		delete(selector, key)
		if len(selector) == 0 {
			delete(r.pod, "nodeSelector")
		}
	}
	affinity := jobobject.Inner(r.pod, "affinity", "nodeAffinity")
	if affinity == nil {
		return
	}
	if required := jobobject.Inner(affinity, requiredTerms); required != nil {
		terms, emptied := dropKey(required["nodeSelectorTerms"], key, func(t map[string]any) map[string]any { return t })
		required["nodeSelectorTerms"] = terms
		if emptied || len(terms) == 0 { // terms are alternatives: one without demands accepts every node
			delete(affinity, requiredTerms)
		}
	}
	if _, has := affinity[preferredTerms]; has {
		terms, _ := dropKey(affinity[preferredTerms], key, func(t map[string]any) map[string]any { return jobobject.Inner(t, "preference") })
		if affinity[preferredTerms] = terms; len(terms) == 0 {
			delete(affinity, preferredTerms)
		}
	}
	r.tidy()
}

// dropKey removes the expressions about a label from terms, and the terms that are empty then. emptied reports
// whether there were any.
func dropKey(v any, key string, term func(map[string]any) map[string]any) (out []any, emptied bool) {
	for _, t := range jobobject.MapsIn(v) {
		inside := term(t)
		if hasKey(inside, key) {
			left := jobobject.Without(inside["matchExpressions"], func(e map[string]any) bool { return e["key"] == key })
			if inside["matchExpressions"] = left; len(left) == 0 {
				delete(inside, "matchExpressions")
			}
			if len(inside) == 0 {
				emptied = true
				continue
			}
		}
		out = append(out, t)
	}
	return out, emptied
}

func (r nodeRules) tidy() {
	if affinity := jobobject.Inner(r.pod, "affinity"); affinity != nil {
		if len(jobobject.Inner(affinity, "nodeAffinity")) == 0 {
			delete(affinity, "nodeAffinity")
		}
		if len(affinity) == 0 {
			delete(r.pod, "affinity")
		}
	}
}

func expression(key string, values []string) map[string]any {
	return map[string]any{"key": key, "operator": "In", "values": manifest.AnyList(values)}
}

// require sets the accepted values of a label. Terms are alternatives, so every term gets the requirement.
func (r nodeRules) require(key string, values []string) {
	r.drop(key)
	required := jobobject.Child(jobobject.Child(jobobject.Child(r.pod, "affinity"), "nodeAffinity"), requiredTerms)
	terms := jobobject.MapsIn(required["nodeSelectorTerms"])
	if len(terms) == 0 {
		terms = []map[string]any{{}}
	}
	list := make([]any, len(terms))
	for i, t := range terms {
		expressions, _ := t["matchExpressions"].([]any)
		t["matchExpressions"] = append(slices.Clone(expressions), expression(key, values))
		list[i] = t
	}
	required["nodeSelectorTerms"] = list
}

// prefer adds a preference for values of a label.
func (r nodeRules) prefer(key string, values []string, weight int) {
	r.drop(key)
	affinity := jobobject.Child(jobobject.Child(r.pod, "affinity"), "nodeAffinity")
	list, _ := affinity[preferredTerms].([]any)
	affinity[preferredTerms] = append(slices.Clone(list), map[string]any{
		"weight": int64(weight), "preference": map[string]any{"matchExpressions": []any{expression(key, values)}}})
}

var (
	schedulable = []string{kinds.NodeHealthy}
	passed      = []string{"Passed"}
)

// migStateLabel is set by NVIDIA's MIG manager once a node's partitions are made.
const migStateLabel = "nvidia.com/mig.config.state"

// applyNodes adds the node requirements to a pod. The selector replaces requirements for the labels that it
// names.
func (s *job) applyNodes(r jobobject.Role) {
	rules := nodeRules{r.Pod()}
	if s.HealthAffinity != nil && (*s.HealthAffinity || !s.Own()) {
		rules.health(*s.HealthAffinity)
	}
	if s.DeepHealthOnly {
		if s.HealthAffinity == nil || *s.HealthAffinity {
			rules.require(kinds.NodeHealthLabel, schedulable)
		}
		rules.require(kinds.DeepHealthLabel, passed)
	}
	if s.NodeType != "" && r.Trains {
		if selector := jobobject.Inner(rules.pod, "nodeSelector"); selector[kinds.InstanceTypeLabel] != nil {
			selector[kinds.InstanceTypeLabel] = s.NodeType
		} else if have := jobobject.RequiredLabel(rules.pod, kinds.InstanceTypeLabel); !s.Own() || !slices.Contains(have, s.NodeType) ||
			len(have) > 1 && !s.Template.Uses(setting.InstanceType) {
			rules.require(kinds.InstanceTypeLabel, []string{s.NodeType})
		}
	}
	if s.Partition != "" && r.Trains {
		rules.require(migStateLabel, []string{"success"})
	}
	for _, k := range slices.Sorted(maps.Keys(s.LabelSelector.Required)) {
		rules.require(k, s.LabelSelector.Required[k])
	}
	for i, k := range slices.Sorted(maps.Keys(s.LabelSelector.Preferred)) {
		weight := 100
		if i < len(s.LabelSelector.Weights) {
			weight = s.LabelSelector.Weights[i]
		}
		rules.prefer(k, s.LabelSelector.Preferred[k], weight)
	}
}

// health adds the default affinity to healthy HyperPod nodes if the pod has none, or removes it.
func (r nodeRules) health(want bool) {
	if !want {
		r.drop(kinds.NodeHealthLabel)
		r.drop(kinds.DeepHealthLabel)
		return
	}
	if !r.mentions(kinds.NodeHealthLabel) {
		r.require(kinds.NodeHealthLabel, schedulable)
	}
	if !r.mentions(kinds.DeepHealthLabel) {
		r.prefer(kinds.DeepHealthLabel, passed, 100)
	}
}
