package core

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/casebook"
)

type (
	reconciled struct {
		Key       string
		Ready     *config.WaitForPodsReady
		Retention *time.Duration
	}
	outcome struct {
		Workload *kueue.Workload // nil if there is none
		After    time.Duration
		Error    string
	}
)

// Reconcile is what Kueue's function of this name was.
func (r *WorkloadReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	test := casebook.Test("runReconcileTestCases")
	u := casebook.Unit{Test: test}
	if test != "" {
		in := reconciled{Key: req.String()}
		if w := r.waitForPodsReady; w != nil {
			in.Ready = &config.WaitForPodsReady{}
			in.Ready.Timeout.Duration = w.timeout
		}
		if w := r.workloadRetention; w != nil {
			in.Retention = w.afterFinished
		}
		u.Objects, u.Given, u.Now = casebook.All(r.client), casebook.JSON(in), r.clock.Now()
	}
	result, err := r.reconcileOfKueue(ctx, req)
	if test != "" {
		out := outcome{After: result.RequeueAfter}
		w := &kueue.Workload{}
		if r.client.Get(ctx, req.NamespacedName, w) == nil {
			out.Workload = w
		}
		if err != nil {
			out.Error = err.Error()
		}
		u.Result = casebook.JSON(out)
		u.Save()
	}
	return result, err
}
