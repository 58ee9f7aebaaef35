// Package startjob is `hyperpod start-job`.
package startjob

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/admissioncheck"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/remedy"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/templates/team"
)

// Options are the settings of one run. Fields that are not said in their own
// words are the flags of the same name.
type Options struct {
	Factory *factory.Factory

	Name         string
	GenerateName bool
	File         string
	Template     string
	JobKind      string
	From         string // a job to repeat
	Edit         bool
	// Recipe is a file of AWS's HyperPod recipes, OverrideParameters a JSON object
	// that is laid over it.
	Recipe, OverrideParameters string
	Policy                     Policy

	Image, PullPolicy                string
	InstanceType                     string
	NodeCount                        int
	TasksPerNode                     string // a number, auto, gpu or cpu
	Accelerators, EFA                int
	VCPU, Memory                     string
	VCPULimit, MemoryLimit           string
	Partition                        string
	PartitionCount                   int
	Command, EntryScript, ScriptArgs string
	Environment                      []string
	PreScript, PostScript            []string
	LabelSelector                    string
	DeepHealthOnly                   bool
	ServiceAccount                   string
	Volumes, PersistentVolumeClaims  []string
	RestartPolicy                    string
	AutoResume                       bool
	MaxRetry                         int
	Labels, Annotations              []string
	SchedulerType, Queue, Priority   string
	Set                              []string

	DryRun         string
	Assume         time.Duration // of a job of which nothing is known, for the dry run's estimate
	Wait           string
	Timeout        time.Duration // of all waiting together
	Follow         bool
	Replace        bool
	IdempotencyKey string

	// end is when Timeout is over.
	end time.Time
	// logs is what --follow calls.
	logs logFollower

	// command is the command line, as the job remembers it.
	command string
	// found is what the admission check was told while the job was filled in.
	found []check.Step
	// changed tells a flag that was given from one that was not.
	changed func(flag string) bool
	// chosen is the namespace, once it is resolved.
	chosen *discovery.NamespaceChoice
	// again renders the job anew with a change, for the remedies of the admission
	// check; nil for one that was edited.
	again func(remedy.Change) (object map[string]any, made remedy.Made, err error)
	// base is the definition where it is no template.
	base *source
}

// NewCmd returns the command. With runF, parsing can be tested alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	return newCmd(&Options{Factory: f, logs: followLog}, runF)
}

