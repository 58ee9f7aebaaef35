package startjob

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// Options are the flags of start-job, in the groups of its help.
type Options struct {
	Factory *factory.Factory

	Source
	Program
	Size
	Elastic
	Queueing
	Nodes
	Storage
	Lifecycle
	Sweep
	Submission

	// CommandLine is the command line that the job remembers. It holds no value that may be a secret.
	CommandLine string
	// Given are the names of the flags that were given.
	Given []string
	// BeyondSlurm are the given flags that Slurm has nothing for.
	BeyondSlurm []string
	// BeyondScript are those that cannot override lines of a script of Slurm.
	BeyondScript []string
}

// groups returns the groups in the order of the help.
func (o *Options) groups() []factory.OptionGroup {
	return []factory.OptionGroup{&o.Source, &o.Program, &o.Size, &o.Elastic, &o.Queueing, &o.Nodes, &o.Storage, &o.Lifecycle, &o.Sweep, &o.Submission}
}

// Validate checks the options alone: it reads no cluster and no file.
func (o *Options) Validate() error {
	if err := factory.ValidateGroups(o.groups()); err != nil {
		return err
	}
	if o.Timeout != nil && o.Wait == "" && !o.Follow && !o.Replace && o.UploadPVC == "" {
		return factory.Requires("timeout", "--wait, --follow, --replace or --upload-pvc").Suggest(errs.Option("--wait", "--timeout", o.Timeout.String()))
	}
	if err := o.validateName(); err != nil {
		return err
	}
	if o.Edit && o.File == "-" {
		return errs.Usagef("--edit cannot be used with -f -: the editor needs the standard input").Suggest(errs.Option("-f", "FILE", "--edit"))
	}
	if o.Edit && o.Upload != "" {
		return factory.Excludes("edit", "upload").WithAdvice("edit the manifest first: --dry-run=client prints it")
	}
	if err := o.validateSweep(); err != nil {
		return err
	}
	if format := o.Factory.Global.Output; o.Follow && format != "" {
		return factory.Excludes("follow", "output").Suggest(errs.Option("--wait", "-o", format), errs.Run("get-log", "NAME", "-f", "-o", "json"))
	}
	_, err := o.values()
	return err
}

// validateName checks that the job gets a name, and one of its own if it repeats another job.
func (o *Options) validateName() error {
	name := o.jobName()
	repeated, _ := o.repeated()
	from := repeated.Name
	switch {
	case o.Name != "" && catalogue.IsFile(o.Name):
		return factory.Invalid("name", o.Name, "must be the name of a job").Suggest(errs.Run("start-job", "-f", o.Name).WithNote("starts the file"))
	case len(name) > 253:
		return errs.Usagef("invalid --name: must have at most 253 characters (got %d)", len(name))
	case o.From != "" && (name == "" || name == from && !o.canReuseName()):
		e := errs.Usagef("a repeated job needs a name of its own")
		if name != "" {
			e.Why = name + " is the name of the job in --from"
		}
		return e.Suggest(errs.Option("--name", from+"-2"), errs.Option("--generate-name"), errs.Option("--replace").WithNote("replaces "+from))
	case name == "" && o.File == "" && o.Recipe == "":
		return nameRequired()
	}
	return nil
}

func nameRequired() error {
	return errs.Usagef("--name is required").Suggest(errs.Run("start-job", "--name", "NAME"), errs.Run("start-job", "-f", "MANIFEST"))
}

// gave reports whether something typed sets what a flag sets.
func (o *Options) gave(flag string) bool {
	return slices.Contains(o.Given, flag) || slices.Contains(o.Given, "set") || flag == "name" && o.jobName() != ""
}

// jobName returns the name of the job: --name, else the name of the job in --from if the new job can have it too.
func (o *Options) jobName() string {
	if o.Name == "" && o.From != "" && o.canReuseName() {
		if from, _ := o.repeated(); from.Kind != kinds.Workload.Kind {
			return from.Name
		}
	}
	return o.Name
}

// canReuseName reports whether a repeated job can have the name of the job in --from.
func (o *Options) canReuseName() bool {
	from, _ := o.repeated()
	namespace := from.Namespace
	here := o.Factory.Global.Namespace
	return o.GenerateName || o.Replace || namespace != "" && here != "" && namespace != here
}

// values returns what the flags state about the job. Namespace, queue and priority are missing: the cluster has a say in
// them.
func (o *Options) values() (values.Values, error) {
	v := values.Values{Name: o.jobName()}
	for _, set := range []func(*values.Values) error{
		o.Source.set, o.Program.set, o.Size.set, o.Elastic.set, o.Nodes.set, o.Storage.set, o.Lifecycle.set,
	} {
		if err := set(&v); err != nil {
			return v, err
		}
	}
	return v, nil
}

// oldNames maps flags of the official CLI v3 to the flags that mean the same.
var oldNames = map[string]string{
	"replica-count": "node-count", "max-replica-count": "max-node-count", "volume": "volumes", "env": "environment",
}

func acceptOldNames(fs *pflag.FlagSet) {
	before := fs.GetNormalizeFunc()
	fs.SetNormalizeFunc(func(fs *pflag.FlagSet, name string) pflag.NormalizedName {
		if now, old := oldNames[name]; old {
			name = now
		}
		return before(fs, name)
	})
}
