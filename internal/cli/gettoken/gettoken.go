// Package gettoken is `hyperpod get-token`, the credential plugin of EKS clusters.
package gettoken

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/config"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// Options are what was typed.
type Options struct {
	Factory *factory.Factory
	Account factory.Account
	Role    string
	// EKS is the name of the EKS cluster.
	EKS     string
	NoCache bool

	flag string
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "get-token EKS-CLUSTER",
		Short: "Print a token for an EKS cluster",
		Long: `Print a token for an EKS cluster as an ExecCredential. kubectl and hyperpod run
this command if connect-cluster wrote the entry in the kubeconfig.

The token is a presigned request to AWS STS. It is signed on this machine with
the AWS credentials of the environment: profiles, SSO, roles, web identity and
instance metadata work as in the AWS CLI. The token is cached in a file that
only you can read, until shortly before it expires.`,
		Example: `  hyperpod get-token ml-eks --region us-west-2
  hyperpod get-token ml-eks --region us-west-2 --role-arn arn:aws:iam::123456789012:role/ml`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.flag, "cluster-name", "", "name of the EKS cluster (also an argument)")
	factory.AddAccountFlags(f, cmd, &o.Account)
	fs.StringVar(&o.Role, "role-arn", "", "ARN of an IAM role to assume")
	fs.BoolVar(&o.NoCache, "no-cache", false, "sign a new token, and do not store it")
	return cmd
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	o.EKS = o.flag
	switch {
	case len(args) > 1:
		return errs.Usagef("too many arguments: a token is for one EKS cluster")
	case len(args) == 1 && o.flag != "" && o.flag != args[0]:
		return errs.Usagef("two different cluster names: %s and %s", o.flag, args[0])
	case len(args) == 1:
		o.EKS = args[0]
	}
	return nil
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	if o.EKS == "" {
		return errs.Usagef("the name of an EKS cluster is required").Suggest(errs.Run("get-token", "--help"))
	}
	return nil
}

// credential is an ExecCredential.
type credential struct {
	Kind       string            `json:"kind"`
	APIVersion string            `json:"apiVersion"`
	Spec       map[string]string `json:"spec"`
	Status     credentialStatus  `json:"status"`
}

type credentialStatus struct {
	ExpirationTimestamp time.Time `json:"expirationTimestamp"`
	Token               string    `json:"token"`
}

// Run prints a token: a cached one, or a new one.
func Run(ctx context.Context, o *Options) error {
	token, err := o.token(ctx, o.NoCache)
	if err != nil {
		return err
	}
	return o.print(token)
}

// token returns a cached token, or a new one. With renew it is new.
func (o *Options) token(ctx context.Context, renew bool) (aws.Token, error) {
	f := o.Factory
	var store *cache
	if dir, err := config.CacheDir(f.Env); err == nil && !o.NoCache { // no cache folder: the token is signed each time
		store = newCache(dir, o, f.Env)
		if token, ok := store.load(f.Now()); ok && !renew {
			return token, nil
		}
	}
	client, err := f.AWS(ctx, o.Account, o.Role)
	if err != nil {
		return aws.Token{}, err
	}
	token, err := client.Token(ctx, "", o.EKS)
	if err != nil {
		return token, err
	}
	if store != nil {
		if err := store.save(token); err != nil {
			f.Notef("note: the token is not cached: %s", errs.FileReason(err))
		}
		store.prune(f.Now())
	}
	return token, nil
}

const execInfo = "KUBERNETES_EXEC_INFO"

// print writes the ExecCredential in the version that the caller asks for.
func (o *Options) print(token aws.Token) error {
	version := "client.authentication.k8s.io/v1"
	var asked struct{ APIVersion string }
	if json.Unmarshal([]byte(o.Factory.Env(execInfo)), &asked) == nil && asked.APIVersion == "client.authentication.k8s.io/v1beta1" {
		version = asked.APIVersion
	}
	data, err := json.Marshal(credential{Kind: "ExecCredential", APIVersion: version, Spec: map[string]string{},
		Status: credentialStatus{ExpirationTimestamp: token.Expires.UTC().Truncate(time.Second), Token: token.Value}})
	if err != nil {
		return err
	}
	_, err = o.Factory.IO.Out.Write(append(data, '\n'))
	return err
}
