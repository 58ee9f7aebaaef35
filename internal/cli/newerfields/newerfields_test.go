package newerfields

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/templates/schema"
)

// A field that nobody knows is a reason for --allow-unknown, a misspelt one is not. An interrupt stays an interrupt.
func TestOffer(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		near   []string
		offers bool
		want   error
	}{
		"unknown":               {ctx: t.Context(), offers: true},
		"misspelt":              {ctx: t.Context(), near: []string{"replicas"}},
		"interrupted":           {ctx: cancelled, want: context.Canceled},
		"misspelt, interrupted": {ctx: cancelled, near: []string{"replicas"}, want: context.Canceled},
	} {
		streams, _ := output.Test()
		d := &Decision{Factory: &factory.Factory{IO: streams, Env: func(string) string { return "" }}, Patience: time.Second, Does: "sends"}
		if d.Allow(c.ctx)(schema.Field{APIVersion: "batch/v1", Kind: "Job", Path: "spec.a", Own: "spec.a", Near: c.near}) {
			t.Errorf("%s: allowed without a cluster", name)
		}
		err := d.Offer(c.ctx, errs.Usagef("no field"))
		if strings.Contains(errs.Text(err, false), "--allow-unknown") != c.offers || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if other := errs.New("the wait was interrupted", ""); d.Offer(c.ctx, other) != error(other) {
			t.Errorf("%s: another error changes", name)
		}
	}
}
