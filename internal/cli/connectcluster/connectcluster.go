// Package connectcluster is `hyperpod connect-cluster`.
package connectcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube/kubeconfig"
)

// The credential plugins of --exec.
const (
	execOwn = "hyperpod"
	execAWS = "aws"
)

// Options are what was typed.
type Options struct {
	factory.OneCluster
	Factory *factory.Factory
	Role    string
	Alias   string
	Exec    string
	Print   bool
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "connect-cluster CLUSTER",
		Short: "Add a HyperPod cluster to the kubeconfig",
		Long: `Add the EKS cluster of a HyperPod cluster to the kubeconfig: a cluster, a user
and a context. Their name is the ARN of the EKS cluster, as in entries of the
AWS CLI. The context becomes the current one. The file keeps its order and
comments.

The namespace of the context is --namespace, or else your only team namespace.
kubectl and hyperpod sign in with "hyperpod get-token", which does not need the
AWS CLI. Use --exec aws for an entry that runs the AWS CLI.`,
		Example: `  hyperpod connect-cluster ml-prod --region us-west-2
  hyperpod connect-cluster ml-prod --namespace hyperpod-ns-ml-engineers --alias prod
  hyperpod connect-cluster ml-prod --print`,
		RunE: factory.RunE(o, o.Take, Run, runF),
	}
	fs := cmd.Flags()
	o.AddFlags(f, cmd)
	fs.StringVar(&o.Role, "role-arn", "", "ARN of an IAM role that signs in to the cluster")
	factory.AddText(fs, &o.Alias, factory.Text{Name: "alias", Usage: "name of the context (default: the ARN of the EKS cluster)",
		Must: "must be printable text", Fits: printable})
	fs.StringVar(&o.Exec, "exec", execOwn, "program that signs in: hyperpod|aws")
	fs.BoolVar(&o.Print, "print", false, "print the kubeconfig, and write nothing")
	factory.Complete(cmd, "exec", execOwn, execAWS)
	return cmd
}

// printable reports a text that can be read, and typed again.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	if !slices.Contains([]string{execOwn, execAWS}, o.Exec) {
		return factory.Invalid("exec", o.Exec, "must be one of hyperpod, aws")
	}
	return nil
}

// patience is how long the API server has to answer. A private endpoint does not refuse
// connections, it never answers.
const patience = 10 * time.Second

// Run writes the entry.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	client, cluster, err := o.Describe(ctx, f)
	if err != nil {
		return err
	}
	if cluster.Orchestrator != clusters.EKS {
		return errs.New("cannot connect to cluster "+cluster.Name, "it uses Slurm and has no Kubernetes API").
			WithFact("status", cluster.Status).Suggest(errs.Run("list-cluster-nodes", append([]string{cluster.Name}, o.Account.Args()...)...))
	}
	endpoint, err := client.Endpoint(ctx, cluster.EKSARN)
	if err != nil {
		return err
	}
	if cluster.Status != clusters.InService {
		f.Notef("warning: cluster %s is in status %s", cluster.Name, cluster.Status)
	}
	namespace, refused, err := o.signIn(ctx, endpoint)
	if err != nil {
		return err
	}
	entry := o.entry(endpoint, namespace)
	path, err := kubeconfig.File(f.Global.Kubeconfig, endpoint.ARN, f.Env)
	if err != nil {
		return err
	}
	if o.Print {
		text, err := kubeconfig.Preview(path, entry)
		if err == nil {
			_, err = f.IO.Out.Write(text)
		}
		return err
	}
	change, err := kubeconfig.Write(ctx, path, entry, kubeconfig.Lock{Wait: patience, Poll: 50 * time.Millisecond, After: time.After})
	if err != nil {
		return err
	}
	if err := f.PrintDone(fmt.Sprintf("%s context %s in %s", change, entry.Context, path), entry.Context); err != nil {
		return err
	}
	o.checkCurrent(entry.Context)
	if refused != nil {
		return o.explain(ctx, endpoint, refused)
	}
	return nil
}

// signIn tries the cluster and returns the namespace of the context, "" if there is not
// exactly one. refused is the answer of a cluster that does not know the caller. A
// cluster that cannot be reached is a notice: the entry is right all the same.
func (o *Options) signIn(ctx context.Context, e clusters.Endpoint) (namespace string, refused, err error) {
	f := o.Factory
	client, err := f.AWS(ctx, o.Account, o.Role)
	if err != nil {
		return "", nil, err
	}
	c, err := f.EKS(ctx, client, e)
	if err != nil {
		return "", nil, err
	}
	return o.namespace(ctx, c, e)
}

// entry returns what is written.
func (o *Options) entry(e clusters.Endpoint, namespace string) kubeconfig.Entry {
	out := kubeconfig.Entry{Name: e.ARN, Context: e.ARN, Namespace: namespace, Server: e.Server, CA: e.CA}
	if o.Alias != "" {
		out.Context = o.Alias
	}
	if o.Exec == execAWS {
		out.Exec = kubeconfig.Exec{APIVersion: "client.authentication.k8s.io/v1beta1", Command: "aws",
			Args: []string{"--region", e.Region, "eks", "get-token", "--cluster-name", e.Name, "--output", "json"}}
		if o.Role != "" {
			out.Exec.Args = append(out.Exec.Args, "--role-arn", o.Role)
		}
		if o.Account.Profile != "" {
			out.Exec.Env = []kubeconfig.Variable{{Name: "AWS_PROFILE", Value: o.Account.Profile}}
		}
		return out
	}
	out.Exec = kubeconfig.Exec{APIVersion: "client.authentication.k8s.io/v1", Command: program(), Args: []string{"get-token", "--cluster-name", e.Name, "--region", e.Region}}
	if o.Role != "" {
		out.Exec.Args = append(out.Exec.Args, "--role-arn", o.Role)
	}
	if o.Account.Profile != "" {
		out.Exec.Args = append(out.Exec.Args, "--profile", o.Account.Profile)
	}
	return out
}

// explain says why a cluster does not know the caller, and who that is.
func (o *Options) explain(ctx context.Context, e clusters.Endpoint, refused error) error {
	out := errs.New("cannot sign in to EKS cluster "+e.Name, "the cluster does not accept your AWS identity").WithCode(errs.Denied).WithCause(refused)
	var client *aws.Client
	client, err := o.Factory.AWS(ctx, o.Account, o.Role)
	if err == nil {
		if who, err := client.Identity(ctx); err == nil { // the name only helps
			out.WithFact("you are", who)
		}
	}
	if e.AuthMode != "" {
		out.WithFact("authentication", e.AuthMode)
	}
	advice := "ask a cluster administrator for an EKS access entry for this identity"
	if strings.EqualFold(e.AuthMode, "CONFIG_MAP") {
		advice = "ask a cluster administrator to add this identity to the ConfigMap aws-auth, or to turn on EKS access entries"
	}
	return out.WithFact("kubeconfig", "the entry is written; it works as soon as the identity is accepted").WithAdvice(advice)
}
