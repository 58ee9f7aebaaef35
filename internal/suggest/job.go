package suggest

import (
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Reprioritize gives a job another priority class.
func Reprioritize(namespace, name, class string) errs.Suggestion {
	return errs.Run("patch-job", "priority", name, "--priority", class, "-n", namespace)
}

// Replace starts a job again with more options, in its own place.
func Replace(namespace, name string, options ...string) errs.Suggestion {
	return errs.Run("start-job", append([]string{"--from", name, "--replace"}, options...)...).WithArgs("-n", namespace)
}

// StartFrom starts a copy of a job of another namespace in a queue.
func StartFrom(namespace, name, target, queue string) errs.Suggestion {
	return errs.Run("start-job", "--from", namespace+"/"+name, "--name", name, "--queue-name", queue, "-n", target)
}

// Scale gives a service replicas again, empty for kinds that cannot be scaled so.
func Scale(k kinds.Job, namespace, name string) []errs.Suggestion {
	if !k.Scales {
		return nil
	}
	return []errs.Suggestion{errs.Other("kubectl", "scale", k.FullName()+"/"+name, "--replicas", "1", "-n", namespace)}
}

// CancelJobs cancels jobs of a namespace.
func CancelJobs(namespace string, names ...string) errs.Suggestion {
	return errs.Run("cancel-job", names...).WithArgs("-n", namespace)
}

// DeleteGroup deletes the Workload of a pod group, with its pods.
func DeleteGroup(namespace, group string) errs.Suggestion {
	return errs.Other("kubectl", "delete", "workloads.kueue.x-k8s.io", group, "-n", namespace).WithNote("requires permission to delete it")
}

// ServerDryRun lets the API server check an object.
func ServerDryRun() errs.Suggestion {
	return errs.Option("--dry-run=server").WithNote("the API server validates the object")
}

// AssumeDuration sets the run time of jobs of unknown duration.
func AssumeDuration() errs.Suggestion { return errs.Option("--assume-duration", "DURATION") }

// GetQuota shows the quota of all teams.
func GetQuota() errs.Suggestion { return errs.Run("get-quota") }
