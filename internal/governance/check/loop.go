package check

import (
	"context"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// loop returns the jobs ("namespace/job") that preempt each other without end once a new job of the name job preempts others. Policies
// allow that, for example if one team borrows what another one reclaims. The job may then start and lose its quota at once.
func (c *Checker) loop(ctx context.Context, wl *kueue.Workload, job string) ([]string, error) {
	if len(c.Engine.Family(wl.Namespace, wl.Name)) > 0 {
		return nil, nil // it is known: what it does is on the cluster already
	}
	e, _, err := c.In.Engine(ctx)
	if err != nil {
		return nil, err
	}
	after, err := e.Submit(ctx, wl.DeepCopy())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range after.Loop {
		ns, name, _ := strings.Cut(key, "/")
		if ns == wl.Namespace && name == wl.Name {
			name = job
		} else {
			name = c.In.JobName(ns, name)
		}
		out = append(out, ns+"/"+name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
