package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// wanted says in words what a flag of each type takes.
var wanted = map[string]string{
	"int":      "a whole number",
	"int32":    "a whole number",
	"int64":    "a whole number",
	"float64":  "a number",
	"bool":     "true or false",
	"duration": "a duration such as 90s, 15m or 2h",
	"age":      "a duration such as 36h, 7d or 7d12h",
	"time":     "a duration such as 7d, a date such as 2026-01-31, or a time in RFC 3339",
}

// otherWords are names of options in other tools, most without a plural s, and our options that
// mean the same.
var otherWords = map[string]string{
	"node": "node-count", "num-node": "node-count", "nnode": "node-count", "worker": "node-count", "replica": "node-count", "instance-count": "node-count",
	"gpu": "accelerators", "ngpu": "accelerators", "gpus-per-node": "accelerators", "gpu-per-node": "accelerators", "nproc-per-node": "tasks-per-node",
	"cpu": "vcpu", "mem": "memory", "queue": "queue-name", "local-queue": "queue-name", "priority-class": "priority",
	"env-var": "environment", "file": "config-file", "filename": "config-file", "manifest": "config-file",
	"me": "mine", "partition": "queue-name", "qos": "priority", "time": "active-deadline", "time-limit": "active-deadline",
	"gres": "accelerators", "cpus-per-task": "vcpu", "constraint": "instance-type", "array": "sweep", "account": "namespace", "user": "mine",
}

// flagError explains a command line that cannot be parsed: no words of the Go
// libraries, and near names for an unknown flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var e *errs.Error
	switch {
	case errors.As(err, &e):
		own := *e // a copy, for what is added to it below
		own.Facts, own.Try = slices.Clip(e.Facts), slices.Clip(e.Try)
		e = &own
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		what, known := wanted[f.Value.Type()]
		if !known {
			return errs.Usagef("invalid --%s %q", f.Name, invalid.GetValue()).Suggest(helpOf(cmd)).WithCause(err)
		}
		return errs.Usagef("invalid --%s %q: must be %s", f.Name, invalid.GetValue(), what).WithCause(err)
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		e = errs.Usagef("unknown flag --%s", name)
		near := errs.Near(name, flagNames(cmd))
		if same := cmp.Or(otherWords[name], otherWords[strings.TrimSuffix(name, "s")]); slices.Contains(flagNames(cmd), same) {
			near = []string{same}
		}
		if len(near) > 0 {
			e.WithFact("did you mean", "--"+strings.Join(near, ", --"))
		}
	case errors.As(err, &unknown) && unknown.GetSpecifiedName() == "=": // -A=
		e = errs.Usagef("the flag has no value after =").WithAdvice("omit the =, or add a value; check that shell variables are set")
	case errors.As(err, &unknown):
		e = errs.Usagef("unknown flag -%s", unknown.GetSpecifiedName())
		if short := unknown.GetSpecifiedShortnames(); strings.ContainsAny(short[:1], "0123456789") {
			e = errs.Usagef("-%s looks like a flag", short).Suggest(errs.Option("--", "-"+short).WithNote("after two dashes, words are arguments"))
		}
	default:
		e = errs.Usagef("%s", err.Error())
	}
	return e.Suggest(helpOf(cmd)).WithCause(err)
}

// flagNames returns the options that a command takes, the hidden ones apart.
func flagNames(cmd *cobra.Command) (out []string) {
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			out = append(out, f.Name)
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return out
}
