package fit_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

func list(text string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, one := range strings.Fields(text) {
		name, amount, _ := strings.Cut(one, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return out
}

const (
	gpu = "nvidia.com/gpu"
	efa = "vpc.amazonaws.com/efa"
)

func node(name, allocatable string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"type": "p5", "sagemaker.amazonaws.com/node-health-status": "Schedulable"}},
		Status:     corev1.NodeStatus{Allocatable: list(allocatable), Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	for _, f := range change {
		f(n)
	}
	return n
}

func spec(requests string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list(requests)}}}}
}

func pod(on, requests string) *corev1.Pod {
	p := &corev1.Pod{Spec: spec(requests)}
	p.Spec.NodeName = on
	return p
}

const big = "cpu=96 memory=1Ti nvidia.com/gpu=8 vpc.amazonaws.com/efa=4 hugepages-2Mi=4Gi ephemeral-storage=100Gi pods=10"

func plain(n quota.Base) string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }

func reasons(p fit.Placement) string {
	var out []string
	for _, r := range p.Reasons {
		s := fmt.Sprintf("%d %s", r.Nodes, r.Reason)
		if r.Resource != "" {
			s += " " + r.Resource + " " + plain(r.Most) + "/" + plain(r.Needed)
		}
		if r.Message != "" {
			s += " " + r.Message
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestPlace(t *testing.T) {
	label := func(k, v string) func(*corev1.Node) { return func(n *corev1.Node) { n.Labels[k] = v } }
	taint := func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}, {Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}}
	}
	cordon := func(n *corev1.Node) { n.Spec.Unschedulable = true }
	unready := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }
	required := func(terms ...[]corev1.NodeSelectorRequirement) *corev1.Affinity {
		var list []corev1.NodeSelectorTerm
		for _, t := range terms {
			list = append(list, corev1.NodeSelectorTerm{MatchExpressions: t})
		}
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: list}}}
	}
	three := []*corev1.Node{node("a", big), node("b", big), node("c", big)}
	with := func(s corev1.PodSpec, f func(*corev1.PodSpec)) corev1.PodSpec { f(&s); return s }
	for _, c := range []struct {
		name   string
		nodes  []*corev1.Node
		pods   []*corev1.Pod
		group  fit.Group
		placed int
		why    string
	}{
		{"fits", three, nil, fit.Group{Count: 3, Spec: spec(gpu + "=8")}, 3, ""},
		{"two on a node", three, nil, fit.Group{Count: 6, Spec: spec(gpu + "=4")}, 6, ""},
		{"one short", three, nil, fit.Group{Count: 4, Spec: spec(gpu + "=8")}, 3, "3 InsufficientFree nvidia.com/gpu 0/8"},
		{"in use", three, []*corev1.Pod{pod("a", gpu+"=1"), pod("b", gpu+"=3")}, fit.Group{Count: 3, Spec: spec(gpu + "=8")}, 1, "3 InsufficientFree nvidia.com/gpu 7/8"},
		{"ended pods free", three, []*corev1.Pod{{Spec: pod("a", gpu+"=8").Spec, Status: corev1.PodStatus{Phase: corev1.PodFailed}}}, fit.Group{Count: 3, Spec: spec(gpu + "=8")}, 3, ""},
		{"too large for any", three, nil, fit.Group{Count: 1, Spec: spec(gpu + "=16")}, 0, "3 InsufficientOnNode nvidia.com/gpu 8/16"},
		{"efa", three, nil, fit.Group{Count: 1, Spec: spec(gpu + "=1 " + efa + "=32")}, 0, "3 InsufficientOnNode vpc.amazonaws.com/efa 4/32"},
		{"hugepages", three, nil, fit.Group{Count: 4, Spec: spec("hugepages-2Mi=3Gi")}, 3, "3 InsufficientFree hugepages-2Mi 1073741824/3221225472"},
		{"ephemeral storage", three, nil, fit.Group{Count: 1, Spec: spec("ephemeral-storage=200Gi")}, 0, "3 InsufficientOnNode ephemeral-storage 107374182400/214748364800"},
		{"a resource no node has", three, nil, fit.Group{Count: 1, Spec: spec("aws.amazon.com/neuron=1")}, 0, "3 InsufficientOnNode aws.amazon.com/neuron 0/1"},
		{"cpu in cores", three, nil, fit.Group{Count: 1, Spec: spec("cpu=96500m")}, 0, "3 InsufficientOnNode cpu 96/96.5"},
		{"pods of a node", []*corev1.Node{node("a", "cpu=4 pods=2")}, []*corev1.Pod{pod("a", "cpu=1")}, fit.Group{Count: 2, Spec: spec("cpu=1")}, 1, "1 TooManyPods"},
		{"cordoned", []*corev1.Node{node("a", big, cordon), node("b", big)}, nil, fit.Group{Count: 2, Spec: spec(gpu + "=8")}, 1, "1 Cordoned; 1 InsufficientFree nvidia.com/gpu 0/8"},
		{"cordon tolerated", []*corev1.Node{node("a", big, cordon)}, nil, fit.Group{Count: 1, Spec: spec("cpu=1"), Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}, 1, ""},
		{"not ready", []*corev1.Node{node("a", big, unready)}, nil, fit.Group{Count: 1, Spec: spec("cpu=1")}, 0, "1 NotReady"},
		{"excluded by HyperPod", []*corev1.Node{node("a", big, label("sagemaker.amazonaws.com/node-health-status", "UnschedulablePendingReboot"))}, nil, fit.Group{Count: 1, Spec: spec("cpu=1")}, 0, "1 Unhealthy UnschedulablePendingReboot"},
		{"tainted", []*corev1.Node{node("a", big, taint)}, nil, fit.Group{Count: 1, Spec: spec("cpu=1")}, 0, "1 Tainted k=v:NoSchedule"},
		{"taint tolerated by the flavor", []*corev1.Node{node("a", big, taint)}, nil, fit.Group{Count: 1, Spec: spec("cpu=1"), Tolerations: []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}}, 1, ""},
		{"node selector", three, nil, fit.Group{Count: 1, Spec: with(spec("cpu=1"), func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"type": "p4"} })}, 0, "3 NotSelected type=p4"},
		{"affinity", []*corev1.Node{node("a", big), node("b", big, label("zone", "2"))}, nil, fit.Group{Count: 2, Spec: with(spec(gpu+"=8"), func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"2"}}}}}}}}
		})}, 1, "1 InsufficientFree nvidia.com/gpu 0/8; 1 NotSelected zone=2"},
		{"affinity with alternatives", three, nil, fit.Group{Count: 1, Spec: with(spec("cpu=1"), func(s *corev1.PodSpec) {
			s.Affinity = required([]corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}, []corev1.NodeSelectorRequirement{{Key: "b", Operator: corev1.NodeSelectorOpExists}})
		})}, 0, "3 NotSelected"},
		{"several requirements", three, nil, fit.Group{Count: 1, Spec: with(spec("cpu=1"), func(s *corev1.PodSpec) {
			s.NodeSelector = map[string]string{"b": "2", "a": "1"}
			s.Affinity = required([]corev1.NodeSelectorRequirement{{Key: "c", Operator: corev1.NodeSelectorOpIn, Values: []string{"1", "2", "3", "4"}},
				{Key: "d", Operator: corev1.NodeSelectorOpDoesNotExist}, {Key: "e", Operator: corev1.NodeSelectorOpGt, Values: []string{"5"}}, {Key: "f", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"6"}}})
		})}, 0, "3 NotSelected a=1, b=2, c in (1, 2, 3, ...), e>5"},
		{"flavor", three, nil, fit.Group{Count: 1, Spec: spec("cpu=1"), NodeLabels: map[string]string{"type": "p4"}}, 0, "3 NotOfFlavor"},
		{"hosts of a topology", three, nil, fit.Group{Count: 3, Spec: spec(gpu + "=2"), Hosts: map[string]int{"a": 1, "b": 2}}, 3, ""},
		{"a host that is full", three, []*corev1.Pod{pod("a", gpu+"=8")}, fit.Group{Count: 2, Spec: spec(gpu + "=2"), Hosts: map[string]int{"a": 1, "b": 1}}, 1, "1 InsufficientFree nvidia.com/gpu 0/2; 1 NotInTopology"},
		{"a domain of a topology", []*corev1.Node{node("a", big), node("b", big, label("rack", "r2"))}, nil, fit.Group{Count: 2, Spec: spec(gpu + "=8"), Domain: []map[string]string{{"rack": "r2"}}}, 1, "1 InsufficientFree nvidia.com/gpu 0/8; 1 NotInTopology"},
		{"init containers count", []*corev1.Node{node("a", "cpu=4")}, nil, fit.Group{Count: 1, Spec: with(spec("cpu=1"), func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list("cpu=8")}}}
		})}, 0, "1 InsufficientOnNode cpu 4/8"},
		{"no pods", three, nil, fit.Group{Count: 0, Spec: spec(gpu + "=8")}, 0, ""},
		{"no nodes", nil, nil, fit.Group{Count: 1, Spec: spec(gpu + "=8")}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fit.New(c.nodes, c.pods, nil).Place([]fit.Group{c.group}, false)
			g := r.Groups[0]
			if g.PodsPlaced != c.placed || reasons(g) != c.why || r.Fits != (c.placed == c.group.Count) {
				t.Errorf("placed %d, fits %t: %s", g.PodsPlaced, r.Fits, reasons(g))
			}
		})
	}
}

