package api

import (
	"fmt"
	"net/http"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// evict answers the eviction API, which kubectl drain uses: it deletes a pod unless a
// PodDisruptionBudget forbids it.
func (s *Server) evict(c *call) error {
	if c.Method != http.MethodPost {
		return notAllowed(c)
	}
	m, err := c.object()
	if err != nil {
		return err
	}
	if name := object.Text(m, "metadata", "name"); name != "" && name != c.name {
		return badRequest(fmt.Sprintf("name in URL does not match name in Eviction object: %s != %s", c.name, name))
	}
	var opts metav1.DeleteOptions
	raw, err := store.Encode(object.Map(m, "deleteOptions"))
	if err != nil {
		return err
	}
	if err := kjson.Unmarshal(raw, &opts); err != nil {
		return badRequest("unable to decode DeleteOptions: " + err.Error())
	}
	for _, v := range opts.DryRun {
		c.dryRun = c.dryRun || v == metav1.DryRunAll
	}
	warnings, err := s.backend.Update(c.Context(), c.dryRun, func(st *store.Store) error {
		pod := st.Get(c.res.FullName(), c.namespace, c.name)
		if pod == nil {
			return notFound(c)
		}
		if err := precondition(c, opts, pod); err != nil {
			return err
		}
		if err := disruptable(st, pod); err != nil {
			return err
		}
		_, err := s.remove(c.res, st, pod, opts)
		return err
	})
	warn(c.w, warnings)
	if err != nil {
		return err
	}
	writeJSON(c.w, http.StatusCreated, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
	return nil
}

// disruptable returns an error if a PodDisruptionBudget needs the pod. Pods that have
// finished or do not run yet need no budget.
func disruptable(st *store.Store, pod *store.Object) error {
	if object.Text(pod.Map(), "status", "phase") != "Running" {
		return nil
	}
	for _, o := range st.List(budget.FullName(), pod.Namespace) {
		var b policyv1.PodDisruptionBudget
		if err := kjson.Unmarshal(o.Raw, &b); err != nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		healthy, total := 0, 0
		for _, p := range st.List("pods", pod.Namespace) {
			if selector.Matches(labels.Set(p.Labels)) {
				total++
				if object.Text(p.Map(), "status", "phase") == "Running" {
					healthy++
				}
			}
		}
		needs := total
		switch {
		case b.Spec.MinAvailable != nil:
			needs, err = intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, total, true)
		case b.Spec.MaxUnavailable != nil:
			needs, err = intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, total, true)
			needs = total - needs
		}
		if err != nil || healthy-1 >= needs {
			continue
		}
		e := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		e.ErrStatus.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause,
			Message: fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, needs, healthy)}}}
		return e
	}
	return nil
}
