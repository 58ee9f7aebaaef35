package factory

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// SplitJob splits the name of a job as -o name prints it (pytorchjob.kubeflow.org/x)
// into its kind, as kinds.JobNames has it, and its name. A bare name has the kind given
// with --kind. Both kinds must be the same.
func SplitJob(argument, given string) (kind, name string, err error) {
	prefix, name, found := strings.Cut(argument, "/")
	if !found {
		return given, argument, nil
	}
	word, _, _ := strings.Cut(prefix, ".")
	k, ok := kinds.JobNamed(word)
	switch {
	case !ok:
		return "", "", errs.Usagef("unknown job kind %q", prefix).WithFact("must be one of", strings.Join(kinds.JobNames(), ", "))
	case given != "" && given != k.Kind:
		return "", "", errs.Usagef("%s is a %s, --kind is %s", argument, k.Kind, given)
	case name == "":
		return "", "", errs.Usagef("the job name in %q is empty", argument)
	}
	return k.Kind, name, nil
}

// BareName returns the name in an argument that may have the form that -o name prints: KIND/NAME or KIND.GROUP/NAME. kind is
// in lower case and singular; an argument of another kind is returned as it is.
func BareName(argument, kind string) string {
	prefix, name, found := strings.Cut(argument, "/")
	word, _, _ := strings.Cut(strings.ToLower(prefix), ".")
	if found && strings.TrimSuffix(word, "s") == kind {
		return name
	}
	return argument
}

// TakeJob returns a take for RunE that sets name to the job's name, which the flag bound
// to it or the only argument gives, and kind if the name states it.
func TakeJob(name, kind *string) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) (err error) {
		if *name, err = JobName(*name, args); err != nil {
			return err
		}
		*kind, *name, err = SplitJob(*name, *kind)
		return err
	}
}
