// Package startjob is `hyperpod start-job`.
package startjob

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/catalogue"
)

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "start-job [NAME]",
		Short: "Start a training job",
		Long: `Start a training job. The command renders a template, fills in the namespace,
queue, priority and node health, and submits the result.

The definition of the job is the first of these that exists:

  1. a job (--from), a file (--config-file), a recipe (--recipe) or a template
     (--template; list-templates shows the names, including the team's)
  2. the manifest NAME.yaml in the working directory or its folder jobs, unless
     --image, --entry-script or --command is given
  3. the template NAME in your templates folder, or embedded
  4. the default template of the settings, or else the embedded template pytorch

--config-file takes manifests, a configuration file of the official CLI v2, or
an sbatch script of Slurm. Flags override the definition. A manifest or folder
can have several jobs, which are submitted in their order.

--dry-run creates nothing. It reports whether the job would start now, wait or
never run, and why (exit code 0, 8 or 3; 1 if it cannot decide). The answer
follows Kueue's own rules.

Without --dry-run, the command reports this in one line on stderr. On a
terminal, it prompts before it preempts jobs, and before it submits a job that
can never run (see --yes, and the setting confirm in "hyperpod help
environment").

--sweep starts a job for each combination of values. The values become template
parameters, environment variables and labels. Run the same command again to
start the jobs that do not exist yet. With --max-parallel, the command keeps
running and starts the next job when one ends, because Kueue has no such limit.`,
		Example: `  hyperpod start-job --name smpv2-llama2 --namespace hyperpod-ns-ml-engineers
  hyperpod start-job --name bert --image IMAGE --instance-type ml.p5.48xlarge --node-count 2 \
      --entry-script train.py --priority training
  hyperpod start-job --name bert --template mpi --image IMAGE --entry-script train.py --dry-run=client
  hyperpod start-job -f train.yaml --dry-run
  hyperpod start-job -f train.yaml --name train-7 --set lr=0.001 --wait
  hyperpod start-job -f train.yaml --sweep lr=1e-4,3e-4 --sweep seed=1..5
  hyperpod start-job -f v2-config.yaml --node-count 4
  hyperpod start-job --recipe recipes/fine-tuning/llama/NAME.yaml \
      --image IMAGE --instance-type ml.p5.48xlarge`,
	}
	take := func(cmd *cobra.Command, args []string) error {
		cmd.Flags().Visit(func(f *pflag.Flag) { o.Given = append(o.Given, f.Name) })
		o.CommandLine, o.BeyondSlurm, o.BeyondScript = commandLine(cmd, args), beyondSlurm(cmd), beyondScript(cmd)
		if len(args) == 0 && o.Name == "" {
			return nil // the definition may have a name
		}
		if err := factory.TakeJobName(&o.Name, &o.Name)(cmd, args); err != nil || catalogue.HasExtension(o.Name) {
			return err
		}
		a, err := factory.SplitJob(o.Name, "")
		if err != nil || a.Namespace == "" {
			return nil // Validate has better words about other names with a slash
		}
		o.Name = a.Name
		return a.Choose(cmd)
	}
	cmd.RunE = factory.RunE(o, take, Run, runF)
	f.AddGroups(cmd, o.groups())
	acceptOldNames(cmd.Flags())
	addCompletions(f, cmd)
	f.CompleteFlag(cmd, "accelerator-partition-type", factory.Partitions(func() string { return o.Size.InstanceType }))
	for _, flag := range []string{"set", "sweep"} {
		f.CompleteFlag(cmd, flag, factory.Parameters(func() string { return o.Source.Template }))
	}
	o.helpWithParameters(cmd)
	return cmd
}

func addCompletions(f *factory.Factory, cmd *cobra.Command) {
	for flag, lookup := range map[string]factory.Lookup{
		"template":                 factory.Templates,
		"from":                     factory.Jobs,
		"queue-name":               factory.Queues,
		"priority":                 factory.Priorities,
		"instance-type":            factory.InstanceTypes,
		"node-selector":            factory.NodeLabels,
		"label-selector":           factory.NodeLabels,
		"toleration":               factory.Taints,
		"preferred-topology":       factory.TopologyLevels,
		"required-topology":        factory.TopologyLevels,
		"service-account-name":     factory.InNamespace(kinds.ServiceAccount),
		"upload-pvc":               factory.InNamespace(kinds.PersistentVolumeClaim),
		"persistent-volume-claims": factory.WithSuffix(factory.InNamespace(kinds.PersistentVolumeClaim), ":"),
	} {
		f.CompleteFlag(cmd, flag, lookup)
	}
	f.CompleteFlagBy(cmd, "environment-from-secret", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		secrets := factory.InNamespace(kinds.Secret)
		if name, _, named := strings.Cut(typed, "="); named {
			secrets = factory.WithPrefix(factory.WithSuffix(secrets, ":"), name+"=")
		}
		return f.CompleteWith(cmd, typed, secrets)
	})
	admissioncheck.CompleteWorkers(f, cmd)
	f.CompleteArgs(cmd, factory.Templates)
	for flag, words := range map[string]string{
		"rdzv-backend":     rdzvBackends,
		"clean-pod-policy": cleanPodPolicies,
		"tasks-per-node":   "auto|gpu|cpu",
		"pull-policy":      pullPolicies,
		"restart-policy":   restartPolicies,
	} {
		factory.Complete(cmd, flag, strings.Split(words, "|")...)
	}
}
