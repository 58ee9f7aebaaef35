package factory

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// Account are the flags of commands that talk to AWS.
type Account struct{ Region, Profile string }

// AddAccountFlags defines the flags of commands that talk to AWS.
func AddAccountFlags(f *Factory, cmd *cobra.Command, a *Account) {
	fs := cmd.Flags()
	AddText(fs, &a.Region, Text{Name: "region", Usage: "AWS region (default: from the environment, the AWS profile or the current context)",
		Must: "must be like us-west-2", Fits: aws.ValidRegion})
	fs.StringVar(&a.Profile, "profile", "", "AWS profile (default: $AWS_PROFILE)")
	f.CompleteFlag(cmd, "region", regions)
	f.CompleteFlag(cmd, "profile", profiles)
}

// Args returns the flags that choose the account, for suggested commands.
func (a Account) Args() (out []string) {
	if a.Region != "" {
		out = append(out, "--region", a.Region)
	}
	if a.Profile != "" {
		out = append(out, "--profile", a.Profile)
	}
	return out
}

// AWS returns a client for AWS. role is the ARN of a role to assume, or "".
func (f *Factory) AWS(ctx context.Context, a Account, role string) (*aws.Client, error) {
	o := aws.Options{Region: a.Region, Profile: a.Profile, Role: role, Timeout: f.Global.Timeout, Now: f.Now}
	if a.Region == "" {
		o.FallbackRegion = f.contextRegion()
	}
	if f.Global.Debug {
		var mu sync.Mutex
		o.Observe = func(r aws.Request) {
			mu.Lock()
			defer mu.Unlock()
			line := fmt.Sprintf("debug: %s %s %s %d %s", r.Method, r.Host, r.Operation, r.Status, r.Duration.Round(time.Millisecond))
			if r.Err != nil {
				line += " " + r.Err.Error()
			}
			fmt.Fprintln(f.IO.Err, output.Safe(line))
		}
	}
	return aws.Open(ctx, o)
}

// contextRegion returns the region of the EKS cluster that the kubeconfig leads to, "" if
// there is none.
func (f *Factory) contextRegion() string {
	t, err := kube.Locate(kube.Location{Kubeconfig: f.Global.Kubeconfig, Context: f.Global.Context}, f.Env)
	if err != nil { // the kubeconfig only helps
		return ""
	}
	site, _ := discovery.SiteOf(t.Server, t.Context, t.Cluster)
	return site.Region
}

// EKS returns the cluster at an endpoint, with a token that is good for one command.
func (f *Factory) EKS(ctx context.Context, a *aws.Client, e clusters.Endpoint) (*Cluster, error) {
	token, err := a.Token(ctx, e.Region, e.Name)
	if err != nil {
		return nil, err
	}
	ca, err := base64.StdEncoding.DecodeString(e.CA)
	if err != nil {
		return nil, errs.New("cannot connect to EKS cluster "+e.Name, "its certificate authority is not valid base64").WithCause(err)
	}
	cfg := &rest.Config{Host: e.Server, BearerToken: token.Value, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
	c, err := f.ClusterAt(cfg)
	if err != nil {
		return nil, err
	}
	c.Context, c.ClusterName = e.ARN, e.ARN
	return c, nil
}

// OneCluster is the HyperPod cluster that a command is about, and its AWS account:
// the part of the options that such commands share.
type OneCluster struct {
	Account Account
	Cluster string
}

// AddFlags defines the flags, and the completion of the argument.
func (h *OneCluster) AddFlags(f *Factory, cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.Cluster, "cluster-name", "", "name or ARN of the HyperPod cluster (also an argument)")
	AddAccountFlags(f, cmd, &h.Account)
	f.CompleteFirstArg(cmd, HyperPodClusters(&h.Account))
	f.CompleteFlag(cmd, "cluster-name", HyperPodClusters(&h.Account))
}

// AddGroup defines --group, which --instance-group is, too, and its completion.
func (h *OneCluster) AddGroup(f *Factory, cmd *cobra.Command, group *string, usage string) {
	cmd.Flags().StringVar(group, "group", "", usage)
	takeSpellings(cmd, map[string]string{"instance-group": "group"})
	h.CompleteGroups(f, cmd, "group")
}

// Describe returns the cluster as SageMaker describes it, and the client that asked.
func (h *OneCluster) Describe(ctx context.Context, f *Factory) (*aws.Client, clusters.Cluster, error) {
	client, err := f.AWS(ctx, h.Account, "")
	if err != nil {
		return nil, clusters.Cluster{}, err
	}
	c, err := client.DescribeCluster(ctx, h.Cluster)
	return client, c, err
}

// Connect returns the output format, the cluster as SageMaker describes it, and the client that asked.
func (h *OneCluster) Connect(ctx context.Context, f *Factory) (output.Format, *aws.Client, clusters.Cluster, error) {
	format, err := f.Format()
	if err != nil {
		return format, nil, clusters.Cluster{}, err
	}
	client, c, err := h.Describe(ctx, f)
	return format, client, c, err
}

// Take takes the name of the cluster from the flag or the argument.
func (h *OneCluster) Take(_ *cobra.Command, args []string) (err error) {
	h.Cluster, err = HyperPodCluster(h.Cluster, args)
	return err
}

// HyperPodCluster returns the name of a HyperPod cluster, given as a flag or as the only
// argument.
func HyperPodCluster(flag string, args []string) (string, error) {
	lists := errs.Run("get-clusters").WithNote("shows the names")
	switch {
	case len(args) > 1:
		return "", errs.Usagef("too many arguments").WithAdvice("run the command once for each cluster")
	case len(args) == 1 && flag != "" && flag != args[0]:
		return "", errs.Usagef("two different cluster names: %s and %s", flag, args[0]).Suggest(errs.Option("--cluster-name", flag))
	case len(args) == 1 && args[0] != "":
		return args[0], nil
	case flag == "":
		return "", errs.Usagef("a cluster name is required").Suggest(lists)
	}
	return flag, nil
}
