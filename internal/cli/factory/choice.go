package factory

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Choice is a flag whose value is one of a few words, in upper or lower case. Any other word is an error when
// the command line is parsed.
type Choice struct {
	Name, Usage string
	Words       []string
	// Bare is what the flag means without a value; "": it needs one.
	Bare string
	// Read, when not nil, is given other spellings, and returns one of the words.
	Read func(string) string
}

// AddChoice defines a Choice, with what value holds as its default, and completes it.
func AddChoice(cmd *cobra.Command, value *string, c Choice) {
	cmd.Flags().Var(&choice{c, value}, c.Name, c.Usage)
	cmd.Flags().Lookup(c.Name).NoOptDefVal = c.Bare
	Complete(cmd, c.Name, c.Words...)
}

type choice struct {
	Choice
	value *string
}

func (c *choice) String() string { return *c.value }

func (c *choice) Type() string { return "string" }

func (c *choice) Set(given string) error {
	word := given
	if c.Read != nil {
		word = c.Read(given)
	}
	for _, w := range c.Words {
		if strings.EqualFold(w, word) {
			*c.value = w
			return nil
		}
	}
	e := errs.Usagef("invalid --%s %q", c.Name, given).WithFact("must be one of", strings.Join(c.Words, ", "))
	if near := errs.Near(given, c.Words); len(near) > 0 {
		e.WithFact("did you mean", strings.Join(near, ", ")).Suggest(errs.Option("--" + c.Name + "=" + near[0]))
	}
	return e
}

// AddJobFlags defines --name and --kind for a command on one job, and completes the
// job's name, as the flag and as the argument.
func (f *Factory) AddJobFlags(cmd *cobra.Command, name, kind *string) {
	AddJobNameFlag(cmd, name)
	AddKindFlag(cmd, kind)
	f.CompleteFlag(cmd, "name", Jobs)
	f.CompleteFirstArg(cmd, Jobs)
}

// AddKindFlag defines --kind for commands on one job.
func AddKindFlag(cmd *cobra.Command, kind *string) {
	AddKindFlagFor(cmd, kind, "kind of the job, if several kinds have a job with this name")
}

// AddKindFlagFor is AddKindFlag with another help text. The kind is set as
// kinds.JobNames has it; a plural or a short name is fine.
func AddKindFlagFor(cmd *cobra.Command, kind *string, usage string) {
	AddChoice(cmd, kind, Choice{Name: "kind", Usage: usage, Words: kinds.JobNames(), Read: func(given string) string {
		k, ok := kinds.JobNamed(given)
		if !ok {
			return given
		}
		return k.Kind
	}})
}

// CheckTimeout refuses a negative --timeout; nil is none.
func CheckTimeout(d *time.Duration) error {
	if d != nil && *d < 0 {
		return errs.Usagef("invalid --timeout %q: must be at least 0", *d).Suggest(errs.Option("--timeout", (-*d).String()))
	}
	return nil
}

// The values of --dry-run. Every command with the flag has them.
const (
	DryRunNone   = "none"   // do it
	DryRunClient = "client" // say what would be done
	DryRunServer = "server" // let the server check it, without doing it
)

// AddDryRunFlag defines --dry-run, whose bare form means client; shows says what
// a dry run tells.
func AddDryRunFlag(cmd *cobra.Command, value *string, shows string) {
	*value = DryRunNone
	AddChoice(cmd, value, Choice{Name: "dry-run", Usage: shows + ": none|client|server", Bare: DryRunClient,
		Words: []string{DryRunNone, DryRunClient, DryRunServer}})
}

// DryRunSuffix returns the words that a dry run adds to a sentence, as in kubectl; "" without a dry run.
func DryRunSuffix(value string) string {
	if value == DryRunNone {
		return ""
	}
	return " (" + value + " dry run)"
}
