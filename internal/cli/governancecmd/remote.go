package governancecmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/apply"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/plan"
	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
	"github.com/hyperpod-cli/hyperpod/internal/present/policytext"
)

// remote is the governance of a HyperPod cluster in SageMaker. It implements
// apply.Service.
type remote struct {
	f       *factory.Factory
	client  *aws.Client
	cluster clusters.Cluster
	state   *service.State
}

// openRemote reads the governance of a HyperPod cluster.
func openRemote(ctx context.Context, f *factory.Factory, account factory.Account, name string) (*remote, error) {
	client, err := f.AWS(ctx, account, "")
	if err != nil {
		return nil, err
	}
	c, err := client.DescribeCluster(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := aws.Governed(c); err != nil {
		return nil, err
	}
	r := &remote{f: f, client: client, cluster: c}
	return r, r.read(ctx)
}

func (r *remote) read(ctx context.Context) error {
	policies, allocations, err := r.client.Governance(ctx, r.cluster.ARN)
	if err != nil {
		return err
	}
	r.state, err = service.NewState(r.cluster.Name, r.cluster.ARN, policies, allocations)
	if err != nil {
		return errs.New("cannot read the governance of cluster "+r.cluster.Name, "the answer of SageMaker has an unexpected form").WithCause(err)
	}
	return nil
}

// Change implements apply.Service.
func (r *remote) Change(ctx context.Context, operation string, request service.JSON) (service.JSON, error) {
	return r.client.ChangeGoverned(ctx, operation, request)
}

// Describe implements apply.Service.
func (r *remote) Describe(ctx context.Context, kind, id string) (*service.Resource, error) {
	d, err := r.client.DescribeGoverned(ctx, kind, id)
	if aws.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := service.Read(kind, d)
	return &out, err
}

// Find implements apply.Service.
func (r *remote) Find(ctx context.Context, kind, name string) (*service.Resource, error) {
	policies, allocations, err := r.client.Governance(ctx, r.cluster.ARN)
	if err != nil {
		return nil, err
	}
	s, err := service.NewState(r.cluster.Name, r.cluster.ARN, policies, allocations)
	if err != nil {
		return nil, err
	}
	for _, list := range [][]service.Resource{s.Policies, s.Allocations} {
		for i := range list {
			if list[i].Kind == kind && list[i].Name == name {
				return &list[i], nil
			}
		}
	}
	return nil, nil
}

// Outcome implements apply.Service.
func (r *remote) Outcome(err error) apply.Outcome {
	switch {
	case aws.IsNotFound(err):
		return apply.Gone
	case aws.IsConflict(err):
		return apply.Moved
	case aws.Answered(err):
		return apply.Refused
	}
	return apply.Unknown
}

// patience is how long to wait for a Kubernetes cluster that only adds to a plan.
const patience = 10 * time.Second

// kueue reads the cluster that the service governs: the one of the global flags, else
// the EKS cluster of the HyperPod cluster. Nil: it cannot be read, and a note says why.
func (r *remote) kueue(ctx context.Context) (*policy.Live, *inputs.Inputs) {
	live, in, err := r.readKueue(ctx)
	if err == nil {
		err = readable(in)
	}
	if err != nil {
		r.f.Notef("note: the effects on jobs are unknown: %v", err)
		return nil, nil
	}
	return live, in
}

func (r *remote) readKueue(ctx context.Context) (*policy.Live, *inputs.Inputs, error) {
	if g := r.f.Global; g.Sandbox != "" || g.Snapshot != "" || g.Context != "" || g.Kubeconfig != "" {
		return readLive(ctx, r.f, "plan", true)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	endpoint, err := r.client.Endpoint(ctx, r.cluster.EKSARN)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := r.f.EKS(ctx, r.client, endpoint)
	if err != nil {
		return nil, nil, err
	}
	return loadLive(ctx, r.f, cluster, "plan", true)
}

// tags reads the tags of the resources to create again, which would lose them otherwise.
func (r *remote) tags(ctx context.Context, again recreation) error {
	for _, list := range [][]service.Resource{r.state.Policies, r.state.Allocations} {
		for i := range list {
			if !slices.Contains(again.names, list[i].RecreateName()) {
				continue
			}
			tags, err := r.client.Tags(ctx, list[i].ARN)
			switch {
			case err == nil:
				list[i].Tags = tags
			case again.dropTags && ctx.Err() == nil:
				r.f.Notef("warning: %s %s loses its tags: %v", list[i].Kind, list[i].Name, err)
			default:
				return unread(err, list[i])
			}
		}
	}
	return nil
}

// unread is the error about tags of a resource that cannot be read.
func unread(err error, r service.Resource) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	return e.WithFact("note", r.Kind+" "+r.Name+" is not deleted: it would lose its tags").
		Suggest(errs.Option("--drop-tags").WithNote("creates it again without tags"))
}

// recreation is what to delete and create again.
type recreation struct {
	names    []string
	dropTags bool
}

// buildRemote compares a document with the service and, where it can be read, with the
// cluster that the service governs.
func buildRemote(ctx context.Context, r *remote, q plan.Request, again recreation, consequences bool) (*plan.Plan, error) {
	if err := refuse(q, policy.Facts{Served: service.Served(r.state)}); err != nil {
		return nil, err
	}
	if consequences {
		q.Live, q.Inputs = r.kueue(ctx)
	}
	if err := r.tags(ctx, again); err != nil {
		return nil, err
	}
	p, err := plan.BuildRemote(q, plan.Remote{State: r.state, Recreate: again.names, Capacity: aws.Capacity(r.cluster)})
	var ambiguous *plan.AmbiguousError
	var unknown *plan.UnknownRecreate
	switch {
	case errors.As(err, &ambiguous):
		e := errs.New("cannot plan "+q.File, "teams have several compute allocations").WithCause(err)
		for _, team := range ambiguous.Teams {
			for _, a := range r.state.Allocations {
				if a.Team == team {
					e.WithFact(team, a.Name+" ("+a.ID+", "+a.Status+")")
				}
			}
		}
		return nil, e
	case errors.As(err, &unknown):
		return nil, errs.Usagef("invalid --recreate %q: must be a team of the file, or policy, that SageMaker failed to create or change", unknown.Names[0]).WithCause(err)
	case errors.Is(err, plan.ErrEmpty):
		return nil, noTeams(q.File).WithCause(err)
	case err != nil:
		return nil, errs.Wrap(err, "cannot plan "+q.File)
	}
	policytext.Fill(p.Findings)
	p.Unforeseen = consequences && q.Inputs == nil
	if q.Inputs != nil {
		if err := foresee(ctx, r.f, p, q.Inputs); err != nil {
			return nil, err
		}
	}
	return p, nil
}
