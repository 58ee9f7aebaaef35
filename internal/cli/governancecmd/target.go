package governancecmd

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
)

// targetFlags choose what is read and changed: Kueue objects of a Kubernetes cluster, or
// the compute allocations and the policy of a HyperPod cluster.
type targetFlags struct {
	// target is plan.Kueue, plan.SageMaker, or "": see remote.
	target  string
	cluster string
	account factory.Account
}

// addCluster defines the flags that name a HyperPod cluster.
func (t *targetFlags) addCluster(f *factory.Factory, cmd *cobra.Command, usage string) {
	fs := cmd.Flags()
	fs.StringVar(&t.cluster, "cluster-name", "", usage)
	factory.AddAccountFlags(f, cmd, &t.account)
	f.CompleteFlag(cmd, "cluster-name", factory.HyperPodClusters(&t.account))
}

func (t *targetFlags) add(f *factory.Factory, cmd *cobra.Command) {
	t.addCluster(f, cmd, "name or ARN of the HyperPod cluster of --target sagemaker (default: cluster.name of the file)")
	factory.AddChoice(cmd, &t.target, factory.Choice{Name: "target", Usage: "what the file is compared with: kueue|sagemaker (default: kueue, or sagemaker with --cluster-name)",
		Words: []string{plan.Kueue, plan.SageMaker}})
}

// remote reports whether SageMaker is meant.
func (t *targetFlags) remote() bool {
	return t.target == plan.SageMaker || t.target == "" && t.cluster != ""
}

func (t *targetFlags) validate() error {
	if t.target == plan.Kueue && t.cluster != "" {
		return errs.Usagef("--cluster-name cannot be used with --target kueue").Suggest(errs.Option("--target", plan.SageMaker))
	}
	if given := t.account.Args(); len(given) > 0 && !t.remote() {
		return factory.Requires(strings.TrimPrefix(given[0], "--"), "--target sagemaker")
	}
	return nil
}

// name returns the HyperPod cluster that the flags or a document name.
func (t *targetFlags) name(doc *policy.Document) (string, error) {
	name := t.cluster
	if doc != nil && doc.Cluster != nil {
		name = cmp.Or(name, doc.Cluster.Name)
	}
	if name == "" {
		return "", errs.Usagef("--cluster-name is required: the file names no cluster").Suggest(errs.Option("--cluster-name", "NAME"), errs.Run("get-clusters").WithNote("shows the names"))
	}
	return name, nil
}

// args returns the flags for suggested commands.
func (t *targetFlags) args(cluster string) []string {
	if !t.remote() {
		return nil
	}
	return append([]string{"--target", plan.SageMaker, "--cluster-name", cluster}, t.account.Args()...)
}
