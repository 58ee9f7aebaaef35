package suggest

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// RequestTimeout gives each request more time.
func RequestTimeout(d string) errs.Suggestion { return errs.Option("--request-timeout", d) }

// Kubeconfig reads another kubeconfig.
func Kubeconfig(file string) errs.Suggestion { return errs.Option("--kubeconfig", file) }

// Context uses another context of the kubeconfig.
func Context(name string) errs.Suggestion { return errs.Option("--context", name) }

// Sandbox lists the jobs of the sandbox, which needs no kubeconfig.
func Sandbox() errs.Suggestion {
	return errs.Run("list-jobs", "-A", "--sandbox").WithNote("a practice cluster on this machine")
}

// NamedSandbox runs the command on a sandbox.
func NamedSandbox(name string) errs.Suggestion {
	return errs.Option("--sandbox=" + name).WithNote("runs the command on a sandbox")
}

// AWSIdentity shows whether the AWS credentials are valid, and whose they are.
func AWSIdentity() errs.Suggestion {
	return errs.Other("aws", "sts", "get-caller-identity").WithNote("for EKS: shows whether the AWS credentials are valid")
}

// CanI checks whether the user has a permission. For a namespaced kind, namespace "" is all namespaces.
func CanI(verb, resource string, namespaced bool, namespace string) errs.Suggestion {
	args := []string{"kubectl", "auth", "can-i", verb, resource}
	switch {
	case namespace != "":
		args = append(args, "-n", namespace)
	case namespaced:
		args = append(args, "-A")
	}
	return errs.Other(args...)
}
