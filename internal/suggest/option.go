package suggest

import "github.com/hyperpod-cli/hyperpod/internal/errs"

// PriorityClass sets the priority class of a job.
func PriorityClass(class string) errs.Suggestion { return errs.Option("--priority", class) }

// QueueName sets the queue of a job.
func QueueName(queue string) errs.Suggestion { return errs.Option("--queue-name", queue) }

// NamespaceQueue sets the namespace and the queue of a job.
func NamespaceQueue(namespace, queue string) errs.Suggestion {
	return errs.Option("--namespace", namespace, "--queue-name", queue)
}

// NodeCount sets the number of nodes of a job.
func NodeCount(n string) errs.Suggestion { return errs.Option("--node-count", n) }

// Accelerators sets the accelerators of each node of a job.
func Accelerators(n string) errs.Suggestion { return errs.Option("--accelerators", n) }

// VCPU sets the cores of each pod of a job.
func VCPU(cores string) errs.Suggestion { return errs.Option("--vcpu", cores) }

// Memory sets the memory of each pod of a job.
func Memory(amount string) errs.Suggestion { return errs.Option("--memory", amount) }

// RestartPolicy sets the restart policy of the pods of a job.
func RestartPolicy(policy string) errs.Suggestion { return errs.Option("--restart-policy", policy) }

// AutoResume turns on auto-resume of a job.
func AutoResume() errs.Suggestion { return errs.Option("--auto-resume", "--max-retry", "N") }

// AllHolders lists every job that holds what another one needs.
func AllHolders() errs.Suggestion { return errs.Option("--all-holders") }
