package integration

import (
	"context"
	"errors"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/component-base/featuregate"

	"github.com/hyperpod-cli/hyperpod/internal/governance/embedded"
)

// OtherGates returns, for each of some errors of [Validate], the feature gates that decide about it: with such a gate switched
// from what it is to this value, Kueue's webhook does not return the error. They are sorted by name.
func OtherGates(ctx context.Context, job []byte, refusals []error) [][]embedded.Gate {
	out := make([][]embedded.Gate, len(refusals))
	for _, g := range embedded.Switched() {
		err := validateWith(ctx, job, g)
		if err != nil && !errors.Is(err, ErrRefused) {
			continue
		}
		for i, refusal := range refusals {
			if !refuses(err, refusal) {
				out[i] = append(out[i], g)
			}
		}
	}
	return out
}

// validateWith is Validate with another value of a gate.
func validateWith(ctx context.Context, job []byte, g embedded.Gate) error {
	defer embedded.Switch(featuregate.Feature(g.Name), g.On)()
	return Validate(ctx, job)
}

// refuses reports whether a refusal is among the errors of Validate.
func refuses(err, refusal error) bool {
	var all utilerrors.Aggregate
	return errors.As(err, &all) && slices.ContainsFunc(all.Errors(), func(e error) bool { return e.Error() == refusal.Error() })
}
