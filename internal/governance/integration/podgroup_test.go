package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestRoles: a new pod has the role of pods that differ from it only in what an API server adds.
func TestRoles(t *testing.T) {
	served := corev1.PodSpec{
		Priority: ptr.To[int32](0),
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)},
		},
		Containers: []corev1.Container{{
			Ports:     []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}, Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}},
		}},
	}
	withClass := *served.DeepCopy()
	withClass.PriorityClassName, withClass.Priority = "usual", ptr.To[int32](7)
	classes := NewLookup(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 7, GlobalDefault: true})
	const spec = `"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1000m"}}}]`
	for name, c := range map[string]struct {
		pod    string
		like   corev1.PodSpec
		lookup Lookup
		same   bool
	}{
		"as written":               {`{"spec":{` + spec + `}}`, served, NewLookup(), true},
		"the default class":        {`{"spec":{` + spec + `}}`, withClass, classes, true},
		"the same class":           {`{"spec":{"priorityClassName":"usual",` + spec + `}}`, withClass, NewLookup(), true},
		"another class":            {`{"spec":{"priorityClassName":"other",` + spec + `}}`, withClass, classes, false},
		"other requests":           {`{"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":2}}}]}}`, served, NewLookup(), false},
		"a toleration of its own":  {`{"spec":{"tolerations":[{"key":"gpu"}],` + spec + `}}`, served, NewLookup(), false},
		"with the role annotation": {`{"metadata":{"annotations":{"` + RoleAnnotation + `":"x"}},"spec":{}}`, served, NewLookup(), true},
	} {
		t.Run(name, func(t *testing.T) {
			sets := []kueue.PodSet{{Name: "x", Count: 1, Template: corev1.PodTemplateSpec{Spec: c.like}}}
			roles, err := NewRoles(sets, c.lookup)
			if err != nil {
				t.Fatal(err)
			}
			role, err := roles.Of([]byte(c.pod))
			if err != nil || (role == "x") != c.same {
				t.Errorf("the role is %q, error %v", role, err)
			}
		})
	}
}
