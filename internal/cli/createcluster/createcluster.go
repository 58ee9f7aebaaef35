// Package createcluster is `hyperpod create-cluster`.
package createcluster

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/clusterfile"
	"github.com/hyperpod-cli/hyperpod/internal/cli/clusterwait"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/clusters/spec"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Options are what was typed.
type Options struct {
	Factory *factory.Factory
	Account factory.Account
	File    string
	// Name is the cluster's name in place of the file's.
	Name    string
	Unknown bool
	DryRun  bool
	Wait    clusterwait.Flags
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "create-cluster -f FILE",
		Short: "Create a HyperPod cluster from a file",
		Long: `Create a HyperPod cluster from a JSON or YAML file. The file is the API request,
as in "aws sagemaker create-cluster --cli-input-json".

The command first checks every member against the constraints of the API. It
reports faults with file, line and column, and then sends nothing. It accepts
names in another case, such as lifecycleConfig, with a warning.`,
		Example: `  hyperpod create-cluster -f cluster.json --dry-run
  hyperpod create-cluster -f cluster.yaml --wait --timeout 1h`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.File, "file", "f", "", "file with the request, in JSON or YAML; - for stdin")
	factory.TakesFile(fs, "file")
	factory.AddText(fs, &o.Name, factory.Text{Name: "cluster-name", Usage: "name of the cluster (default: the name in the file)",
		Must: "must be letters, digits and -, a letter or digit at both ends, at most 63", Fits: spec.ValidName})
	fs.BoolVar(&o.Unknown, "allow-unknown", false, "send members and values that this version does not know")
	fs.BoolVar(&o.DryRun, "dry-run", false, "check the file and print the request; send nothing")
	factory.AddAccountFlags(f, cmd, &o.Account)
	o.Wait.Add(cmd, "all instance groups are in service")
	return cmd
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	switch {
	case o.File == "" && len(args) == 1:
		o.File = args[0]
	case len(args) > 0:
		return errs.Usagef("too many arguments").WithAdvice("name one file")
	}
	return nil
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	switch {
	case o.File == "":
		return errs.Usagef("--file is required: it describes the cluster").Suggest(errs.Option("-f", "cluster.json"))
	case o.DryRun && o.Wait.Wait:
		return factory.Excludes("dry-run", "wait")
	}
	return o.Wait.Validate()
}

// Run creates the cluster.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	request, err := clusterfile.Read(ctx, f, o.File, "cannot create a cluster from "+o.File, clusterfile.Rules(spec.Rules{Shape: spec.CreateCluster(), Unknown: o.Unknown, Named: o.Name != ""}))
	if err != nil {
		return err
	}
	if o.Name != "" {
		request["ClusterName"] = o.Name
	}
	name, _ := request["ClusterName"].(string)
	if o.DryRun {
		f.Notef("the file is valid; nothing is sent (dry run)")
		return clusterfile.Print(f, request)
	}
	client, err := f.AWS(ctx, o.Account, "")
	if err != nil {
		return err
	}
	arn, err := client.CreateCluster(ctx, name, request)
	if err != nil {
		return err
	}
	if err := f.PrintDone("Creating cluster "+name, name); err != nil {
		return err
	}
	status := clusters.Creating
	if o.Wait.Wait {
		if err := o.Wait.InService(ctx, f, client, name); err != nil {
			return err
		}
		if status = clusters.InService; f.Global.Output == "" {
			if err := f.IO.PrintLine(fmt.Sprintf("Created cluster %s", name)); err != nil {
				return err
			}
		}
	} else {
		f.NoteCommand("to follow it:", errs.Run("list-cluster-events", append([]string{name, "--follow"}, o.Account.Args()...)...))
	}
	if f.Global.Output == "" || format.Name == output.NameFormat {
		return nil
	}
	return output.Print(f.IO, format, clusterfile.Document{Cluster: name, ClusterArn: arn, ClusterStatus: status}, func() output.Table { return output.Table{} }, nil)
}
