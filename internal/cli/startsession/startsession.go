// Package startsession is `hyperpod start-session`.
package startsession

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findnode"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Options are what was typed.
type Options struct {
	// The cluster is "" where the node alone is named.
	factory.OneCluster
	Factory *factory.Factory
	// Node is an instance id, or the name of a Kubernetes node. Group or Pod choose one
	// instead.
	Node, Group, Pod string
	// Command runs instead of a shell.
	Command string
	// SSHProxy speaks SSH on stdin and stdout, to Port.
	SSHProxy bool
	Port     int
	// Forward is LOCAL:REMOTE, or LOCAL:HOST:REMOTE.
	Forward string
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "start-session [CLUSTER] NODE",
		Short: "Open a shell on a node of a HyperPod cluster",
		Long: `Open a shell on a node of a HyperPod cluster with AWS Systems Manager, run a
command there, forward a port, or serve as a ProxyCommand of ssh. The node needs
no public address. Name it by its instance id, its Kubernetes node, a pod on it
(--pod), or an instance group (--group: its first running node).

Without CLUSTER, the command searches the clusters of the region for the node.
It runs session-manager-plugin, which AWS provides.`,
		Example: `  hyperpod start-session ml-prod i-0d64806b32c3ee282
  hyperpod start-session ml-slurm --group controller
  hyperpod start-session ml-prod --pod vit-huge-worker-0 -n hyperpod-ns-researchers
  hyperpod start-session ml-prod i-0d64806b32c3ee282 --command nvidia-smi
  hyperpod start-session ml-prod i-0d64806b32c3ee282 --forward 9090:9090`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	o.AddFlags(f, cmd)
	o.CompleteNodeArgs(f, cmd, 1)
	fs := cmd.Flags()
	o.AddGroup(f, cmd, &o.Group, "the first running node of this instance group")
	fs.StringVar(&o.Pod, "pod", "", "the node that this pod runs on")
	f.CompleteFlag(cmd, "pod", factory.InNamespace(kinds.Pod))
	fs.StringVar(&o.Command, "command", "", "command to run instead of a shell")
	fs.BoolVar(&o.SSHProxy, "ssh-proxy", false, "serve as the ProxyCommand of ssh")
	fs.IntVar(&o.Port, "port", 22, "with --ssh-proxy: port of the SSH server on the node")
	fs.StringVar(&o.Forward, "forward", "", "forward a port: LOCAL:REMOTE, or LOCAL:HOST:REMOTE through the node")
	return cmd
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	chosen := o.Group != "" || o.Pod != ""
	most := 2
	if o.Cluster != "" {
		most--
	}
	if chosen {
		most--
	}
	switch {
	case len(args) > most:
		return errs.Usagef("too many arguments").WithAdvice("name one node")
	case len(args) == 2:
		o.Cluster, o.Node = args[0], args[1]
	case len(args) == 1 && chosen:
		o.Cluster = args[0]
	case len(args) == 1:
		o.Node = args[0]
	}
	return nil
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	list := errs.Run("list-cluster-nodes", "CLUSTER").WithNote("shows the nodes")
	if o.Cluster != "" {
		list = errs.Run("list-cluster-nodes", o.Cluster).WithNote("shows the nodes")
	}
	chosen := 0
	for _, v := range []string{o.Node, o.Group, o.Pod} {
		if v != "" {
			chosen++
		}
	}
	modes := 0
	for _, on := range []bool{o.Command != "", o.SSHProxy, o.Forward != ""} {
		if on {
			modes++
		}
	}
	switch {
	case chosen == 0:
		return errs.Usagef("a node is required").Suggest(list, errs.Option("--group", "GROUP"), errs.Option("--pod", "POD"))
	case chosen > 1:
		return errs.Usagef("a node name, --group and --pod cannot be combined").WithAdvice("keep one of them")
	case o.Node == "" && o.Cluster == "":
		return errs.Usagef("a cluster name is required: --group and --pod do not name one").Suggest(errs.Run("get-clusters").WithNote("shows the names"))
	case modes > 1:
		return errs.Usagef("--command, --ssh-proxy and --forward cannot be combined").WithAdvice("keep one of them")
	case o.Port < 1 || o.Port > 65535:
		return factory.Invalid("port", o.Port, "must be 1 to 65535")
	}
	if o.Forward != "" && forwarding(o.Forward) == nil {
		return factory.Invalid("forward", o.Forward, "must be LOCAL:REMOTE or LOCAL:HOST:REMOTE with ports from 1 to 65535")
	}
	if o.Node != "" {
		return findnode.CheckNames([]string{o.Node})
	}
	return nil
}

// forwarding returns the parameters of a forwarded port, nil if the text is none.
func forwarding(text string) map[string][]string {
	parts := strings.Split(text, ":")
	if len(parts) != 2 && len(parts) != 3 {
		return nil
	}
	for _, p := range []string{parts[0], parts[len(parts)-1]} {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return nil
		}
	}
	out := map[string][]string{"localPortNumber": {parts[0]}, "portNumber": {parts[len(parts)-1]}}
	if len(parts) == 3 {
		if parts[1] == "" {
			return nil
		}
		out["host"] = []string{parts[1]}
	}
	return out
}

// document returns the SSM document of the session with its parameters. A shell uses the
// account's default document: others may not exist.
func (o *Options) document() (string, map[string][]string) {
	switch {
	case o.Command != "":
		return "AWS-StartNonInteractiveCommand", map[string][]string{"command": {o.Command}}
	case o.SSHProxy:
		return "AWS-StartSSHSession", map[string][]string{"portNumber": {strconv.Itoa(o.Port)}}
	case strings.Count(o.Forward, ":") == 2:
		return "AWS-StartPortForwardingSessionToRemoteHost", forwarding(o.Forward)
	case o.Forward != "":
		return "AWS-StartPortForwardingSession", forwarding(o.Forward)
	}
	return "", nil
}