// TestGang: groups share the nodes, the large pods go first, and asking changes nothing.
func TestGang(t *testing.T) {
	c := fit.New([]*corev1.Node{node("a", big), node("b", big)}, []*corev1.Pod{pod("a", gpu+"=4")}, nil)
	gang := []fit.Group{{Name: "launcher", Count: 1, Spec: spec("cpu=4")}, {Name: "small", Count: 2, Spec: spec(gpu + "=2")}, {Name: "worker", Count: 1, Spec: spec(gpu + "=8")}}
	for range 2 {
		r := c.Place(gang, false)
		if !r.Fits || r.Groups[2].PodsPlaced != 1 || r.Groups[1].Nodes != 1 {
			t.Fatalf("%+v", r)
		}
	}
	gang[1].Count = 3
	if r := c.Place(gang, false); r.Fits || r.Groups[1].PodsPlaced != 2 {
		t.Errorf("%+v", r)
	}
	if r := c.Place(gang, true); !r.Fits {
		t.Errorf("on empty nodes %+v", r)
	}
	gone := fit.New([]*corev1.Node{node("a", big), node("b", big)}, []*corev1.Pod{pod("a", gpu+"=4")}, func(*corev1.Pod) bool { return true })
	if r := gone.Place(gang, false); !r.Fits {
		t.Errorf("without the pods %+v", r)
	}
	if c.Having(map[string]string{"type": "p5"}) != 2 || c.Having(map[string]string{"type": "p4"}) != 0 {
		t.Error("counts")
	}
}

