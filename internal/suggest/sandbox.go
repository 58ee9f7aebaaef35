package suggest

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// CreateSandbox creates a sandbox from a scenario.
func CreateSandbox(name, scenario string) errs.Suggestion {
	return errs.Run("sandbox", "create", name, "--scenario", scenario)
}

// DeleteSandbox deletes a sandbox.
func DeleteSandbox(name string) errs.Suggestion { return errs.Run("sandbox", "delete", name) }

// ListSandboxes lists the sandboxes on this machine.
func ListSandboxes() errs.Suggestion { return errs.Run("sandbox", "list") }

// Scenario chooses another scenario.
func Scenario(name string) errs.Suggestion { return errs.Option("--scenario", name) }
