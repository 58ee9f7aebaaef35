package fidelity

import (
	"fmt"
	"slices"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

type object = cluster.Object

const group = "kueue.x-k8s.io/"

// maker writes a scenario's objects at one version of Kueue's API.
type maker struct {
	scenario
	version string
	prefix  string
}

func (m maker) v1beta1() bool { return m.version == "v1beta1" }

func (m maker) at(name string) string { return m.prefix + "-" + name }

func (m maker) kueue(kind, namespace, name string, spec object) object {
	meta := object{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	return object{"apiVersion": group + m.version, "kind": kind, "metadata": meta, "spec": spec}
}

// policy is everything but the jobs.
func (m maker) policy() []object {
	var out []object
	topology := false
	for _, f := range m.flavors {
		spec := object{}
		if f.topology {
			topology = true
			spec["topologyName"] = m.at("topology")
			spec["nodeLabels"] = object{"fidelity/pool": m.prefix}
		}
		out = append(out, m.kueue("ResourceFlavor", "", m.at(f.name), spec))
	}
	if topology {
		out = append([]object{m.kueue("Topology", "", m.at("topology"), object{"levels": []any{
			object{"nodeLabel": "fidelity/rack"}, object{"nodeLabel": "kubernetes.io/hostname"}}})}, out...)
	}
	for _, c := range m.cohorts {
		spec := object{}
		if c.parent != "" {
			spec["parentName"] = m.at(c.parent)
		}
		out = append(out, m.kueue("Cohort", "", m.at(c.name), spec))
	}
	for _, t := range m.teams {
		out = append(out, object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": m.at(t.name)}},
			m.clusterQueue(t), m.kueue("LocalQueue", m.at(t.name), "queue", object{"clusterQueue": m.at(t.name)}))
	}
	if slices.ContainsFunc(m.teams, func(t team) bool { return t.check }) {
		out = append([]object{m.kueue("AdmissionCheck", "", m.at("check"), object{"controllerName": "kueue.x-k8s.io/provisioning-request"})}, out...)
	}
	for name, weight := range m.queues {
		team := m.at(m.teams[0].name)
		out = append(out, m.kueue("LocalQueue", team, name, object{"clusterQueue": team, "fairSharing": object{"weight": weight}}))
	}
	if m.target.claims != "" {
		out = append(out, m.templates()...)
	}
	return out
}

// templates are the templates of claims in each team's namespace.
func (m maker) templates() (out []object) {
	request := func(class string, more object) object {
		exactly := object{"deviceClassName": class}
		for k, v := range more {
			exactly[k] = v
		}
		return exactly
	}
	for _, t := range m.teams {
		for name, exactly := range map[string]object{
			"two":       request("gpu.example.com", object{"count": 2}),
			"unmapped":  request("else.example.com", nil),
			"selecting": request("gpu.example.com", object{"selectors": []any{object{"cel": object{"expression": `device.driver == "gpu.example.com"`}}}}),
			"all":       request("gpu.example.com", object{"allocationMode": "All"}),
		} {
			out = append(out, object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": object{"name": name, "namespace": m.at(t.name)},
				"spec": object{"spec": object{"devices": object{"requests": []any{object{"name": "gpu", "exactly": exactly}}}}}})
		}
	}
	return out
}

func (m maker) clusterQueue(t team) object {
	var flavors []any
	for _, f := range m.flavors {
		q, ok := t.quota[f.name]
		if !ok {
			continue
		}
		r := object{"name": "nvidia.com/gpu", "nominalQuota": q[0]}
		if q[1] != "" && t.cohort != "" {
			r["borrowingLimit"] = q[1]
		}
		if q[2] != "" && t.cohort != "" {
			r["lendingLimit"] = q[2]
		}
		name := m.at(f.name)
		if t.missingFlavor {
			name += "-missing"
		}
		resources := []any{r}
		for _, more := range m.covers {
			resources = append(resources, object{"name": more, "nominalQuota": "1000Gi"})
		}
		flavors = append(flavors, object{"name": name, "resources": resources})
	}
	spec := object{
		"namespaceSelector": object{}, "queueingStrategy": "BestEffortFIFO",
		"resourceGroups": []any{object{"coveredResources": append([]string{"nvidia.com/gpu"}, m.covers...), "flavors": flavors}},
	}
	if t.missingNamespace {
		spec["namespaceSelector"] = object{"matchLabels": object{"no": "such"}}
	}
	if t.cohort != "" {
		key := "cohortName"
		if m.v1beta1() {
			key = "cohort"
		}
		spec[key] = m.at(t.cohort)
	}
	if t.check {
		spec["admissionChecksStrategy"] = object{"admissionChecks": []any{object{"name": m.at("check")}}}
	}
	if m.byUse {
		spec["admissionScope"] = object{"admissionMode": "UsageBasedAdmissionFairSharing"}
	}
	if t.strict {
		spec["queueingStrategy"] = "StrictFIFO"
	}
	if t.stop != "" {
		spec["stopPolicy"] = t.stop
	}
	if t.weight != "" {
		spec["fairSharing"] = object{"weight": t.weight}
	}
	if t.within != "" || t.reclaim != "" {
		p := object{}
		for key, v := range map[string]string{"withinClusterQueue": t.within, "reclaimWithinCohort": t.reclaim} {
			if v != "" {
				p[key] = v
			}
		}
		if t.borrow != "" {
			p["borrowWithinCohort"] = object{"policy": t.borrow}
		}
		spec["preemption"] = p
	}
	if t.whenCanBorrow != "" {
		borrow, preempt := t.whenCanBorrow, t.whenCanPreempt
		if m.v1beta1() {
			words := map[string]string{"MayStopSearch": "Borrow", "TryNextFlavor": "TryNextFlavor"}
			borrow = words[borrow]
			if preempt == "MayStopSearch" {
				preempt = "Preempt"
			}
		}
		spec["flavorFungibility"] = object{"whenCanBorrow": borrow, "whenCanPreempt": preempt}
	}
	return m.kueue("ClusterQueue", "", m.at(t.name), spec)
}

// workload is a job as Kueue sees it. It has no job behind it: nothing would run.
func (m maker) workload(j job) object {
	requests := object{}
	if j.gpus > 0 {
		requests["nvidia.com/gpu"] = fmt.Sprint(j.gpus)
	}
	if j.cpu != "" {
		requests["cpu"] = j.cpu
	}
	ps := object{"name": "main", "count": max(j.pods, 1), "template": object{"spec": object{"restartPolicy": "Never",
		"containers": []any{object{"name": "c", "image": "example.com/none", "resources": object{"requests": requests, "limits": requests}}}}}}
	pod := ps["template"].(object)["spec"].(object)
	if j.claims != "" {
		pod["resourceClaims"] = []any{object{"name": "gpu", "resourceClaimTemplateName": j.claims}}
	}
	if j.claim != "" {
		pod["resourceClaims"] = []any{object{"name": "gpu", "resourceClaimName": j.claim}}
	}
	if j.least > 0 {
		ps["minCount"] = j.least
	}
	if j.required == "rack" {
		ps["topologyRequest"] = object{"required": "fidelity/rack"}
	}
	queue := j.queue
	if queue == "" {
		queue = "queue"
	}
	return m.kueue("Workload", m.at(j.team), j.name, object{"queueName": queue, "priority": j.priority, "active": true, "podSets": []any{ps}})
}

// topologyNodes are nodes of the scenario's own, two to a rack.
func (m maker) topologyNodes() []object {
	nodes := cluster.Nodes("ml.g5.12xlarge", m.nodes)
	for i, n := range nodes {
		meta := n["metadata"].(object)
		name := fmt.Sprintf("%s-n%d", m.prefix, i)
		meta["name"] = name
		labels := meta["labels"].(object)
		labels["kubernetes.io/hostname"] = name
		labels["fidelity/pool"] = m.prefix
		labels["fidelity/rack"] = fmt.Sprintf("%s-r%d", m.prefix, i/2)
	}
	return nodes
}