// TestEmpty: on empty nodes, what passes with time does not count; what is so for
// good does.
func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*corev1.Node)
		why    string // of empty nodes
	}{
		{"cordoned", func(n *corev1.Node) {
			n.Spec.Unschedulable = true
			n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		}, ""},
		{"not ready", func(n *corev1.Node) {
			n.Status.Conditions[0].Status = corev1.ConditionUnknown
			n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}}
		}, ""},
		{"excluded", func(n *corev1.Node) {
			n.Labels["sagemaker.amazonaws.com/node-health-status"] = "UnschedulablePendingReboot"
			n.Spec.Taints = []corev1.Taint{{Key: "sagemaker.amazonaws.com/node-health-status", Value: "Unschedulable", Effect: corev1.TaintEffectNoSchedule}}
		}, ""},
		{"tainted", func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}} }, "1 Tainted k:NoSchedule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := fit.New([]*corev1.Node{node("a", big, c.change)}, nil, nil)
			one := []fit.Group{{Count: 1, Spec: spec(gpu + "=8")}}
			if r := cluster.Place(one, false); r.Fits {
				t.Error("it fits now")
			}
			if r := cluster.Place(one, true); r.Fits != (c.why == "") || reasons(r.Groups[0]) != c.why {
				t.Errorf("empty: %t, %s", r.Fits, reasons(r.Groups[0]))
			}
		})
	}
}

// TestMany: ten thousand pods on five thousand nodes take no search.
func TestMany(t *testing.T) {
	var nodes []*corev1.Node
	for i := range 5000 {
		nodes = append(nodes, node(fmt.Sprintf("n%04d", i), big))
	}
	r := fit.New(nodes, nil, nil).Place([]fit.Group{{Count: 10001, Spec: spec(gpu + "=4")}}, false)
	if r.Fits || r.Groups[0].PodsPlaced != 10000 || r.Groups[0].Nodes != 5000 {
		t.Errorf("%d on %d", r.Groups[0].PodsPlaced, r.Groups[0].Nodes)
	}
}

// A limit stands in for a request that is not given, in jobs that are not
// submitted yet as in pods that run.
func TestLimitsAreRequests(t *testing.T) {
	only := func(limits string) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list(limits)}}}}
	}
	busy := &corev1.Pod{Spec: only("nvidia.com/gpu=6")}
	busy.Spec.NodeName = "b"
	nodes := []*corev1.Node{node("a", big), node("b", big)}
	for count, want := range map[int]int{1: 1, 2: 1} {
		got := fit.New(nodes, []*corev1.Pod{busy}, nil).Place([]fit.Group{{Name: "worker", Count: count, Spec: only("nvidia.com/gpu=8")}}, false)
		if got.Groups[0].PodsPlaced != want {
			t.Errorf("%d pods of 8: %d placed, want %d", count, got.Groups[0].PodsPlaced, want)
		}
	}
}
