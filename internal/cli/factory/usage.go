package factory

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Invalid returns the usage error about the value of a flag. must says what is valid: "must be at least 1".
func Invalid(flag string, value any, must string) *errs.Error {
	return errs.Usagef("invalid --%s %q: %s", flag, fmt.Sprint(value), must)
}

// Excludes returns the usage error about two flags that cannot be used together.
func Excludes(flag, other string) *errs.Error {
	return errs.Usagef("--%s cannot be used with --%s", flag, other)
}

// Requires returns the usage error about a flag that has no effect without another: "--replace" or "--wait or --follow".
func Requires(flag, others string) *errs.Error {
	return errs.Usagef("--%s requires %s", flag, others)
}