// Run starts the session and runs the plugin until it ends.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	p, err := findPlugin(ctx) // before a session is open that nobody takes over
	if err != nil {
		return err
	}
	client, err := f.AWS(ctx, o.Account, "")
	if err != nil {
		return err
	}
	target, err := o.target(ctx, client)
	if err != nil {
		return err
	}
	document, parameters := o.document()
	session, err := client.StartSession(ctx, target, document, parameters)
	if err != nil {
		return err
	}
	if err := f.IO.Flush(); err != nil {
		return err
	}
	if f.HoldInterrupts != nil {
		defer f.HoldInterrupts()()
	}
	code, err := p.run(session, o.Account.Profile)
	if err != nil {
		if endErr := client.EndSession(ctx, session.ID); endErr != nil {
			f.Notef("warning: %v", endErr)
		}
		return errs.New("cannot run session-manager-plugin", err.Error()).WithCause(err)
	}
	if code != 0 {
		return errs.Silent{Code: errs.Exit(code)}
	}
	return nil
}

// target finds the node.
func (o *Options) target(ctx context.Context, client *aws.Client) (clusters.SessionTarget, error) {
	if o.Cluster == "" {
		return o.search(ctx, client)
	}
	c, err := client.DescribeCluster(ctx, o.Cluster)
	if err != nil {
		return clusters.SessionTarget{}, err
	}
	name := o.Node
	if o.Pod != "" {
		if name, err = o.nodeOfPod(ctx, client, c); err != nil {
			return clusters.SessionTarget{}, err
		}
	}
	if o.Group != "" {
		if _, err := findnode.Group(c, o.Group); err != nil {
			return clusters.SessionTarget{}, err
		}
	}
	list, err := client.ListNodes(ctx, c.Name)
	if err != nil {
		return clusters.SessionTarget{}, err
	}
	if o.Group != "" {
		i := slices.IndexFunc(list, func(n clusters.Node) bool { return n.Group == o.Group && n.Status == clusters.Running })
		if i < 0 {
			return clusters.SessionTarget{}, errs.NotFoundf("instance group %s of cluster %s has no running node", o.Group, c.Name).Suggest(errs.Run("list-cluster-nodes", c.Name, "--group", o.Group))
		}
		return targetOf(c.Summary, list[i]), nil
	}
	nodes, err := findnode.Nodes(list, []string{name}, c.Name)
	if err != nil {
		return clusters.SessionTarget{}, err
	}
	if s := nodes[0].Status; s != clusters.Running {
		o.Factory.Notef("warning: node %s is in status %s", nodes[0].InstanceID, s)
	}
	return targetOf(c.Summary, nodes[0]), nil
}

func targetOf(c clusters.Summary, n clusters.Node) clusters.SessionTarget {
	return clusters.SessionTarget{ClusterID: c.ID(), Group: n.Group, Instance: n.InstanceID}
}

// search looks for the node in all clusters of the region.
func (o *Options) search(ctx context.Context, client *aws.Client) (clusters.SessionTarget, error) {
	all, err := client.ListClusters(ctx)
	if err != nil {
		return clusters.SessionTarget{}, err
	}
	id := clusters.InstanceOf(o.Node)
	for _, c := range all {
		list, err := client.ListNodes(ctx, c.Name)
		if err != nil {
			o.Factory.Notef("warning: %v", err)
			continue
		}
		if i := slices.IndexFunc(list, func(n clusters.Node) bool { return n.InstanceID == id }); i >= 0 {
			return targetOf(c, list[i]), nil
		}
	}
	return clusters.SessionTarget{}, errs.NotFoundf("node %s not found in the clusters of %s", o.Node, client.Region()).
		Suggest(errs.Run("get-clusters").WithNote("shows the clusters"), errs.Option("--region", "REGION"))
}

// nodeOfPod returns the name of the Kubernetes node that a pod runs on.
func (o *Options) nodeOfPod(ctx context.Context, client *aws.Client, c clusters.Cluster) (string, error) {
	if c.Orchestrator != clusters.EKS {
		return "", errs.New("cannot find pod "+o.Pod, "cluster "+c.Name+" runs "+c.Orchestrator+", which has no pods").WithCode(errs.Usage).
			Suggest(errs.Option("--group", "GROUP"))
	}
	namespace := o.Factory.Global.Namespace
	s, err := findnode.ReadKubernetes(ctx, o.Factory, client, c, state.Want{Pods: true, Namespace: namespace})
	if err != nil {
		return "", err
	}
	var found []state.Pod
	var names []string
	for _, p := range s.Pods {
		if names = append(names, p.Name); p.Name == o.Pod {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 0:
		e := errs.NotFoundf("pod %q not found in cluster %s", o.Pod, c.Name)
		for _, n := range errs.Near(o.Pod, names) {
			e.Suggest(errs.Option("--pod", n))
		}
		return "", e
	case len(found) > 1:
		e := errs.Usagef("%d pods are named %s", len(found), o.Pod)
		for _, p := range found {
			e.Suggest(errs.Option("-n", p.Namespace))
		}
		return "", e
	case found[0].NodeName == "":
		return "", errs.New("cannot start a session", "pod "+o.Pod+" has no node yet")
	}
	return found[0].NodeName, nil
}
