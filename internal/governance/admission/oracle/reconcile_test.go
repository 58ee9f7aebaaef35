package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	workloadevict "sigs.k8s.io/kueue/pkg/workload/evict"
	workloadfinish "sigs.k8s.io/kueue/pkg/workload/finish"
)

// The types of testdata/casebook/reconcile.go.
type (
	reconciled struct {
		Key       string
		Ready     json.RawMessage
		Retention *time.Duration
	}
	reconcileAnswer struct {
		Workload *kueue.Workload
		After    time.Duration
		Error    string
	}
)

// reconciledApart are why the engine does something else, by a part of what Kueue writes.
var reconciledApart = map[string]string{
	"MaximumExecutionTimeExceeded":              "declined: the end of the maximum execution time, which a forecast has",
	"LocalQueue lq is terminating or missing":   "not comparable: a file without LocalQueues says nothing about them",
	"ResourceClaimTemplate missing-template in": "not comparable: a file without claim templates says nothing about them",
	"failed to list ResourceSlices":             "not comparable: the server fails",
}

// TestReconcileCases gives the engine the clusters of the cases of Kueue's tests of its workload controller. What the controller
// writes in one step, the engine has written before its first cycle.
func TestReconcileCases(t *testing.T) {
	counts := map[string]int{}
	for _, u := range readUnits(t, "runReconcileTestCases") {
		if u.Gates["WorkloadRequestUseMergePatch"] {
			continue // how a status is patched
		}
		var result string
		diffs := guarded(func() (diffs []string) { result, diffs = u.compareReconciled(t); return diffs })
		if len(diffs) > 0 {
			t.Errorf("%s\n  %s", u.Given, strings.Join(diffs, "\n  "))
			result = "differ"
		}
		counts[result]++
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d: %s", counts[k], k)
	}
}

// standing is what a controller writes into the status of a workload, without times.
func standing(w *kueue.Workload) []string {
	if w == nil {
		return []string{"gone"}
	}
	out := []string{fmt.Sprintf("active %v", w.Spec.Active == nil || *w.Spec.Active)}
	for _, c := range w.Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s/%s %q", c.Type, c.Status, c.Reason, c.Message))
	}
	for _, c := range w.Status.AdmissionChecks {
		out = append(out, fmt.Sprintf("check %s %s %q", c.Name, c.State, c.Message))
	}
	if s := w.Status.RequeueState; s != nil {
		out = append(out, fmt.Sprintf("requeue %v", s.RequeueAt != nil))
	}
	if a := w.Status.Admission; a != nil {
		out = append(out, "admission "+asJSON(a))
	}
	slices.Sort(out)
	return out
}

func unquoted(s string) string {
	out, err := strconv.Unquote(s)
	must(err)
	return out
}

func (u *unit) compareReconciled(t *testing.T) (result string, diffs []string) {
	var in reconciled
	var want reconcileAnswer
	must(json.Unmarshal(u.Given, &in))
	must(json.Unmarshal(u.Result, &want))
	ctx, cancel := context.WithCancel(context.Background())
	// The cases have this mapping where a workload has claims.
	c := &unitCase{Devices: []config.DeviceClassMapping{
		{Name: "foo", DeviceClassNames: []corev1.ResourceName{"foo.example.com"}}, {Name: "gpu", DeviceClassNames: []corev1.ResourceName{"gpu.example.com"}},
	}}
	e, _, err := c.open(t, u.settings, u.Objects).Engine(ctx)
	must(err)
	e.KeepEvictions()
	cancel()
	_, _ = e.Run(ctx, 1) // does what comes before a cycle
	ns, name, _ := strings.Cut(in.Key, "/")
	var old *kueue.Workload
	for k, w := range decoded(u.Objects) {
		if k.String() == in.Key {
			old = w
		}
	}
	now, mine := want.Workload, e.Workload(ns, name)
	switch {
	case in.Ready != nil && string(in.Ready) != "null":
		return "declined: timeouts of pods that are not ready", nil
	case now == nil || workloadfinish.IsFinished(now):
		return "not comparable: the workload is finished or deleted", nil
	case mine == nil:
		return "", []string{"the engine has no such workload"}
	}
	before, got := standing(old), standing(mine)
	var missing []string
	for _, s := range standing(now) {
		if target, is := strings.CutPrefix(s, "DeactivationTarget=True/AdmissionCheck "); is { // the next step evicts it
			s = fmt.Sprintf("Evicted=True/DeactivatedDueToAdmissionCheck %q", "The workload is deactivated due to "+unquoted(target))
		}
		if !slices.Contains(before, s) && !slices.Contains(got, s) && !strings.HasPrefix(s, "Admitted=False") {
			missing = append(missing, s)
		}
	}
	evicts := workloadevict.IsEvicted(now) || apimeta.IsStatusConditionTrue(now.Status.Conditions, kueue.WorkloadDeactivationTarget) || !workload.IsActive(now)
	if lost := workload.HasQuotaReservation(now) && !workload.HasQuotaReservation(mine); lost && !evicts {
		missing = append(missing, "quota")
	}
	if workload.HasQuotaReservation(mine) && (!workload.HasQuotaReservation(now) || evicts && !workloadevict.IsEvicted(old)) {
		missing = append(missing, "no quota")
	}
	if len(missing) == 1 && strings.HasPrefix(missing[0], "QuotaReserved=False") {
		return "agree, with another text about a workload without quota", nil
	}
	if len(missing) > 0 {
		for part, why := range reconciledApart {
			if strings.Contains(missing[0], part) {
				return why, nil
			}
		}
		return "", []string{fmt.Sprintf("before %q\n   Kueue:  %q\n   engine: %q", before, missing, got), asJSON(u.Gates)}
	}
	return "agree", nil
}
