package check

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// Together returns the verdicts on jobs that are submitted one after another: each finds
// those before it in its queue, or with their quota and on their nodes. The checker's
// cluster then has all of them. The first and the last job that wait for quota get an
// estimate where the requests ask for remedies; only a single job gets remedies. more is asked before
// each job but the first, and before an estimate: where it returns false, the verdicts end,
// and there are no estimates. nil means all jobs.
func (c *Checker) Together(ctx context.Context, requests []Request, more func() bool) ([]*Verdict, error) {
	out := make([]*Verdict, 0, len(requests))
	names := make([]string, len(requests)) // of the workloads
	var waiting []int
	for i, r := range requests {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i > 0 && more != nil && !more() {
			return out, nil
		}
		alone := r
		alone.Remedies = r.Remedies && len(requests) == 1
		v, err := c.Check(ctx, alone)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if v.Verdict == Waits && v.Quota.Status == StatusFailed {
			waiting = append(waiting, i)
		}
		if !v.barred() { // one that can never run may still be in the way
			if names[i], err = c.Submit(ctx, &alone, v); err != nil {
				return nil, err
			}
		}
	}
	for n, i := range waiting {
		if len(requests) == 1 {
			break // it has its estimate
		}
		if n > 0 && n < len(waiting)-1 || !requests[i].Remedies || more != nil && !more() {
			continue
		}
		wl := c.Engine.Stored(out[i].Job.Namespace, names[i])
		if wl == nil {
			continue
		}
		if err := c.estimate(ctx, &requests[i], wl, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Submit adds a job with its verdict to the cluster of the checker, and returns the name of its workload. It sets what follows
// only then: LoopJobs and PreemptedBy.
func (c *Checker) Submit(ctx context.Context, r *Request, v *Verdict) (string, error) {
	var again Verdict
	wl, err := c.workload(ctx, r, &again)
	if err != nil || len(wl.Spec.PodSets) == 0 {
		return "", err
	}
	after, err := c.add(ctx, wl, again.joins)
	v.Quota.LoopJobs = c.loopJobs(after.Loop, wl, v.Job.Name)
	if after.By != "" {
		v.Quota.PreemptedBy = c.jobOf(after.By)
	}
	return wl.Name, err
}

// add adds a workload to the cluster of the checker: a new one, or new pods to one that exists.
// It returns what follows.
func (c *Checker) add(ctx context.Context, wl *kueue.Workload, joins *joined) (after admission.Submitted, err error) {
	if joins != nil {
		if d, err := c.Engine.Probe(ctx, wl); err != nil {
			return after, err
		} else if d.Outcome.Starts() {
			c.bind(wl, &d, joins)
		}
		return after, nil
	}
	wl.UID = types.UID(fmt.Sprintf("submitted-%06d", c.submitted))
	wl.CreationTimestamp.Time = c.In.Taken.Add(time.Duration(c.submitted) * time.Millisecond)
	c.submitted++
	if wl.Spec.QueueName == "" {
		c.bind(wl, nil, nil)
		return after, nil
	}
	d, err := c.Engine.Probe(ctx, wl)
	if err != nil {
		return after, err
	}
	if after, err = c.Engine.Submit(ctx, wl); err != nil {
		return after, err
	}
	if len(after.Evicted) > 0 {
		c.evicted, c.nodes = append(c.evicted, after.Evicted...), nil
	}
	c.takeOver(wl)
	if d.Outcome.Starts() && after.By == "" {
		c.bind(wl, &d, nil)
	}
	return after, nil
}

// loopJobs returns the jobs ("namespace/job") of workloads ("namespace/name"). wl is the workload of the new job.
func (c *Checker) loopJobs(workloads []string, wl *kueue.Workload, job string) []string {
	var out []string
	for _, key := range workloads {
		if key == wl.Namespace+"/"+wl.Name {
			out = append(out, wl.Namespace+"/"+job)
		} else {
			out = append(out, c.jobOf(key))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// takeOver takes over what the engine made of the workloads. What was read stays as it is.
func (c *Checker) takeOver(added *kueue.Workload) {
	in := *c.In
	in.Workloads, in.Variants = make([]*kueue.Workload, 0, len(c.In.Workloads)+1), nil
	for _, w := range append(c.In.Workloads[:len(c.In.Workloads):len(c.In.Workloads)], added) {
		if family := c.Engine.Family(w.Namespace, w.Name); len(family) > 0 {
			w = family[0]
			in.Variants = append(in.Variants, family[1:]...)
		}
		in.Workloads = append(in.Workloads, w)
	}
	taken := map[*kueue.Workload]bool{}
	for _, v := range in.Variants {
		taken[v] = true
	}
	for _, v := range c.In.Variants { // of a workload that Kueue does not know as their parent
		if now := c.Engine.Stored(v.Namespace, v.Name); now != nil && !taken[now] {
			in.Variants = append(in.Variants, now)
		}
	}
	c.In, c.used, c.bounds = &in, in.Usage(), nil
	c.Tree = in.Quota(c.used)
}

// bind puts the pods of a job on the nodes where they fit.
func (c *Checker) bind(wl *kueue.Workload, d *admission.Decision, joins *joined) {
	for _, groups := range c.groups(wl, d) {
		groups = joins.only(groups)
		if c.cluster(nil).Place(groups, false).Fits {
			c.nodes.Bind(groups)
			c.bound = append(c.bound, groups)
			return
		}
	}
}

// cluster returns the nodes with the pods on them, without those of the targets of a
// preemption.
func (c *Checker) cluster(targets []admission.Preemption) *fit.Cluster {
	if len(targets) == 0 && c.nodes != nil {
		return c.nodes
	}
	all := append(append([]admission.Preemption{}, c.evicted...), targets...)
	var gone func(*corev1.Pod) bool
	if len(all) > 0 {
		gone = c.podsOf(all)
	}
	out := fit.New(c.In.Nodes, c.In.Pods, gone)
	for _, groups := range c.bound {
		out.Bind(groups)
	}
	if len(targets) == 0 {
		c.nodes = out
	}
	return out
}

// with returns a checker whose cluster also has the objects that are submitted before a job and request quota, and their names.
// Without any it is the same checker.
func (c *Checker) with(ctx context.Context, r *Request) (_ *Checker, names []string, err error) {
	out := c
	for _, o := range r.Beside {
		k, ok := kinds.JobFor(kinds.Text(o, "apiVersion"), kinds.Text(o, "kind"))
		if governs, _ := c.rules.Governs(k); !ok || !governs {
			continue
		}
		var v Verdict
		wl, fault := c.workload(ctx, &Request{Object: o, Namespace: r.Namespace}, &v)
		if fault != nil || len(wl.Spec.PodSets) == 0 || wl.Spec.QueueName == "" {
			continue // it requests no quota, or the API server reports the fault
		}
		if out == c {
			if out, err = New(ctx, c.In); err != nil {
				return nil, nil, err
			}
		}
		if _, err := out.add(ctx, wl, v.joins); err != nil {
			return nil, nil, err
		}
		names = append(names, k.Kind+" "+kinds.Text(o, "metadata", "name"))
	}
	return out, names, nil
}
