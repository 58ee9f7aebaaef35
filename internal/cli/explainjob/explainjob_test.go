package explainjob

import (
	"context"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args       []string
		name, kind string
		code       errs.Exit
	}{
		{args: []string{"a"}, name: "a"},
		{args: []string{"--name", "a", "--kind", "mpijob"}, name: "a", kind: "MPIJob"},
		{args: []string{"--job-name", "a", "a"}, name: "a"},
		{args: []string{"a", "b"}, code: errs.Usage},
		{args: []string{"--name", "a", "b"}, code: errs.Usage},
		{code: errs.Usage},
	} {
		var got *Options
		cmd := NewCmd(&factory.Factory{}, func(_ context.Context, o *Options) error { got = o; return nil })
		cmd.SetArgs(c.args)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.Execute()
		if errs.ExitOf(err) != c.code {
			t.Errorf("%v: %v", c.args, err)
			continue
		}
		if c.code == errs.OK && (got == nil || got.Name != c.name || got.Kind != c.kind) {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
}
