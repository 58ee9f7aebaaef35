package pseudonym

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// Of returns the pseudonyms for the names in a snapshot's objects, by plural.group.
func Of(objects map[string][]map[string]any) *Names {
	n := &Names{of: map[string]string{}, used: map[string]int{}, resources: map[string]bool{}}
	found := map[string]map[string]bool{}
	add := func(category, name string) {
		if found[category] == nil {
			found[category] = map[string]bool{}
		}
		found[category][name] = true
	}
	levels := map[string]bool{}
	for _, t := range objects[kinds.Topology.FullName()] {
		for _, l := range object.List(t, "spec", "levels") {
			levels[object.Text(l, "nodeLabel")] = true
		}
	}
	for resource, list := range objects {
		category := categories()[resource]
		for _, m := range list {
			n.collectResources(m)
			labels, _ := object.At(m, "metadata", "labels").(map[string]any)
			name := object.Text(m, "metadata", "name")
			for _, s := range []string{name, object.Text(m, "metadata", "namespace")} {
				if _, t, _, ok := teamIn(s); ok {
					add(team, t)
				}
			}
			if t := object.Text(labels, kinds.QuotaAllocationLabel); t != "" {
				add(team, t)
			}
			for _, by := range []string{object.Text(labels, kinds.CreatedByLabel), object.Text(m, "metadata", "annotations", kinds.CreatedByAnnotation)} {
				if by != "" {
					add(user, by)
				}
			}
			if _, _, _, managed := teamIn(name); category != "" && !managed {
				add(category, name)
			}
			for _, path := range [][]string{{"spec", "cohortName"}, {"spec", "parentName"}} {
				if c := object.Text(m, path...); c != "" {
					add(cohort, c)
				}
			}
			if resource == kinds.Node.FullName() {
				for key, value := range labels {
					if s, _ := value.(string); levels[key] && key != hostname {
						add(domain, s)
					}
				}
			}
		}
	}
	for _, category := range []string{team, namespace, cohort, queue, flavor, class, node, domain, job, user} {
		n.register(category, found[category])
	}
	return n
}

const hostname = "kubernetes.io/hostname"

// categories returns the categories of objects' names, by plural.group.
func categories() map[string]string {
	out := map[string]string{
		kinds.Namespace.FullName(): namespace, kinds.ClusterQueue.FullName(): queue, kinds.LocalQueue.FullName(): queue, kinds.Cohort.FullName(): cohort,
		kinds.ResourceFlavor.FullName(): flavor, kinds.WorkloadPriorityClass.FullName(): class, kinds.PriorityClass.FullName(): class, kinds.RuntimeClass.FullName(): class, kinds.Node.FullName(): node,
	}
	for _, k := range kinds.Jobs() {
		if !k.Itself {
			out[k.FullName()] = job
		}
	}
	return out
}

// amounts are the keys of maps from resources to amounts.
var amounts = map[string]bool{"requests": true, "limits": true, "capacity": true, "allocatable": true, "overhead": true, "resourceUsage": true, "flavors": true,
	"default": true, "defaultRequest": true, "max": true, "min": true, "maxLimitRequestRatio": true}

// collectResources finds the names of resources.
func (n *Names) collectResources(v any) {
	switch t := v.(type) {
	case map[string]any:
		for key, member := range t {
			inner, isMap := member.(map[string]any)
			switch {
			case amounts[key] && isMap:
				for r := range inner {
					n.resources[r] = true
				}
			case key == "coveredResources":
				for _, r := range object.List(t, key) {
					if s, ok := r.(string); ok {
						n.resources[s] = true
					}
				}
			}
			n.collectResources(member)
		}
	case []any:
		for _, item := range t {
			n.collectResources(item)
		}
	}
}

// Object replaces the names in an object, in place.
func (n *Names) Object(resource string, m map[string]any) {
	switch resource {
	case kinds.Deployment.FullName():
		return // Kueue's controller: its image tells the version
	case kinds.ConfigMap.FullName():
		n.configuration(m)
		return
	}
	category := categories()[resource]
	meta := object.Map(m, "metadata")
	if name := object.Text(meta, "name"); category != "" && name != "" {
		meta["name"] = n.named(category, name)
		m["metadata"] = map[string]any{}
		defer func() { m["metadata"] = n.metadata(meta) }()
	}
	n.members(m)
}

// metadata replaces the names in an object's metadata but its own.
func (n *Names) metadata(meta map[string]any) map[string]any {
	name := meta["name"]
	n.members(meta)
	meta["name"] = name
	return meta
}

// configuration replaces the names in Kueue's configuration: those of namespaces.
func (n *Names) configuration(m map[string]any) {
	data := object.Map(m, "data")
	for key, text := range data {
		s, _ := text.(string)
		var c map[string]any
		if yaml.Unmarshal([]byte(s), &c) != nil {
			delete(data, key)
			continue
		}
		if selector := object.Map(c, "managedJobsNamespaceSelector"); selector != nil {
			n.members(selector)
		}
		if out, err := yaml.Marshal(c); err == nil {
			data[key] = string(out)
		}
	}
}

