package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
)

// Kueue's pod template annotations about topology.
const (
	requiredTopology  = "kueue.x-k8s.io/podset-required-topology"
	preferredTopology = "kueue.x-k8s.io/podset-preferred-topology"
	sliceTopology     = "kueue.x-k8s.io/podset-slice-required-topology"
	sliceSize         = "kueue.x-k8s.io/podset-slice-size"
)

const topologyPrefix = "topology.k8s.aws/"

// topologyTypes are the prefixes of the instance types whose nodes have network
// topology labels (SageMaker HyperPod task governance: tasks scheduling).
var topologyTypes = []string{"ml.p3dn.24xlarge", "ml.p4d.", "ml.p4de.", "ml.p5.48xlarge", "ml.p5e.", "ml.p5en.", "ml.p6e-gb200.36xlarge",
	"ml.p6-b300.", "ml.trn1.2xlarge", "ml.trn1.32xlarge", "ml.trn1n.", "ml.trn2.48xlarge", "ml.trn2u.48xlarge"}

func (l *linter) topology(p *part) {
	a := p.tmpl.Annotations
	level := a[requiredTopology] + a[preferredTopology]
	if level != "" {
		for _, key := range selected(&p.tmpl.Spec) {
			if strings.HasPrefix(key, topologyPrefix) {
				l.find(TopologyTwice, Facts{PodSet: p.name, Name: key})
				break
			}
		}
		if t := instanceType(&p.tmpl.Spec); t != "" && strings.HasPrefix(level, topologyPrefix) &&
			!slices.ContainsFunc(topologyTypes, func(prefix string) bool { return strings.HasPrefix(t, prefix) }) {
			l.find(TopologyType, Facts{PodSet: p.name, InstanceType: t})
		}
	}
	if text := a[sliceSize]; text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err != nil || n < 1:
			l.find(SliceSize, Facts{Case: NotANumber, PodSet: p.name, Requested: text})
		case a[sliceTopology] == "":
			l.find(SliceSize, Facts{Case: NoTopology, PodSet: p.name})
		case p.pods%n != 0:
			l.find(SliceSize, Facts{Case: NotDivisible, PodSet: p.name, Pods: p.pods, Requested: text})
		}
	}
}

// selected returns the node labels that a pod requires, sorted.
func selected(spec *corev1.PodSpec) []string {
	var out []string
	for key := range spec.NodeSelector {
		out = append(out, key)
	}
	for _, e := range expressions(spec) {
		out = append(out, e.Key)
	}
	slices.Sort(out)
	return out
}

func expressions(spec *corev1.PodSpec) []corev1.NodeSelectorRequirement {
	var out []corev1.NodeSelectorRequirement
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			out = append(out, t.MatchExpressions...)
		}
	}
	return out
}

// instanceType returns the one instance type that a pod requires, "" for none or
// several.
func instanceType(spec *corev1.PodSpec) string {
	if t := spec.NodeSelector[kinds.InstanceTypeLabel]; t != "" {
		return t
	}
	for _, e := range expressions(spec) {
		if e.Key == kinds.InstanceTypeLabel && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
			return e.Values[0]
		}
	}
	return ""
}

func (l *linter) resources(p *part) {
	for _, c := range p.tmpl.Spec.Containers {
		for _, name := range devices(c.Resources) {
			r, asked := c.Resources.Requests[name]
			m, limited := c.Resources.Limits[name]
			if asked && (!limited || r.Cmp(m) != 0) {
				facts := Facts{Case: LimitDiffers, PodSet: p.name, Resource: string(name), Requested: r.String()}
				if limited {
					facts.Limit = m.String()
				}
				l.find(DeviceRequests, facts)
			}
		}
	}
	if l.annotations != nil && p.tmpl.Spec.RestartPolicy != "" && p.tmpl.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		if l.annotations["sagemaker.amazonaws.com/enable-job-auto-resume"] == "true" {
			l.find(ResumeIncomplete, Facts{Case: WrongRestartPolicy, PodSet: p.name, Name: string(p.tmpl.Spec.RestartPolicy), Fix: &Fix{Field: RestartPolicy, Values: []string{"OnFailure"}}})
		}
	}
	l.againstType(p)
}

