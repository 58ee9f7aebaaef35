package getclusters

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// atATime is how many clusters are read at a time: the rate of DescribeCluster is
// limited for an account.
const atATime = 25

// patience is how long one cluster's API server has to answer. A private endpoint does
// not refuse connections, it never answers.
const patience = 15 * time.Second

// readAll reads the clusters, in parallel. The result has their order.
func (o *Options) readAll(ctx context.Context, client *aws.Client, names []string) []cluster {
	out := make([]cluster, len(names))
	slots := make(chan struct{}, atATime)
	var wg crash.Group
	for i, name := range names {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i] = o.read(ctx, client, name)
		})
	}
	wg.Wait()
	return out
}

// read reads one cluster. What fails is in err, beside what is known all the same.
func (o *Options) read(ctx context.Context, client *aws.Client, name string) cluster {
	c, err := client.DescribeCluster(ctx, name)
	if err != nil {
		return cluster{name: name, err: err}
	}
	out := cluster{name: c.Name, status: c.Status, orchestrator: c.Orchestrator, types: ofGroups(c)}
	if c.Orchestrator != clusters.EKS {
		return out
	}
	out.err = o.readKubernetes(ctx, client, c, &out)
	return out
}

// readKubernetes replaces the figures by what the nodes and pods say.
func (o *Options) readKubernetes(parent context.Context, client *aws.Client, c clusters.Cluster, out *cluster) error {
	ctx, cancel := context.WithTimeout(parent, patience)
	defer cancel()
	endpoint, err := client.Endpoint(ctx, c.EKSARN)
	if err != nil {
		return err
	}
	k, err := o.Factory.EKS(ctx, client, endpoint)
	if err != nil {
		return err
	}
	team := len(o.Namespaces) > 0
	s, err := state.Load(ctx, k.Client, state.Want{Nodes: true, Pods: true, ClusterQueues: team, LocalQueues: team, Flavors: team}, k.Now())
	if err != nil {
		if ctx.Err() != nil && parent.Err() == nil {
			return errs.New("cannot reach EKS cluster "+endpoint.Name, "no answer within "+patience.String()).WithCause(err)
		}
		return err
	}
	if failed := factory.Failures(s.Missing); failed != nil {
		return failed
	}
	var hidden []string
	lacks := func(r kinds.Resource) bool {
		missing := len(s.MissingOf(r)) > 0
		if missing {
			hidden = append(hidden, r.Plural)
		}
		return missing
	}
	noNodes, noPods := lacks(kinds.Node), lacks(kinds.Pod)
	if team {
		lacks(kinds.ClusterQueue)
	}
	if len(hidden) > 0 {
		out.notes = append(out.notes, "some values are hidden: you need permission to list "+factory.NameSet(hidden))
	}
	if noNodes {
		return nil
	}
	s.Nodes = slices.DeleteFunc(s.Nodes, func(n state.Node) bool { return n.Labels[kinds.ClusterNameLabel] == "" })
	out.types = ofDevices(quota.DevicesOf(s, o.Namespaces), noPods)
	return nil
}

// ofDevices returns the instance types by the cluster's own figures.
func ofDevices(list []quota.Devices, noPods bool) []instanceType {
	out := make([]instanceType, len(list))
	for i, d := range list {
		nodes, schedulable := int64(d.TotalNodes), int64(d.Schedulable)
		t := instanceType{name: d.InstanceType, nodes: &nodes, schedulable: &schedulable, free: d.Available}
		if d.DeepHealthPassed != nil {
			passed := int64(*d.DeepHealthPassed)
			t.passedDeep = &passed
		}
		if noPods {
			t.free = nil
		}
		if len(d.Namespaces) > 0 {
			t.namespaces = map[string]Quota{}
			for name, q := range d.Namespaces {
				t.namespaces[name] = Quota{figure(q.Available), figure(q.Total)}
			}
		}
		out[i] = t
	}
	return out
}

// text returns what an error says in a row.
func text(err error) string {
	var own *errs.Error
	if errors.As(err, &own) {
		return own.Error()
	}
	return err.Error()
}
