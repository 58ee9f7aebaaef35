package admission

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// withDevices is a Kueue that counts devices of class gpu.example.com as nvidia.com/gpu.
func withDevices() Config {
	return Config{OrderByUse: ptr.To(false), DeviceClasses: []config.DeviceClassMapping{{Name: gpu, DeviceClassNames: []corev1.ResourceName{"gpu.example.com"}}}}
}

func claimTemplate(namespace, name, class string, devices int64) *resourcev1.ResourceClaimTemplate {
	return &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: devices},
		}}}}},
	}
}

// claims lets the pods of a job claim devices instead of requesting them.
func claims(template string) workloadOption {
	return func(w *kueue.Workload) {
		pod := &w.Spec.PodSets[0].Template.Spec
		pod.Containers[0].Resources.Requests = nil
		pod.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}
	}
}

// Devices of claims count as the resource that Kueue's configuration names.
func TestDevicesCount(t *testing.T) {
	f := newFixture().team("a", "", "8").add(
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu.example.com"}},
		claimTemplate("a", "two", "gpu.example.com", 2), claimTemplate("a", "other", "else.example.com", 1))
	four := f.job("a", "four", 0, claims("two"), pods(4, 0))
	d := probe(t, f.engine(t, withDevices()), four)
	if d.Outcome != Admitted || len(d.PodSets[0].Requests) != 1 || d.PodSets[0].Requests[0].Value != 8 || len(d.NotModelled) > 0 {
		t.Errorf("4 pods with 2 devices each, 8 of 8: %+v", d)
	}
	if d := probe(t, f.engine(t, withDevices()), f.job("a", "five", 0, claims("two"), pods(5, 0))); d.Reason != kueue.WorkloadQuotaReservedReasonExceedsMaxQuota {
		t.Errorf("10 of 8: %+v", d)
	}

	// What was queued is what was asked about: the second waits for the first.
	f.add(four, f.job("a", "one", 0, claims("two")))
	e := f.engine(t, withDevices())
	if got := short(run(t, e)); got != "1 Admitted a/four; 2 Pending a/one" {
		t.Errorf("in turn: %s", got)
	}
	if w := e.Workload("a", "four"); w.Status.Admission == nil || w.Status.Admission.PodSetAssignments[0].ResourceUsage.Name(gpu, resource.DecimalSI).Value() != 8 {
		t.Errorf("holds %+v", w.Status.Admission)
	}
}

// Kueue does not queue a workload whose devices it cannot count.
func TestDevicesRefused(t *testing.T) {
	named := func(w *kueue.Workload) {
		w.Spec.PodSets[0].Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("mine")}}
	}
	off := withDevices()
	off.Gates = map[string]bool{"KueueDRAIntegration": false, "KueueDRAIntegrationExtendedResource": false, "KueueDRAIntegrationPartitionableDevices": false, "KueueDRARejectWorkloadsWhenDRADisabled": true}
	for name, c := range map[string]struct {
		cfg  Config
		job  workloadOption
		says string
	}{
		"a class without a mapping": {withDevices(), claims("other"), "DeviceClass else.example.com is not mapped"},
		"no such template":          {withDevices(), claims("nowhere"), `"a/nowhere" not found`},
		"a claim by name":           {withDevices(), named, "does not support use of resource claims"},
		"the gate is off":           {off, claims("two"), "feature gate is not enabled"},
		"no mappings":               {Config{OrderByUse: ptr.To(false)}, claims("two"), "no resources.deviceClassMappings"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture().team("a", "", "8").add(claimTemplate("a", "two", "gpu.example.com", 2), claimTemplate("a", "other", "else.example.com", 1))
			w := f.job("a", "w", 0, c.job)
			d := probe(t, f.engine(t, c.cfg), w)
			if d.Outcome != Never || d.Reason != kueue.WorkloadQuotaReservedReasonMisconfigured || !d.BadClaims || !strings.Contains(d.Message, c.says) || len(d.NotModelled) > 0 {
				t.Errorf("%+v", d)
			}
			e := f.add(w, f.job("a", "next", 8)).engine(t, c.cfg)
			if got := short(run(t, e)); got != "1 Admitted a/next" {
				t.Errorf("the others: %s", got)
			}
			if p := e.Pending(""); len(p) != 1 || p[0].Reason != kueue.WorkloadQuotaReservedReasonMisconfigured || !strings.Contains(p[0].Message, c.says) {
				t.Errorf("pending: %+v", p)
			}
			if c := apimeta.FindStatusCondition(e.Workload("a", "w").Status.Conditions, kueue.WorkloadRequeued); c == nil || c.Status != metav1.ConditionFalse || c.Reason != kueue.WorkloadInadmissible {
				t.Errorf("requeued: %+v", c)
			}
		})
	}
}

