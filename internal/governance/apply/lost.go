package apply

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// carriedOut reports whether an operation was made although it failed: its answer was lost, or a server on the way gave up.
func carriedOut(ctx context.Context, c *kube.Client, op policy.Operation, err error) bool {
	var answer *kube.StatusError
	var changed *ChangedError
	if ctx.Err() != nil || errors.As(err, &changed) || errors.As(err, &answer) && answer.Code < http.StatusInternalServerError {
		return false
	}
	r, err := served(ctx, c, resources[op.Kind])
	if err != nil {
		return false
	}
	var object map[string]any
	err = c.Get(ctx, r, op.Namespace, op.Name, &object)
	if op.Action == policy.Delete {
		return kube.IsNotFound(err)
	}
	want := op.Body()
	if r.Version == "v1beta1" {
		want = policy.V1Beta1(want)
	}
	return err == nil && has(object, want)
}

// has reports whether a value of an object has everything that is wanted of it.
func has(have, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		for k, v := range w {
			ok = ok && has(h[k], v)
		}
		return ok
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return false
		}
		for i := range w {
			if !has(h[i], w[i]) {
				return false
			}
		}
		return true
	}
	x, isX := number(have)
	y, isY := number(want)
	if isX && isY {
		return x.Cmp(y) == 0
	}
	return have == want
}

// number returns a value that is a number, or a quantity.
func number(v any) (resource.Quantity, bool) {
	var out resource.Quantity
	switch v := v.(type) {
	case float64:
		return *resource.NewMilliQuantity(int64(v*1000), resource.DecimalSI), true
	case int64:
		return *resource.NewQuantity(v, resource.DecimalSI), true
	case int32:
		return *resource.NewQuantity(int64(v), resource.DecimalSI), true
	case string:
		out, err := resource.ParseQuantity(v)
		return out, err == nil
	}
	return out, false
}
