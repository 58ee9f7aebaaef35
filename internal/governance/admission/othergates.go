package admission

import (
	"context"
	"errors"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// Gate is a feature gate of Kueue and whether it is on.
type Gate struct {
	Name string
	On   bool
}

// OtherGates returns, for each of some errors of [Validate], the feature gates that decide about it: with such a gate switched
// from what it is to this value, Kueue's webhook does not return the error. They are sorted by name.
func OtherGates(ctx context.Context, job []byte, refusals []error) [][]Gate {
	out := make([][]Gate, len(refusals))
	t := table()
	for _, g := range t.gates {
		if g.locked {
			continue
		}
		on := !t.Enabled(g.name)
		err := validateWith(ctx, job, g, on)
		if err != nil && !errors.Is(err, ErrRefused) {
			continue
		}
		for i, refusal := range refusals {
			if !refuses(err, refusal) {
				out[i] = append(out[i], Gate{string(g.name), on})
			}
		}
	}
	for _, gates := range out {
		slices.SortFunc(gates, func(a, b Gate) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}

// validateWith is Validate with another value of a gate.
func validateWith(ctx context.Context, job []byte, g gate, on bool) error {
	defer switched(g.name, on)()
	return Validate(ctx, job)
}

// refuses reports whether a refusal is among the errors of Validate.
func refuses(err, refusal error) bool {
	var all utilerrors.Aggregate
	return errors.As(err, &all) && slices.ContainsFunc(all.Errors(), func(e error) bool { return e.Error() == refusal.Error() })
}
