package factory

import (
	"context"

	"github.com/spf13/cobra"
)

// Options are the options of one command: what was typed on its command line, and
// nothing that is found out later.
type Options interface {
	// Validate checks the options alone. It reads no cluster and no file, and changes
	// nothing.
	Validate() error
}

// RunE returns a command's RunE. It passes the arguments to take, which puts them into
// the options and may be nil, validates the options, and calls runF, or run where runF
// is nil. Tests pass runF to check the options alone.
func RunE[O Options](o O, take func(cmd *cobra.Command, args []string) error, run, runF func(context.Context, O) error) func(*cobra.Command, []string) error {
	if runF != nil {
		run = runF
	}
	return func(cmd *cobra.Command, args []string) error {
		if take != nil {
			if err := take(cmd, args); err != nil {
				return err
			}
		}
		if err := o.Validate(); err != nil || cmd.Context().Value(parseOnly{}) != nil {
			return err
		}
		return run(cmd.Context(), o)
	}
}

// TakeJobName returns a take for RunE that sets name to the job's name, which flag
// holds or the only argument gives.
func TakeJobName(name, flag *string) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) (err error) {
		*name, err = JobName(*flag, args)
		return err
	}
}

type parseOnly struct{}

// ParseOnly returns a context with which a command ends after it has validated its options.
func ParseOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, parseOnly{}, true)
}
