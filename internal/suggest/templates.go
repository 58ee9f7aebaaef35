package suggest

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// ListInstanceTypes lists the known instance types and those of the cluster's nodes.
func ListInstanceTypes() errs.Suggestion {
	return errs.Run("list-instance-types").WithNote("lists the known types and those of the cluster's nodes")
}

// ListTemplates lists the templates of a namespace.
func ListTemplates(namespace string) errs.Suggestion {
	return errs.Run("list-templates", "-n", namespace)
}

// GetTemplate shows a template.
func GetTemplate(namespace, name string) errs.Suggestion {
	return errs.Run("get-template", name, "-n", namespace).WithNote("shows the template")
}

// StartFromFile starts a job from a file.
func StartFromFile(path string) errs.Suggestion {
	return errs.Run("start-job", "-f", path)
}

// ReplaceTemplate replaces the template of that name.
func ReplaceTemplate() errs.Suggestion { return errs.Option("--replace") }

// ValidateTemplate lists all faults of a template.
func ValidateTemplate() errs.Suggestion { return errs.Run("validate-template", "FILE") }

// File starts from a manifest of the user.
func File() errs.Suggestion {
	return errs.Run("start-job", "-f", "FILE").WithNote("starts a manifest of your own")
}