// devices returns the extended resources of a container, sorted.
func devices(r corev1.ResourceRequirements) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		for name := range list {
			if strings.Contains(string(name), "/") && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// againstType compares the requests of a pod with its instance type.
func (l *linter) againstType(p *part) {
	t, known := instances.Lookup(instanceType(&p.tmpl.Spec))
	if !known {
		return
	}
	req := requests(&p.tmpl.Spec)
	whole := false
	for name, q := range req {
		switch {
		case string(name) == t.Resource && t.Resource != "":
			whole = whole || !q.IsZero()
			l.most(p, t.Name, string(name), q.Value(), int64(t.Accelerators))
		case name == instances.EFA:
			l.most(p, t.Name, string(name), q.Value(), int64(t.EFA))
		}
	}
	for name := range req {
		if profile, ok := strings.CutPrefix(string(name), instances.MIGPrefix); ok {
			if !slices.Contains(t.MIG, profile) && !slices.Contains(t.MIG, "mig-"+profile) {
				l.find(DeviceRequests, Facts{Case: NoSuchProfile, PodSet: p.name, Name: profile, InstanceType: t.Name, Known: t.MIG})
			} else if whole {
				l.find(DeviceRequests, Facts{Case: ProfileAndWhole, PodSet: p.name, Resource: string(name)})
			}
		}
	}
	cpu, memory := req.Cpu().MilliValue(), req.Memory().Value()
	freeCPU, freeMemory := allocatable(t)
	cores := Facts{PodSet: p.name, InstanceType: t.Name, Resource: "cpu", Requested: req.Cpu().String(), Limit: strconv.Itoa(t.VCPU),
		Fix: &Fix{Field: VCPU, Values: []string{strconv.FormatInt(freeCPU/1000, 10)}}}
	bytes := Facts{PodSet: p.name, InstanceType: t.Name, Resource: "memory", Requested: req.Memory().String(), Limit: fmt.Sprintf("%dGi", t.MemoryGiB),
		Fix: &Fix{Field: Memory, Values: []string{fmt.Sprintf("%dGi", freeMemory>>30)}}}
	if cpu > int64(t.VCPU)*1000 {
		l.find(MoreThanNode, cores)
	} else if cpu > freeCPU {
		l.find(CloseToNode, cores)
	}
	if memory > int64(t.MemoryGiB)<<30 {
		l.find(MoreThanNode, bytes)
	} else if memory > freeMemory {
		l.find(CloseToNode, bytes)
	}
}

func (l *linter) most(p *part, instance, name string, asked, most int64) {
	if asked > most {
		l.find(MoreThanNode, Facts{PodSet: p.name, InstanceType: instance, Resource: name, Requested: strconv.FormatInt(asked, 10), Limit: strconv.FormatInt(most, 10)})
	}
}

// allocatable estimates what pods can use of an instance type, in millicores and
// bytes. It subtracts the tiers of HyperPod CLI v3.9.0: 30, 15, 10 and 10 % of the
// first four cores, 6 % of the others and 0.1 core; 30, 25, 20 and 17 % of the first
// 4, next 4, 8 and 112 GiB, 7 % of the rest and 0.5 GiB.
func allocatable(t instances.Type) (cpu, memory int64) {
	kept := reserved(float64(t.VCPU), 0.1, []tier{{1, 0.30}, {1, 0.15}, {2, 0.10}}, 0.06)
	system := reserved(float64(t.MemoryGiB), 0.5, []tier{{4, 0.30}, {4, 0.25}, {8, 0.20}, {112, 0.17}}, 0.07)
	return int64((float64(t.VCPU) - kept) * 1000), int64((float64(t.MemoryGiB) - system) * (1 << 30))
}

type tier struct{ size, share float64 }

func reserved(total, fixed float64, tiers []tier, rest float64) float64 {
	for _, t := range tiers {
		fixed += min(total, t.size) * t.share
		total -= min(total, t.size)
	}
	return fixed + total*rest
}
