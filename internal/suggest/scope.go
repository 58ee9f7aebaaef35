package suggest

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// Namespace names the namespace.
func Namespace(name string) errs.Suggestion { return errs.Option("--namespace", name) }

// SaveSnapshot saves the cluster to a file.
func SaveSnapshot(file string) errs.Suggestion { return errs.Run("save-snapshot", file) }

// Force replaces a file that is not a snapshot.
func Force() errs.Suggestion { return errs.Option("--force").WithNote("replaces the file") }