func newCmd(o *Options, runF func(context.Context, *Options) error) *cobra.Command {
	f := o.Factory
	cmd := &cobra.Command{
		Use:   "start-job [NAME]",
		Short: "Start a training job",
		Long: `Starts a training job: renders a template, fills in namespace, queue, priority
and node health, and submits it.

The definition comes from, in this order: --from, --config-file (manifests, or
a configuration file of the official CLI v2), --recipe, --template
(list-templates names them, the team's included), a file NAME.yaml in . or
./jobs or your templates folder, the embedded template of that name, else the
configured default template (pytorch). Options win over what the definition
says.

--dry-run says, without creating anything, whether the job would start now, wait
or never run, and why (exit code 0, 8 or 3), decided with Kueue's own rules.`,
		Example: `  hyperpod start-job --name smpv2-llama2 --namespace hyperpod-ns-ml-engineers
  hyperpod start-job --name bert --image IMAGE --instance-type ml.g5.12xlarge --node-count 2 \
      --entry-script train.py --priority training
  hyperpod start-job --name bert --template mpi --image IMAGE --dry-run=client -o yaml
  hyperpod start-job -f train.yaml --dry-run
  hyperpod start-job -f train.yaml --name train-7 --set lr=0.001 --wait
  hyperpod start-job -f v2-config.yaml --node-count 4
  hyperpod start-job --recipe recipes/fine-tuning/llama/NAME.yaml \
      --image IMAGE --instance-type ml.p5.48xlarge`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.changed, o.command = cmd.Flags().Changed, commandLine(cmd, args)
			args, err := o.boolWords(args)
			if err != nil {
				return err
			}
			if len(args) > 0 || o.Name != "" {
				name, err := factory.JobName(o.Name, args)
				if err != nil {
					return err
				}
				o.Name = name
			}
			if err := o.Validate(); err != nil {
				return err
			}
			if runF != nil {
				return runF(cmd.Context(), o)
			}
			return Run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	understandOldNames(cmd.Flags())
	o.addCompletions(f, cmd)
	f.GroupFlags(cmd, flagGroups...)
	o.helpWithParameters(cmd)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	factory.AddJobNameFlag(cmd, &o.Name)
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&o.GenerateName, "generate-name", false, "add a suffix to the name, so that it is new")
	fs.VarP(&once{to: &o.File}, "config-file", "f", "manifest, template, or v2 configuration: a file, a folder of manifests, or - for stdin")
	fs.StringVar(&o.Template, "template", "", "name of a template")
	factory.AddChoice(cmd, &o.JobKind, factory.Choice{Name: "job-kind", Words: jobKinds(), Read: fullKind,
		Usage: "kind of job where no template is named: PyTorchJob, MPIJob or HyperPodPyTorchJob"})
	fs.StringVar(&o.Recipe, "recipe", "", "file of a PyTorch recipe, in a checkout of AWS's HyperPod recipes")
	fs.StringVar(&o.OverrideParameters, "override-parameters", "", "JSON object laid over the recipe")

	fs.StringVar(&o.From, "from", "", "repeat a job of the cluster ([NAMESPACE/]NAME) with what the other options change; with --replace in its place")
	fs.BoolVar(&o.Edit, "edit", false, "change the finished manifest in $VISUAL or $EDITOR before it is submitted")

	fs.StringVar(&o.Image, "image", "", "container image")
	fs.StringVar(&o.PullPolicy, "pull-policy", "", "Always|IfNotPresent|Never")
	fs.StringVar(&o.InstanceType, "instance-type", "", "type of the nodes, e.g. ml.p5.48xlarge")
	fs.IntVar(&o.NodeCount, "node-count", 0, "number of nodes (worker pods)")
	fs.StringVar(&o.TasksPerNode, "tasks-per-node", "", "processes in each pod: a number, auto, gpu or cpu (default: one per accelerator or core of it)")
	fs.IntVar(&o.Accelerators, "accelerators", 0, "accelerators for each pod (default: all of the instance type)")
	fs.IntVar(&o.EFA, "efa", 0, "EFA interfaces for each pod (default: in proportion to the accelerators)")
	fs.StringVar(&o.VCPU, "vcpu", "", "CPU for each pod, a quantity")
	fs.StringVar(&o.Memory, "memory", "", "memory for each pod, a quantity")
	fs.StringVar(&o.VCPULimit, "vcpu-limit", "", "CPU limit for each pod, a quantity (default: none)")
	fs.StringVar(&o.MemoryLimit, "memory-limit", "", "memory limit for each pod, a quantity (default: none)")
	fs.StringVar(&o.Partition, "accelerator-partition-type", "", "MIG profile instead of whole accelerators, e.g. 1g.10gb")
	fs.IntVar(&o.PartitionCount, "accelerator-partition-count", 0, "how many of them for each pod (default 1)")
	fs.StringVar(&o.EntryScript, "entry-script", "", "script to train with, a path in the image")
	fs.StringVar(&o.ScriptArgs, "script-args", "", "arguments of the script, as words of a shell line")
	fs.StringVar(&o.Command, "command", "", "what starts the script (default: torchrun)")
	fs.StringArrayVar(&o.Environment, "environment", nil, "environment as K=V, repeatable, or a JSON object")
	fs.StringArrayVar(&o.PreScript, "pre-script", nil, "shell line to run before, repeatable")
	fs.StringArrayVar(&o.PostScript, "post-script", nil, "shell line to run after, repeatable")
	fs.StringVar(&o.LabelSelector, "label-selector", "", "demands on node labels: k=v,... or JSON (required, preferred, weights)")
	fs.BoolVar(&o.DeepHealthOnly, "deep-health-check-passed-nodes-only", false, "only nodes that passed the deep health check")
	fs.StringVar(&o.ServiceAccount, "service-account-name", "", "service account of the pods")
	fs.StringArrayVar(&o.PersistentVolumeClaims, "persistent-volume-claims", nil, "CLAIM:MOUNT[,CLAIM:MOUNT...]")
	fs.StringArrayVar(&o.Volumes, "volumes", nil, "NAME:HOSTPATH:MOUNT[,...], or name=,type=,mount_path=,... (type: hostPath, pvc, fsx, efs, emptyDir), repeatable")
	fs.StringVar(&o.RestartPolicy, "restart-policy", "", "Always|OnFailure|Never|ExitCode")
	fs.BoolVar(&o.AutoResume, "auto-resume", false, "resume the job after HyperPod has replaced a faulty node")
	fs.IntVar(&o.MaxRetry, "max-retry", 0, "how often to resume (default 1)")
	fs.StringArrayVar(&o.Labels, "label", nil, "label K=V for job and pods, repeatable")
	fs.StringArrayVar(&o.Annotations, "annotation", nil, "annotation K=V for the job, repeatable")
	fs.StringArrayVar(&o.Set, "set", nil, "set a template parameter, or any field by its path: K=V, repeatable")

	o.addPolicyFlags(fs)

	factory.AddChoice(cmd, &o.SchedulerType, factory.Choice{Name: "scheduler-type", Words: schedulerTypes,
		Usage: strings.Join(schedulerTypes, "|") + " (default: by the namespace)"})
	fs.StringVar(&o.Queue, "queue-name", "", "LocalQueue (default: the namespace's)")
	fs.StringVar(&o.Priority, "priority", "", "priority class, e.g. training or training-priority (default: lowest)")

	o.DryRun = factory.DryRunNone
	factory.AddChoice(cmd, &o.DryRun, factory.Choice{Name: "dry-run", Words: dryRuns, Bare: admission,
		Usage: "would it run? admission (the default of the bare flag)|client (print what would be sent)|server (let the server check it)|none"})
	admissioncheck.AddAssumeFlag(cmd, &o.Assume)
	fs.BoolVar(&o.Replace, "replace", false, "delete a job of that name first, and change other objects that differ")
	factory.AddChoice(cmd, &o.Wait, factory.Choice{Name: "wait", Words: waits, Bare: string(wait.Running),
		Usage: "wait until the job is " + strings.Join(waits, "|")})
	fs.BoolVar(&o.Follow, "follow", false, "wait until the job runs, then print its log until it ends (exit code 3 if it failed)")
	fs.DurationVar(&o.Timeout, "timeout", 0, "give up waiting after this time (exit code 124)")
	fs.StringVar(&o.IdempotencyKey, "idempotency-key", "", "a second start of the same name with the same key finds the first one's job")
}

