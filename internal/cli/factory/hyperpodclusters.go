package factory

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
)

// HyperPodClusters completes the names of HyperPod clusters of an account.
func HyperPodClusters(a *Account) Lookup {
	return func(ctx context.Context, f *Factory) ([]string, error) {
		c, err := f.AWS(ctx, *a, "")
		if err != nil {
			return nil, err
		}
		list, err := c.ListClusters(ctx)
		if err != nil {
			return nil, err
		}
		var out []string
		for _, s := range list {
			out = append(out, s.Name)
		}
		return out, nil
	}
}

// CompleteGroups completes the values of a flag with the instance groups of the cluster that the command line names.
func (h *OneCluster) CompleteGroups(f *Factory, cmd *cobra.Command, flag string) {
	h.completeParts(f, cmd, flag, func(ctx context.Context, f *Factory, one OneCluster) (out []string, err error) {
		_, c, err := one.Describe(ctx, f)
		for _, g := range c.Groups {
			out = append(out, described(g.Name, strings.Join(g.InstanceTypes, ", ")))
		}
		return out, err
	})
}

// CompleteNodes completes the values of a flag with the instances of the cluster that the command line names.
func (h *OneCluster) CompleteNodes(f *Factory, cmd *cobra.Command, flag string) {
	h.completeParts(f, cmd, flag, nodesOf)
}

// CompleteNodeArgs completes the arguments of a command that takes a cluster, unless a flag names it, and at most so many of its
// nodes (0: any number). It follows AddFlags.
func (h *OneCluster) CompleteNodeArgs(f *Factory, cmd *cobra.Command, most int) {
	completeCluster := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		one, given := *h, args
		switch {
		case one.Cluster != "":
		case len(args) == 0:
			return completeCluster(cmd, args, prefix)
		default:
			one.Cluster, given = args[0], args[1:]
		}
		if most > 0 && len(given) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found, directive := f.CompleteWith(cmd, prefix, func(ctx context.Context, f *Factory) ([]string, error) { return nodesOf(ctx, f, one) })
		return slices.DeleteFunc(found, func(w string) bool { return slices.Contains(given, Word(w)) }), directive
	}
}

// nodesOf returns the instances of a cluster, each with its group.
func nodesOf(ctx context.Context, f *Factory, one OneCluster) (out []string, err error) {
	client, err := f.AWS(ctx, one.Account, "")
	if err != nil {
		return nil, err
	}
	nodes, err := client.ListNodes(ctx, one.Cluster)
	for _, n := range nodes {
		out = append(out, described(n.InstanceID, n.Group))
	}
	return out, err
}

// completeParts completes the values of a flag with parts of the cluster that the command line names.
func (h *OneCluster) completeParts(f *Factory, cmd *cobra.Command, flag string, parts func(context.Context, *Factory, OneCluster) ([]string, error)) {
	f.CompleteFlagBy(cmd, flag, func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		one := *h
		if len(args) > 0 {
			one.Cluster = args[0]
		}
		return f.CompleteWith(cmd, prefix, func(ctx context.Context, f *Factory) ([]string, error) {
			if one.Cluster == "" {
				return nil, nil
			}
			return parts(ctx, f, one)
		})
	})
}

// profiles completes the AWS profiles of this machine.
func profiles(_ context.Context, f *Factory) ([]string, error) {
	var out []string
	for _, p := range aws.Profiles(f.Env) {
		out = append(out, described(p.Name, p.Region))
	}
	return out, nil
}

// regions completes AWS regions. Those of a profile name it.
func regions(_ context.Context, f *Factory) ([]string, error) {
	of := map[string]string{}
	for _, p := range aws.Profiles(f.Env) {
		if _, seen := of[p.Region]; !seen && p.Region != "" {
			of[p.Region] = "of profile " + p.Name
		}
	}
	var out []string
	for _, r := range aws.Regions() {
		out = append(out, described(r, of[r]))
		delete(of, r)
	}
	for r, text := range of {
		out = append(out, described(r, text))
	}
	return out, nil
}