// Where something could not be read, the answer is not known; where it decides nothing, it is.
func TestDevicesUnread(t *testing.T) {
	two := claimTemplate("a", "two", "gpu.example.com", 2)
	for name, c := range map[string]struct {
		unread   string
		template *resourcev1.ResourceClaimTemplate
		unknown  bool
	}{
		"its template":         {"ResourceClaimTemplate", claimTemplate("a", "other", "gpu.example.com", 2), true},
		"another template":     {"ResourceClaimTemplate", two, false},
		"classes, not needed":  {"DeviceClass", two, false},
		"classes and selector": {"DeviceClass", selecting(two), true},
		"slices and selector":  {"ResourceSlice", selecting(two), true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture().team("a", "", "8").add(c.template)
			if c.unread != "DeviceClass" {
				f.add(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu.example.com"}})
			}
			cfg := withDevices()
			cfg.Unread = []string{c.unread}
			d := probe(t, f.engine(t, cfg), f.job("a", "w", 0, claims("two")))
			if got := slices.Contains(d.NotModelled, NotModelledClaims); got != c.unknown || !c.unknown && d.Outcome != Admitted {
				t.Errorf("%+v", d)
			}
		})
	}
}

func selecting(t *resourcev1.ResourceClaimTemplate) *resourcev1.ResourceClaimTemplate {
	t = t.DeepCopy()
	t.Spec.Spec.Devices.Requests[0].Exactly.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}
	return t
}

// A device class can provide a resource that pods request by name; a mapping counts it under another one.
func TestDevicesByResource(t *testing.T) {
	f := newFixture().team("a", "", "8").add(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu.example.com"},
		Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: ptr.To("example.com/gpu")}})
	asks := func(n string) workloadOption {
		return func(w *kueue.Workload) {
			w.Spec.PodSets[0].Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse(n)}
		}
	}
	if d := probe(t, f.engine(t, withDevices()), f.job("a", "w", 0, asks("8"))); d.Outcome != Admitted || amounts(d.PodSets[0].Requests) != "a100/nvidia.com/gpu=8" {
		t.Errorf("%+v", d)
	}
	if d := probe(t, f.engine(t, withDevices()), f.job("a", "w", 0, asks("9"))); d.Reason != kueue.WorkloadQuotaReservedReasonExceedsMaxQuota {
		t.Errorf("%+v", d)
	}
}

// A queue that opens again with such a workload must not wait for Kueue's controller, which is not there.
func TestDevicesOfAQueueThatOpens(t *testing.T) {
	f := newFixture().team("a", "", "8").add(claimTemplate("a", "two", "gpu.example.com", 2))
	lq := f.objs[3].(*kueue.LocalQueue)
	stopped := lq.DeepCopy()
	stopped.Spec.StopPolicy = ptr.To(kueue.Hold)
	e := f.add(f.job("a", "w", 0, claims("two"))).add(stopped).engine(t, withDevices())
	if got := short(run(t, e)); got != "" {
		t.Fatalf("stopped: %s", got)
	}
	done := make(chan error, 1)
	go func() { done <- e.Load(context.Background(), lq) }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it never ends")
	}
	if got := short(run(t, e)); got != "1 Admitted a/w" && got != "2 Admitted a/w" {
		t.Errorf("open: %s", got)
	}
}

// A template that comes later lets the workload into its queue.
func TestDevicesLater(t *testing.T) {
	f := newFixture().team("a", "", "8")
	e := f.add(f.job("a", "w", 0, claims("two"), func(w *kueue.Workload) {
		w.Status.Conditions = []metav1.Condition{{Type: kueue.WorkloadRequeued, Status: metav1.ConditionFalse, Reason: kueue.WorkloadInadmissible, LastTransitionTime: metav1.NewTime(noon)}}
	})).engine(t, withDevices())
	if got := short(run(t, e)); got != "" {
		t.Fatalf("without a template: %s", got)
	}
	if err := e.Load(context.Background(), claimTemplate("a", "two", "gpu.example.com", 2)); err != nil {
		t.Fatal(err)
	}
	if got := short(run(t, e)); !strings.HasSuffix(got, "Admitted a/w") {
		t.Errorf("with it: %s", got)
	}
}

// Kueue's queues do not know a workload whose devices it cannot count, so its end does not let the others try again.
func TestDevicesRefusedWakeNobody(t *testing.T) {
	for name, c := range map[string]struct {
		job    workloadOption
		cycles int
	}{"not queued": {claims("nowhere"), 0}, "queued": {pods(1, 0), 1}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture().team("a", "", "8")
			e := f.add(f.job("a", "gone", 10, c.job), f.job("a", "large", 9)).engine(t, withDevices())
			run(t, e)
			if err := e.Remove(context.Background(), "a", "gone"); err != nil {
				t.Fatal(err)
			}
			if tl, err := e.Run(context.Background(), 1); err != nil || tl.Cycles != c.cycles {
				t.Errorf("%d cycles, %v", tl.Cycles, err)
			}
		})
	}
}
