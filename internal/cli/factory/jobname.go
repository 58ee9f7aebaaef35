package factory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// JobArgument is a job on the command line: NAME, KIND/NAME as -o name prints it
// (pytorchjob.kubeflow.org/x), or NAMESPACE/NAME as errors and pages show it. The kind is
// Workload where the name is that of the job's Workload, as get-queue -o name prints it.
type JobArgument struct {
	Namespace string // "" where the argument has none
	Kind      string // as kinds.JobNames has it, or Workload; "" where it is not given
	Name      string
}

// workloadWord is the kind of a Workload in an argument.
const workloadWord = "workload"

// SplitJob reads an argument. A bare name has the kind given with --kind. Both kinds must be
// the same. A word before the slash is a namespace, unless it is a kind or nearly one.
func SplitJob(argument, given string) (JobArgument, error) {
	prefix, name, found := strings.Cut(argument, "/")
	if !found {
		return JobArgument{Kind: given, Name: argument}, nil
	}
	word, _, dotted := strings.Cut(prefix, ".")
	k, ok := kinds.JobNamed(word)
	alike := slices.DeleteFunc(kinds.JobNames(), func(kind string) bool { return 2*len(kind) < len(word) || 2*len(word) < len(kind) })
	namespace := !ok && !dotted && prefix != "" && kinds.NotNamespace(prefix) == "" && len(errs.Near(word, alike)) == 0
	switch {
	case name == "":
		return JobArgument{}, errs.Usagef("the job name in %q is empty", argument)
	case strings.Contains(name, "/"):
		return JobArgument{}, errs.Usagef("invalid job name %q: must be NAME, KIND/NAME or NAMESPACE/NAME", argument)
	case BareName(argument, workloadWord) == name:
		return JobArgument{Kind: kinds.Workload.Kind, Name: name}, nil
	case namespace:
		return JobArgument{Namespace: prefix, Kind: given, Name: name}, nil
	case !ok:
		return JobArgument{}, errs.Usagef("unknown job kind %q", prefix).WithFact("must be one of", strings.Join(kinds.JobNames(), ", "))
	case given != "" && given != k.Kind:
		return JobArgument{}, errs.Usagef("%s is a %s, --kind is %s", argument, k.Kind, given)
	}
	return JobArgument{Kind: k.Kind, Name: name}, nil
}

// In returns the namespace of the argument, or the one given with -n. Both must be the
// same.
func (a JobArgument) In(given string) (string, error) {
	if a.Namespace != "" && given != "" && a.Namespace != given {
		return "", errs.Usagef("job %s/%s is in namespace %s, --namespace is %s", a.Namespace, a.Name, a.Namespace, given)
	}
	return cmp.Or(a.Namespace, given), nil
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
// to it or the only argument gives, and kind or --namespace if the name states it.
func TakeJob(name, kind *string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		if *name, err = JobName(*name, args); err != nil {
			return err
		}
		a, err := SplitJob(*name, *kind)
		if err != nil {
			return err
		}
		*name, *kind = a.Name, a.Kind
		return a.Choose(cmd)
	}
}

// Choose makes the namespace of the argument, where it has one, the one of the command. It
// is an error if --namespace names another one.
func (a JobArgument) Choose(cmd *cobra.Command) error {
	namespace := cmd.Flag("namespace")
	if a.Namespace == "" || namespace == nil {
		return nil
	}
	in, err := a.In(namespace.Value.String())
	if err != nil {
		return err
	}
	return namespace.Value.Set(in)
}

var listsJobs = errs.Run("list-jobs").WithNote("shows the names")

// JobName returns the job's name given as a flag or as the only argument.
func JobName(flag string, args []string) (string, error) {
	switch {
	case slices.Contains(args, ""):
		return "", errs.Usagef("the job name is empty").Suggest(listsJobs)
	case len(args) > 1:
		return "", errs.Usagef("too many arguments: %s", strings.Join(args, ", ")).WithAdvice("run the command once for each job")
	case len(args) == 1 && flag != "" && flag != args[0]:
		return "", errs.Usagef("two different job names: %s and %s", flag, args[0]).Suggest(errs.Option("--name", flag))
	case len(args) == 1:
		return args[0], nil
	case flag == "":
		return "", errs.Usagef("a job name is required").Suggest(listsJobs)
	}
	return flag, nil
}

// AddJobNameFlag defines --job-name and --name, which are the same flag.
func AddJobNameFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "name", "", "name of the job (also --job-name, or an argument)")
	takeSpellings(cmd, map[string]string{"job-name": "name", "volume": "volumes", "persistent-volume-claim": "persistent-volume-claims"})
}

// takeSpellings gives flags of a command second spellings.
func takeSpellings(cmd *cobra.Command, names map[string]string) {
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, n string) pflag.NormalizedName {
		return pflag.NormalizedName(cmp.Or(names[n], n))
	})
}
