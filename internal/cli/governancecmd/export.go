package governancecmd

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
	"github.com/hyperpod-cli/hyperpod/internal/governance/terraform"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/policytext"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// ExportOptions are the flags of governance export.
type ExportOptions struct {
	Factory *factory.Factory
	// File is updated in place; "" prints the document.
	File string
	// Teams are the only ones to write; none for all.
	Teams   []string
	Mapping mappingFlags
	Target  targetFlags
}

func newExport(f *factory.Factory, runF func(context.Context, *ExportOptions) error) *cobra.Command {
	o := &ExportOptions{Factory: f, Mapping: newMapping()}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the governance file of a cluster",
		Long: `Write the teams, quota and policy of a cluster as a governance file. The cluster
can be live, a sandbox or a snapshot, with or without the task governance
add-on. The key kueue holds what the terms of task governance cannot express, so
a plan of the file changes nothing.

With --cluster-name, it reads the compute allocations and the policy of a
HyperPod cluster from SageMaker instead.

With -o terraform, it writes resources of the awscc and aws providers: the
add-on, the cluster policy, and a compute allocation for each team.

With --team, it writes these teams only. A plan of the file leaves the others
alone. -o table shows the teams as a table.

With --file, the command updates an existing file, and keeps its comments and
order.`,
		Example: `  hyperpod governance export > teams.yaml
  hyperpod governance export --file teams.yaml
  hyperpod governance export --team researchers -o yaml
  hyperpod governance export --cluster-name ml-prod --file teams.yaml
  hyperpod governance export -o terraform > governance.tf
  hyperpod governance export --snapshot cluster.json.gz -o json`,
		Args: factory.NoArgs,
		RunE: factory.RunE(o, nil, runExport, runF),
	}
	cmd.Flags().StringVarP(&o.File, "file", "f", "", "governance file to create or update in place")
	factory.TakesFile(cmd.Flags(), "file")
	cmd.Flags().StringSliceVar(&o.Teams, "team", nil, "only this team (repeatable)")
	f.CompleteFlag(cmd, "team", findteam.Complete)
	o.Mapping.add(f, cmd)
	o.Target.addCluster(f, cmd, "HyperPod cluster to read from SageMaker, by name or ARN")
	return cmd
}

// Validate checks the options alone.
func (o *ExportOptions) Validate() error {
	if o.File != "" && len(o.Teams) > 0 {
		return factory.Excludes("file", "team") // it would remove the others from the file
	}
	if slices.Contains(o.Teams, "") {
		return factory.Invalid("team", "", "must not be empty")
	}
	if o.File != "" && o.Factory.Global.Output != "" {
		return factory.Excludes("file", "output")
	}
	if given := o.Target.account.Args(); len(given) > 0 && o.Target.cluster == "" {
		return factory.Requires(strings.TrimPrefix(given[0], "--"), "--cluster-name")
	}
	return nil
}

func runExport(ctx context.Context, o *ExportOptions) error {
	f := o.Factory
	doc, notes, err := o.read(ctx)
	if err != nil {
		return err
	}
	if err := keepTeams(doc, o.Teams); err != nil {
		return err
	}
	f.Notes(policytext.Notes(notes))
	if o.File != "" {
		return update(ctx, f, o.File, doc)
	}
	// The document is a file for people, so YAML is its form, also in a pipe.
	if f.Global.Output == "" {
		text, err := policy.Marshal(doc)
		if err == nil {
			_, err = f.IO.Out.Write([]byte(output.SafeLines(string(text))))
		}
		return err
	}
	format, err := f.Format()
	if err != nil {
		return err
	}
	if format.Name == output.Terraform {
		if left := terraform.Unexpressed(doc); len(left) > 0 {
			f.Notef("warning: left out, because Terraform has no attributes for Kueue's own fields: %s", words.Some(left, 8))
		}
		_, err := f.IO.Out.Write([]byte(output.SafeLines(string(terraform.Write(doc)))))
		return err
	}
	return output.Print(f.IO, format, doc, func() output.Table { return exportTable(f.IO, doc, format.Name == output.Wide) }, nil)
}

