package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// The types of testdata/casebook/requests.go.
type (
	requestsAsked struct {
		Workload        *kueue.Workload
		Transformations []config.ResourceTransformation
		Excluded        []string
	}
	requestsTold struct {
		Requests map[kueue.PodSetReference]corev1.ResourceList
		Error    string
	}
)

// TestRequestCases gives the engine the cases of Kueue's tests of what a workload requests: overhead of runtime classes,
// LimitRanges, transformations, excluded prefixes. The workload waits in a queue without quota, so that its status has what was
// counted; one that Kueue refuses must have the reason in its condition.
func TestRequestCases(t *testing.T) {
	counts := map[string]int{}
	for _, test := range []string{"TestAdjustResources", "TestNewInfo", "TestValidateResources", "TestValidateLimitRange"} {
		for _, u := range readUnits(t, test) {
			var result string
			diffs := guarded(func() (diffs []string) { result, diffs = u.compareRequests(t); return diffs })
			if len(diffs) > 0 {
				t.Errorf("%s %s\n  %s", test, u.Given, strings.Join(diffs, "\n  "))
				result = "differ"
			}
			counts[result]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d: %s", counts[k], k)
	}
}

func (u *unit) compareRequests(t *testing.T) (result string, diffs []string) {
	var in requestsAsked
	var want requestsTold
	must(json.Unmarshal(u.Given, &in))
	must(json.Unmarshal(u.Result, &want))
	if in.Workload.Status.Admission != nil {
		return "not comparable: the workload has its quota, and what it uses is in its status", nil
	}
	w := in.Workload
	w.TypeMeta = metav1.TypeMeta{APIVersion: kueue.SchemeGroupVersion.String(), Kind: "Workload"}
	w.Namespace, w.Name, w.UID = cmp.Or(w.Namespace, "default"), cmp.Or(w.Name, "w"), "w"
	w.Spec.QueueName, w.Spec.Active = "none", ptr.To(true)
	resources := map[corev1.ResourceName]bool{corev1.ResourceCPU: true}
	for _, list := range want.Requests {
		for r := range list {
			resources[r] = true
		}
	}
	group := kueue.ResourceGroup{Flavors: []kueue.FlavorQuotas{{Name: "none"}}}
	for _, r := range slices.Sorted(maps.Keys(resources)) {
		group.CoveredResources = append(group.CoveredResources, r)
		group.Flavors[0].Resources = append(group.Flavors[0].Resources, kueue.ResourceQuota{Name: r, NominalQuota: resource.MustParse("0")})
	}
	cq := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: kueue.ClusterQueueSpec{NamespaceSelector: &metav1.LabelSelector{}, ResourceGroups: []kueue.ResourceGroup{group}}}
	putRight(cq)
	c := &unitCase{Transformations: in.Transformations, Excluded: in.Excluded}
	u.Now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	objects := []json.RawMessage{}
	for _, o := range u.Objects {
		var meta struct {
			metav1.TypeMeta
			metav1.ObjectMeta `json:"metadata"`
		}
		must(json.Unmarshal(o, &meta))
		if meta.Kind == "LimitRange" && meta.Namespace == "" {
			var l corev1.LimitRange
			must(json.Unmarshal(o, &l))
			l.Namespace = w.Namespace
			o = json.RawMessage(asJSON(l))
		}
		objects = append(objects, o)
	}
	objects = append(objects, raws(listOf(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}}, &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "none"}}, cq,
		&kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "none"}, Spec: kueue.LocalQueueSpec{ClusterQueue: "none"}}, w))...)
	e, _, err := c.open(t, u.settings, objects).Engine(context.Background())
	must(err)
	_, err = e.Run(context.Background(), 1)
	must(err)
	got := e.Workload(w.Namespace, w.Name)
	if got == nil {
		return "not comparable: the API server refuses pods with negative requests", nil
	}
	cond := apimeta.FindStatusCondition(got.Status.Conditions, kueue.WorkloadQuotaReserved)
	if want.Error != "" {
		if cond == nil || !strings.Contains(cond.Message, want.Error) {
			return "", []string{fmt.Sprintf("Kueue:  %s\n   engine: %+v", want.Error, cond)}
		}
		return "agree", nil
	}
	if cond != nil && strings.Contains(cond.Message, "validation failed") {
		if strings.HasPrefix(u.Test, "TestValidate") {
			return "", []string{cond.Message}
		}
		return "not comparable: the workload is refused before it is counted", nil
	}
	if strings.HasPrefix(u.Test, "TestValidate") {
		return "agree", nil
	}
	for _, r := range got.Status.ResourceRequests {
		wanted := want.Requests[r.Name]
		for name := range wanted {
			if q := wanted[name]; q.Cmp(r.Resources[name]) != 0 && !(q.IsZero() && r.Resources == nil) {
				diffs = append(diffs, fmt.Sprintf("%s %s: Kueue %s, engine %s", r.Name, name, asJSON(wanted), asJSON(r.Resources)))
			}
		}
		if len(wanted) != len(r.Resources) {
			diffs = append(diffs, fmt.Sprintf("%s: Kueue %s, engine %s", r.Name, asJSON(wanted), asJSON(r.Resources)))
		}
	}
	if len(got.Status.ResourceRequests) == 0 && len(want.Requests) > 0 {
		admitted := got.Status.Admission
		if admitted == nil {
			return "", []string{asJSON(got.Status)}
		}
		for _, a := range admitted.PodSetAssignments { // it requests nothing
			for name, q := range a.ResourceUsage {
				if w := want.Requests[a.Name][name]; q.Cmp(w) != 0 {
					diffs = append(diffs, fmt.Sprintf("%s: Kueue %s, engine %s", a.Name, asJSON(want.Requests), asJSON(a.ResourceUsage)))
				}
			}
		}
	}
	return "agree", diffs
}
