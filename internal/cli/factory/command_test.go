package factory

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

type testOptions struct {
	steps   []string
	invalid error
}

func (o *testOptions) Validate() error {
	o.steps = append(o.steps, "validate")
	return o.invalid
}

func TestRunE(t *testing.T) {
	failed := errors.New("failed")
	step := func(name string, err error) func(context.Context, *testOptions) error {
		return func(_ context.Context, o *testOptions) error { o.steps = append(o.steps, name); return err }
	}
	for _, tt := range []struct {
		name           string
		taken, invalid error
		test           func(context.Context, *testOptions) error
		steps          []string
		err            error
	}{
		{name: "runs", steps: []string{"take x", "validate", "run"}},
		{name: "a test replaces the run", test: step("test", nil), steps: []string{"take x", "validate", "test"}},
		{name: "wrong arguments", taken: failed, steps: []string{"take x"}, err: failed},
		{name: "wrong options", invalid: failed, steps: []string{"take x", "validate"}, err: failed},
		{name: "the error of the run", test: step("test", failed), steps: []string{"take x", "validate", "test"}, err: failed},
	} {
		o := &testOptions{invalid: tt.invalid}
		take := func(_ *cobra.Command, args []string) error {
			o.steps = append(o.steps, "take "+args[0])
			return tt.taken
		}
		cmd := &cobra.Command{Use: "c", SilenceErrors: true, SilenceUsage: true, RunE: RunE(o, take, step("run", nil), tt.test)}
		cmd.SetArgs([]string{"x"})
		if err := cmd.ExecuteContext(t.Context()); err != tt.err || !slices.Equal(o.steps, tt.steps) {
			t.Errorf("%s: %v, steps %q", tt.name, err, o.steps)
		}
	}
}