// read returns the document of the cluster, or of SageMaker.
func (o *ExportOptions) read(ctx context.Context) (*policy.Document, []policy.Note, error) {
	if o.Target.remote() {
		r, err := openRemote(ctx, o.Factory, o.Target.account, o.Target.cluster)
		if err != nil {
			return nil, nil, err
		}
		return service.Document(r.state)
	}
	live, in, err := readLive(ctx, o.Factory, "export", true)
	if err != nil {
		return nil, nil, err
	}
	if err := readable(in); err != nil {
		return nil, nil, err
	}
	doc, notes := policy.FromKueue(live, o.Mapping.mapping())
	return doc, notes, nil
}

// update brings a file up to date, or creates it.
func update(ctx context.Context, f *factory.Factory, path string, doc *policy.Document) error {
	var text []byte
	if _, err := os.Stat(path); err == nil {
		old, err := f.ReadNamed(ctx, path)
		if err != nil {
			return err
		}
		if _, _, faults := policy.Parse(old); len(faults) > 0 && len(bytes.TrimSpace(old)) > 0 {
			return errs.Usagef("cannot update %s: it is not a valid governance file", path).Suggest(errs.Run("governance", "check", "-f", path))
		}
		if text, err = policy.Rewrite(old, doc); err != nil {
			return err
		}
	} else if text, err = policy.Marshal(doc); err != nil {
		return err
	}
	if _, err := atomicfile.Write(path, func(w *os.File) error { _, err := w.Write(text); return err }); err != nil {
		return errs.New("cannot write "+path, errs.FileReason(err)).WithCause(err)
	}
	f.Notef("wrote %s", path)
	return nil
}

// readLive reads what governs the cluster, and everything that decisions depend on. what names the result in notices: a plan,
// a check or an export.
func readLive(ctx context.Context, f *factory.Factory, what string, withJobs bool) (*policy.Live, *inputs.Inputs, error) {
	cluster, err := f.Cluster(ctx)
	if err != nil {
		return nil, nil, err
	}
	return loadLive(ctx, f, cluster, what, withJobs)
}

func loadLive(ctx context.Context, f *factory.Factory, cluster *factory.Cluster, what string, withJobs bool) (*policy.Live, *inputs.Inputs, error) {
	in, err := inputs.Load(ctx, cluster.Client, inputs.Options{SkipWorkloads: !withJobs, Declared: true, Namespaces: func(ctx context.Context) ([]string, error) {
		return cluster.KnownNamespaces(ctx, f.Global.Namespace, kinds.Workload)
	}}, cluster.Now())
	if err != nil {
		return nil, nil, err
	}
	f.MissingOf(what, in.Missing)
	l := &policy.Live{Objects: policy.Objects{Namespaces: in.Namespaces, Classes: in.WorkloadPriority, Flavors: in.Flavors,
		Cohorts: in.Cohorts, ClusterQueues: in.ClusterQueues, LocalQueues: in.LocalQueues}}
	l.SetApart()
	if in.Manager.Data != "" {
		on := in.Rules().Config.FairSharing
		l.FairSharing = &on
	}
	return l, in, nil
}

// readable refuses a cluster that was read only in part because of a failure, or whose queues are hidden. An
// incomplete file would mislead.
func readable(in *inputs.Inputs) error {
	const what = "cannot read the governance of the cluster"
	if err := factory.Failures(in.Missing); err != nil {
		return errs.Wrap(err, what).WithCode(errs.ExitOf(err))
	}
	missing := slices.DeleteFunc(slices.Clone(in.Missing), func(m state.Missing) bool {
		optional := m.Of(kinds.Cohort) || m.Of(kinds.ResourceFlavor)
		return optional && m.Reason == state.NotServed
	})
	return factory.Unreadable(what, missing, kinds.ClusterQueue, kinds.LocalQueue, kinds.WorkloadPriorityClass, kinds.ResourceFlavor, kinds.Cohort)
}

// workloadsAbsent reports that a file has no workloads although its queues count some, or jobs need one.
func workloadsAbsent(in *inputs.Inputs) bool {
	return slices.ContainsFunc(in.Missing, func(m state.Missing) bool {
		return m.Of(kinds.Workload) && m.Reason == state.NotInFile && m.Namespace == "" && !m.Partly
	})
}
