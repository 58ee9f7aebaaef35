package factory

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// AddAssumeFlag adds the flag for the estimate of a start.
func AddAssumeFlag(cmd *cobra.Command, d *time.Duration) {
	cmd.Flags().DurationVar(d, "assume-duration", 0, "assumed run time of jobs of unknown duration, for the estimated start, for example 4h")
}

// CheckAssume validates the value of the flag of AddAssumeFlag; 0 assumes none.
func CheckAssume(d time.Duration) error {
	if d < 0 {
		return errs.Usagef("invalid --assume-duration %s: must be greater than 0, for example 4h", d)
	}
	return nil
}
