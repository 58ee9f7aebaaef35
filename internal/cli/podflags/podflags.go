// Package podflags holds the flags by which commands choose pods of a job, and what they
// choose.
package podflags

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findjob"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
)

// Flags are --pod, --all-pods, --role, --rank and --container.
type Flags struct {
	Pod       string
	All       bool
	Role      string
	Rank      int
	Container string

	rankSet, several bool
}

// Add defines the flags and their completion.
func (p *Flags) Add(f *factory.Factory, cmd *cobra.Command) {
	p.several = true
	cmd.Flags().BoolVar(&p.All, "all-pods", false, "use all pods of the job")
	p.add(f, cmd, "use the pods of this role (master, worker, launcher, head, ...)")
}

// AddSingle defines the flags for a command that uses a single pod.
func (p *Flags) AddSingle(f *factory.Factory, cmd *cobra.Command) {
	p.add(f, cmd, "use the first pod of this role (master, worker, launcher, head, ...)")
}

func (p *Flags) add(f *factory.Factory, cmd *cobra.Command, role string) {
	fs := cmd.Flags()
	fs.StringVarP(&p.Pod, "pod", "p", "", "name of the pod")
	fs.StringVar(&p.Role, "role", "", role)
	fs.IntVar(&p.Rank, "rank", 0, "use the pod of this rank")
	fs.StringVarP(&p.Container, "container", "c", "", "name of the container (default: the pod's default container, else its first)")
	complete := func(flag string, words func([]pick.Pod) []string) {
		f.CompleteFlagBy(cmd, flag, func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			name, _ := cmd.Flags().GetString("name")
			if len(args) > 0 {
				name = args[0]
			}
			return f.CompleteWith(cmd, prefix, func(ctx context.Context, f *factory.Factory) ([]string, error) {
				pods, err := podsOf(ctx, f, name)
				return words(pods), err
			})
		})
	}
	complete("pod", func(pods []pick.Pod) (out []string) {
		for _, p := range pods {
			out = append(out, p.Name)
		}
		return out
	})
	complete("container", func(pods []pick.Pod) (out []string) {
		for _, p := range pods {
			out = append(append(out, p.ContainerNames...), p.InitNames...)
		}
		return out
	})
	complete("role", func(pods []pick.Pod) (out []string) {
		for _, p := range pods {
			out = append(out, strings.ToLower(p.Role))
		}
		return out
	})
	complete("rank", func(pods []pick.Pod) (out []string) {
		for _, p := range pods {
			if p.Rank >= 0 {
				out = append(out, strconv.Itoa(p.Rank))
			}
		}
		return out
	})
}

// podsOf reads the pods of a job for completion.
func podsOf(ctx context.Context, f *factory.Factory, name string) ([]pick.Pod, error) {
	if name == "" {
		return nil, nil
	}
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	j, err := Find(ctx, f, c, name, "")
	if err != nil {
		return nil, err
	}
	return logs.Pods(ctx, c.Client, j)
}

// Settle records which flags were given and refuses those that cannot be combined.
func (p *Flags) Settle(cmd *cobra.Command) error {
	p.rankSet = cmd.Flags().Changed("rank")
	p.Pod = factory.BareName(p.Pod, "pod")
	var given []string
	for _, name := range []string{"pod", "all-pods", "role", "rank"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	switch {
	case len(given) > 1:
		return errs.Usagef("%s cannot be used with %s", given[0], strings.Join(given[1:], " and ")).Suggest(errs.Run("list-pods", "NAME").WithNote("shows names, roles and ranks"))
	case p.rankSet && p.Rank < 0:
		return errs.Usagef("invalid --rank %d: must be at least 0", p.Rank).Suggest(suggest.Rank(0))
	}
	return nil
}

// Choice returns what the flags choose.
func (p *Flags) Choice() pick.Choice {
	c := pick.Choice{Pod: p.Pod, All: p.All, Role: p.Role}
	if p.rankSet {
		c.Rank = &p.Rank
	}
	return c
}

// Find reads the job that a name refers to.
func Find(ctx context.Context, f *factory.Factory, c *factory.Cluster, name, kind string) (state.Job, error) {
	found, err := findjob.Find(ctx, f, c, "get", name, kind)
	if err != nil {
		return state.Job{}, err
	}
	return found.State()
}
