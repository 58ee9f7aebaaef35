// Package describecluster is `hyperpod describe-cluster`.
package describecluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/textpage"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed.
type Options struct {
	factory.OneCluster
	Factory *factory.Factory
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "describe-cluster CLUSTER",
		Short: "Show a HyperPod cluster and its instance groups",
		Long: `Show a HyperPod cluster as SageMaker describes it: status, orchestrator,
network, and the instance groups with their current and target counts, images
and pending software updates.`,
		Example: `  hyperpod describe-cluster ml-prod
  hyperpod describe-cluster ml-prod -o json`,
		RunE: factory.RunE(o, o.Take, Run, runF),
	}
	o.AddFlags(f, cmd)
	return cmd
}

// Validate has nothing to check beyond the name.
func (o *Options) Validate() error { return nil }

// Run shows the cluster.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, _, c, err := o.Connect(ctx, f)
	if err != nil {
		return err
	}
	if format.IsTable() {
		_, err := fmt.Fprint(f.IO.Out, output.SafeLines(page(c, f.IO.Width, f.Now())))
		return err
	}
	return output.Print(f.IO, format, documentOf(c), func() output.Table { return output.Table{} }, func() []string { return []string{c.Name} })
}

// Document is the cluster in JSON.
type Document struct {
	Cluster              string
	ClusterArn           string
	ClusterStatus        string
	FailureMessage       string
	CreationTime         time.Time
	Orchestrator         string
	EKSClusterArn        *string
	NodeRecovery         string
	NodeProvisioningMode string
	Subnets              []string
	SecurityGroups       []string
	InstanceGroups       []Group
}

// Group is an instance group in JSON.
type Group struct {
	InstanceGroup    string
	InstanceTypes    []string
	Status           string
	CurrentCount     int
	TargetCount      int
	Restricted       bool
	ThreadsPerCore   int
	ImageStatus      string
	UpdateStatus     string
	CurrentImage     string
	DesiredImage     string
	ExecutionRole    string
	TrainingPlan     string
	DeepHealthChecks []string
}

func documentOf(c clusters.Cluster) Document {
	d := Document{Cluster: c.Name, ClusterArn: c.ARN, ClusterStatus: c.Status, FailureMessage: c.FailureMessage, CreationTime: c.Created, Orchestrator: c.Orchestrator,
		NodeRecovery: c.NodeRecovery, NodeProvisioningMode: c.NodeProvisioning, Subnets: append([]string{}, c.Subnets...), SecurityGroups: append([]string{}, c.SecurityGroups...),
		InstanceGroups: []Group{}}
	if c.EKSARN != "" {
		d.EKSClusterArn = &c.EKSARN
	}
	for _, g := range c.Groups {
		d.InstanceGroups = append(d.InstanceGroups, Group{InstanceGroup: g.Name, InstanceTypes: append([]string{}, g.InstanceTypes...), Status: g.Status, CurrentCount: g.Current,
			TargetCount: g.Target, Restricted: g.Restricted, ThreadsPerCore: g.ThreadsPerCore, ImageStatus: g.ImageStatus, UpdateStatus: g.UpdateStatus, CurrentImage: g.CurrentImage,
			DesiredImage: g.DesiredImage, ExecutionRole: g.ExecutionRole, TrainingPlan: g.TrainingPlan, DeepHealthChecks: append([]string{}, g.DeepChecks...)})
	}
	return d
}

// page returns the cluster for people.
func page(c clusters.Cluster, width int, now time.Time) string {
	p := textpage.WithLabels(width, len("security groups")+1)
	p.Line(c.Name + "  " + c.Status)
	p.Blank()
	row := func(label, text string) {
		if text != "" {
			p.Row(label, text)
		}
	}
	row("failure", c.FailureMessage)
	row("ARN", c.ARN)
	row("created", c.Created.UTC().Format(time.RFC3339)+" ("+words.Since(now, c.Created)+" ago)")
	row("orchestrator", c.Orchestrator)
	row("EKS cluster", c.EKSARN)
	row("node recovery", c.NodeRecovery)
	row("provisioning", c.NodeProvisioning)
	row("subnets", strings.Join(c.Subnets, ", "))
	row("security groups", strings.Join(c.SecurityGroups, ", "))
	for _, g := range c.Groups {
		p.Blank()
		p.Line(g.Name + "  " + g.Status)
		count := fmt.Sprintf("%d of %s", g.Current, strings.Join(g.InstanceTypes, " or "))
		if g.Target != g.Current {
			count += fmt.Sprintf(", target %d", g.Target)
		}
		if g.Restricted {
			count += ", restricted"
		}
		row("instances", count)
		row("update", g.UpdateStatus)
		image := g.CurrentImage
		if g.DesiredImage != "" && g.DesiredImage != g.CurrentImage {
			image += " -> " + g.DesiredImage
		}
		row("image", strings.TrimSpace(image+" "+g.ImageStatus))
		row("role", g.ExecutionRole)
		row("training plan", g.TrainingPlan)
		row("deep checks", strings.Join(g.DeepChecks, ", "))
	}
	return p.String()
}
