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

// topologyTypes are the instance families whose nodes have network topology
// labels (SageMaker HyperPod task governance: tasks scheduling).
var topologyTypes = []string{"ml.p3dn.24xlarge", "ml.p4d.", "ml.p4de.", "ml.p5.48xlarge", "ml.p5e.", "ml.p5en.", "ml.p6e-gb200.36xlarge",
	"ml.p6-b300.", "ml.trn1.2xlarge", "ml.trn1.32xlarge", "ml.trn1n.", "ml.trn2.48xlarge", "ml.trn2u.48xlarge"}

func (l *linter) topology(p *part) {
	a := p.tmpl.Annotations
	level := a[requiredTopology] + a[preferredTopology]
	if level != "" {
		for _, key := range selected(&p.tmpl.Spec) {
			if strings.HasPrefix(key, topologyPrefix) {
				l.advise(TopologyTwice, "keep the annotation", "%s asks for topology by annotation and by node selector (%s)", p.name, key)
				break
			}
		}
		if t := instanceType(&p.tmpl.Spec); t != "" && strings.HasPrefix(level, topologyPrefix) &&
			!slices.ContainsFunc(topologyTypes, func(prefix string) bool { return strings.HasPrefix(t, prefix) }) {
			l.add(TopologyType, "", "%s asks for network topology, which nodes of type %s do not tell", p.name, t)
		}
	}
	if text := a[sliceSize]; text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err != nil || n < 1:
			l.add(SliceSize, "", "%s: %s is %q, not a whole number above 0", p.name, sliceSize, text)
		case a[sliceTopology] == "":
			l.add(SliceSize, "", "%s: %s needs %s", p.name, sliceSize, sliceTopology)
		case p.pods%n != 0:
			l.add(SliceSize, "", "%s: %d pods cannot be cut into slices of %d", p.name, p.pods, n)
		}
	}
}

// selected are the node labels that a pod asks for.
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

// instanceType is the one type a pod asks for, "" when there is none or several.
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
				l.advise(DeviceRequests, "give the limit the same value", "%s: %s has a request of %s and a limit of %s", p.name, name, r.String(), limitText(limited, m.String()))
			}
		}
	}
	if l.annotations != nil && p.tmpl.Spec.RestartPolicy != "" && p.tmpl.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		if l.annotations["sagemaker.amazonaws.com/enable-job-auto-resume"] == "true" {
			l.add(ResumeIncomplete, "--restart-policy OnFailure", "%s: auto-resume needs restartPolicy OnFailure, not %s", p.name, p.tmpl.Spec.RestartPolicy)
		}
	}
	l.againstType(p)
}

func limitText(limited bool, text string) string {
	if !limited {
		return "none"
	}
	return text
}

// devices are the extended resources of a container.
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

// againstType compares a pod with its instance type.
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
				l.advise(DeviceRequests, profiles(t), "%s: %s has no MIG profile %s", p.name, t.Name, profile)
			} else if whole {
				l.add(DeviceRequests, "", "%s asks for %s and for whole GPUs", p.name, name)
			}
		}
	}
	cpu, memory := req.Cpu().MilliValue(), req.Memory().Value()
	freeCPU, freeMemory := allocatable(t)
	if cpu > int64(t.VCPU)*1000 {
		l.add(MoreThanNode, fmt.Sprintf("--vcpu %d", freeCPU/1000), "%s asks for %s cores; %s has %d", p.name, req.Cpu(), t.Name, t.VCPU)
	} else if cpu > freeCPU {
		l.add(CloseToNode, fmt.Sprintf("--vcpu %d", freeCPU/1000), "%s asks for %s of the %d cores of %s, and the system keeps some", p.name, req.Cpu(), t.VCPU, t.Name)
	}
	if memory > int64(t.MemoryGiB)<<30 {
		l.add(MoreThanNode, fmt.Sprintf("--memory %dGi", freeMemory>>30), "%s asks for %s of memory; %s has %dGi", p.name, req.Memory(), t.Name, t.MemoryGiB)
	} else if memory > freeMemory {
		l.add(CloseToNode, fmt.Sprintf("--memory %dGi", freeMemory>>30), "%s asks for %s of the %dGi of %s, and the system keeps some", p.name, req.Memory(), t.MemoryGiB, t.Name)
	}
}

// profiles says which MIG profiles an instance type has, "" when it has none.
func profiles(t instances.Type) string {
	if len(t.MIG) == 0 {
		return ""
	}
	return "it has " + strings.Join(t.MIG, ", ")
}

func (l *linter) most(p *part, instance, name string, asked, most int64) {
	if asked > most {
		l.add(MoreThanNode, "", "%s asks for %d %s; %s has %d", p.name, asked, name, instance, most)
	}
}

// allocatable estimates what pods may use of an instance type, in thousandths of
// cores and bytes, by the tiers that HyperPod CLI v3.9.0 reckons with: of the
// cores 30, 15, 10, 10 and of every further one 6 %, and 0.1; of the first 4, the
// next 4, 8 and 112 GiB and the rest 30, 25, 20, 17 and 7 %, and 0.5 GiB.
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
