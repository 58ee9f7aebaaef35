package admission

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// What is not modelled is named, never guessed about in silence.
func TestNotModelled(t *testing.T) {
	check := &kueue.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "remote"}, Spec: kueue.AdmissionCheckSpec{ControllerName: kueue.MultiKueueControllerName},
		Status: kueue.AdmissionCheckStatus{Conditions: []metav1.Condition{{Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue}}}}
	cases := map[string]struct {
		queue queueOption
		job   workloadOption
		want  []string
	}{
		"nothing": {func(*kueue.ClusterQueue) {}, func(*kueue.Workload) {}, nil},
		"MultiKueue": {func(q *kueue.ClusterQueue) {
			q.Spec.AdmissionChecksStrategy = &kueue.AdmissionChecksStrategy{AdmissionChecks: []kueue.AdmissionCheckStrategyRule{{Name: "remote"}}}
		}, func(*kueue.Workload) {}, []string{NotModelledMultiKueue}},
		"fair sharing of admissions": {func(q *kueue.ClusterQueue) {
			q.Spec.AdmissionScope = &kueue.AdmissionScope{AdmissionMode: kueue.UsageBasedAdmissionFairSharing}
		}, func(*kueue.Workload) {}, []string{NotModelledAdmission}},
		"concurrent admission": {func(q *kueue.ClusterQueue) { q.Spec.ConcurrentAdmissionPolicy = &kueue.ConcurrentAdmissionPolicy{} }, func(*kueue.Workload) {}, []string{NotModelledConcurrent}},
		"resource claims": {func(*kueue.ClusterQueue) {}, func(w *kueue.Workload) {
			w.Spec.PodSets[0].Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr.To("one")}}
		}, []string{NotModelledClaims}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture().add(check).team("a", "", "8", c.queue)
			if d := probe(t, f.engine(t, Config{}), f.job("a", "new", 1, c.job)); !slices.Equal(d.NotModelled, c.want) {
				t.Errorf("%v, want %v (%s %s)", d.NotModelled, c.want, d.Outcome, d.Reason)
			}
		})
	}
}