func (o *Options) addCompletions(f *factory.Factory, cmd *cobra.Command) {
	f.CompleteFlag(cmd, "template", factory.Templates)
	f.CompleteFlag(cmd, "from", factory.Jobs)
	f.CompleteFlag(cmd, "queue-name", factory.Queues)
	f.CompleteFlag(cmd, "priority", factory.Priorities)
	f.CompleteFlag(cmd, "instance-type", factory.InstanceTypes)
	f.CompleteArgs(cmd, factory.Templates)
	for flag, words := range map[string][]string{
		"rdzv-backend":     {"c10d", "etcd-v2", "etcd", "static"},
		"clean-pod-policy": {"All", "Running", "None"},
		"tasks-per-node":   {"auto", "gpu", "cpu"},
		"pull-policy":      {"Always", "IfNotPresent", "Never"},
		"restart-policy":   {"Always", "OnFailure", "Never", "ExitCode"},
	} {
		factory.Complete(cmd, flag, words...)
	}
}

var (
	schedulerTypes = []string{"SageMaker", "Kueue", "None"}
	dryRuns        = []string{factory.DryRunNone, admission, factory.DryRunClient, factory.DryRunServer}
	waits          = []string{string(wait.Admitted), string(wait.Running), string(wait.Succeeded), string(wait.Finished)}
)

// Validate checks the options without looking at a cluster or a file.
func (o *Options) Validate() error {
	if err := o.validateSource(); err != nil {
		return err
	}
	if o.Name == "" && (o.File == "" && o.Recipe == "" || o.GenerateName) {
		return errs.Usagef("the job needs a name").WithTry("hyperpod start-job --name NAME", "hyperpod start-job -f MANIFEST")
	}
	if len(o.Name) > 253 {
		return errs.Usagef("a name has at most 253 characters, not %d", len(o.Name))
	}
	if strings.ContainsAny(strings.TrimPrefix(o.Template, team.Prefix), `/\`) {
		return errs.Usagef("--template wants the name of a template").WithTry("-f FILE")
	}
	if o.File != "" && o.Template != "" {
		return twoSources("--config-file", "--template")
	}
	if err := o.validateRecipe(); err != nil {
		return err
	}
	if o.changed("node-count") && o.NodeCount < 1 {
		return errs.Usagef("--node-count is at least 1, not %d", o.NodeCount).WithTry("--node-count 1")
	}
	if n, err := strconv.Atoi(o.TasksPerNode); err == nil && n < 1 {
		return errs.Usagef("--tasks-per-node is at least 1, not %d", n).WithTry("--tasks-per-node auto")
	}
	for _, c := range []struct {
		flag string
		n    int
	}{{"accelerators", o.Accelerators}, {"efa", o.EFA}, {"max-retry", o.MaxRetry}} {
		if c.n < 0 {
			return errs.Usagef("--%s is not below 0, as %d is", c.flag, c.n).WithTry(fmt.Sprintf("--%s %d", c.flag, -c.n))
		}
	}
	if err := admissioncheck.CheckAssume(o.Assume); err != nil {
		return err
	}
	if o.Assume > 0 && o.DryRun != admission {
		return errs.Usagef("--assume-duration is for --dry-run").WithTry("--dry-run --assume-duration " + o.Assume.String())
	}
	if err := factory.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if o.Timeout > 0 && o.Wait == "" && !o.Follow && !o.Replace {
		return errs.Usagef("--timeout is for --wait, --follow and --replace").WithTry("--wait --timeout " + o.Timeout.String())
	}
	if o.Follow && o.Factory.Global.Output != "" {
		return errs.Usagef("--follow prints the log, which has no output format").WithTry("--wait -o "+o.Factory.Global.Output, "hyperpod get-log NAME -f -o json")
	}
	if (o.Wait != "" || o.Follow) && o.DryRun != factory.DryRunNone {
		return errs.Usagef("a dry run starts nothing to wait for").WithTry("--dry-run=" + o.DryRun + "   # without --wait and --follow")
	}
	return nil
}