// members replaces the names below a map, in the order of its keys.
func (n *Names) members(m map[string]any) {
	if key, ok := m["key"].(string); ok { // a taint, a toleration, a term of a selector
		for _, member := range []string{"value", "values"} {
			if v, ok := m[member]; ok {
				m[member] = n.values(key, v)
			}
		}
		m["key"] = n.Key(key)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		m[key] = n.member(key, m[key])
	}
}

func (n *Names) member(key string, v any) any {
	switch t := v.(type) {
	case map[string]any:
		switch {
		case key == "labels" || key == "nodeSelector" || key == "matchLabels" || key == "nodeLabels":
			return n.labels(t)
		case key == "annotations":
			for _, k := range slices.Sorted(maps.Keys(t)) {
				t[k] = n.values(k, t[k])
			}
		case key == "flavors": // of an admission: by resource
			for _, k := range slices.Sorted(maps.Keys(t)) {
				t[k] = n.member("name", t[k])
			}
		case amounts[key]:
		case key == "individual":
			return n.individual(t)
		default:
			n.members(t)
		}
		return t
	case []any:
		for i, item := range t {
			if e, ok := item.(map[string]any); ok && key == "env" {
				if name, ok := e["name"].(string); ok {
					e["name"] = n.named(variable, name)
				}
				continue
			}
			t[i] = n.member(key, item)
		}
		return t
	case string:
		return n.text(key, t)
	}
	return v
}

// individual replaces values of a topology assignment that share their beginning and end.
func (n *Names) individual(m map[string]any) map[string]any {
	var roots []any
	for _, r := range object.List(m, "roots") {
		if s, ok := r.(string); ok {
			roots = append(roots, n.Name(object.Text(m, "prefix")+s+object.Text(m, "suffix")))
		}
	}
	if len(roots) == 0 {
		return m // it numbers pods, it names nothing
	}
	return map[string]any{"roots": roots}
}

// text replaces a single value, by its key.
func (n *Names) text(key, s string) string {
	switch key {
	case "apiVersion", "kind", "uid", "resourceVersion", "phase", "state", "jobStatus", "jobDeploymentStatus", "terminalState", "operator", "effect", "protocol", "policy":
		return s // words of an API, some in lower case
	case "message":
		return n.Text(s)
	case "reason":
		if term().MatchString(s) {
			return s
		}
		return n.Text(s)
	case "image":
		return n.named(image, s)
	case "nodeName", "nominatedNodeName":
		return n.named(node, s)
	case "levels", "required", "preferred", "topologyKey", "nodeLabel", "podSetSliceRequiredTopology", "podIndexLabel", "subGroupIndexLabel", "topology":
		return n.Key(s)
	case "generateName":
		if stem, ok := strings.CutSuffix(s, "-"); ok {
			return n.Name(stem) + "-"
		}
	case "name", "namespace", "queueName", "clusterQueue", "cohortName":
		return n.Name(s)
	}
	if term().MatchString(s) {
		return s
	}
	return n.Name(s)
}

// labels replaces keys and values.
func (n *Names) labels(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out[n.Key(key)] = n.values(key, m[key])
	}
	return out
}

// stays are labels and annotations with values that name nothing of the user's.
var stays = map[string]bool{
	kinds.InstanceTypeLabel: true, "beta.kubernetes.io/instance-type": true, kinds.NodeHealthLabel: true, kinds.DeepHealthLabel: true,
	kinds.FaultTypesLabel: true, kinds.FaultReasonsLabel: true, "sagemaker.amazonaws.com/compute-type": true, "sagemaker.amazonaws.com/activate-quota": true,
	"kubernetes.io/arch": true, "kubernetes.io/os": true, "kueue.x-k8s.io/job-owner-gvk": true, kinds.DurationAnnotation: true, "ray.io/node-type": true,
}

// keyed are annotations with the key of a label as value, and listed those with a list.
var (
	keyed = map[string]bool{"kueue.x-k8s.io/podset-preferred-topology": true, "kueue.x-k8s.io/podset-required-topology": true, "kueue.x-k8s.io/podset-slice-required-topology": true}

	listed = map[string]bool{"kueue.x-k8s.io/workload-allowed-resource-flavors": true, "kueue.x-k8s.io/podset-slice-required-topology-constraints": true,
		"kueue.x-k8s.io/admission-gated-by": true}
)

// values replaces the value of a label or annotation, or a list of values.
func (n *Names) values(key string, v any) any {
	switch t := v.(type) {
	case []any:
		for i := range t {
			t[i] = n.values(key, t[i])
		}
	case string:
		switch {
		case stays[key] || strings.HasPrefix(key, "nvidia.com/"):
		case keyed[key]:
			return n.Key(t)
		case listed[key]:
			return n.Text(t)
		case key == kinds.CreatedByLabel || key == kinds.CreatedByAnnotation:
			return n.named(user, t)
		default:
			return n.Name(t)
		}
	}
	return v
}
