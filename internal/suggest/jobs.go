package suggest

import (
	"strconv"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// ListJobs lists the jobs of a namespace.
func ListJobs(namespace string) errs.Suggestion { return errs.Run("list-jobs", "-n", namespace) }

// ListPods lists the pods of a job.
func ListPods(namespace, job string) errs.Suggestion {
	return errs.Run("list-pods", job, "-n", namespace)
}

// PodLog shows the log of one pod of a job.
func PodLog(namespace, job, pod string) errs.Suggestion {
	return errs.Run("get-log", job, "-n", namespace, "--pod", pod)
}

// Follow follows a log until the job ends.
func Follow(note string) errs.Suggestion { return errs.Option("-f").WithNote(note) }

// Pod chooses the pod of a name.
func Pod(name string) errs.Suggestion { return errs.Option("--pod", name) }

// Rank chooses the pod of a rank.
func Rank(n int) errs.Suggestion { return errs.Option("--rank", strconv.Itoa(n)) }

// Role chooses the pods of a role.
func Role(name string) errs.Suggestion { return errs.Option("--role", name) }

// Container chooses the container of a name.
func Container(name string) errs.Suggestion { return errs.Option("--container", name) }

// State chooses the jobs in a state.
func State(name string) errs.Suggestion { return errs.Option("--state", name) }

// ReplaceObjects changes objects that exist and differ.
func ReplaceObjects() errs.Suggestion { return errs.Option("--replace").WithNote("changes it") }

// GenerateName adds a suffix to the job's name.
func GenerateName() errs.Suggestion {
	return errs.Option("--generate-name").WithNote("adds a suffix")
}
