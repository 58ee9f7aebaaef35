// Package suggest names the commands and options of this program for packages that
// decide, so that they hold no command lines: each function makes one suggestion.
// The names of commands and flags stand here and in internal/cli only; a test in
// internal/cli checks that they exist.
package suggest

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// GetJob shows a job.
func GetJob(namespace, name string) errs.Suggestion {
	return errs.Run("get-job", name, "-n", namespace)
}

// GetLog shows the logs of a job.
func GetLog(namespace, name string) errs.Suggestion {
	return errs.Run("get-log", name, "-n", namespace)
}

// Unsuspend lets a suspended job be queued again.
func Unsuspend(namespace, name string) errs.Suggestion {
	return errs.Run("patch-job", "unsuspend", name, "-n", namespace)
}
