package check

import (
	"context"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
)

// Unseen is what could not be read and may affect the decision: quota of others, priorities of their jobs. The check
// runs Kueue's core for the best and for the worst case; if the job starts in both or in neither, that is the answer.
type Unseen struct {
	// Best and Worst are Kueue's outcomes in the two cases.
	Best, Worst string
	// If is the condition under which the job starts now, "" where the cases agree.
	If string `json:",omitempty"`
	// SettledBy are the kinds whose list would settle the answer.
	SettledBy []string

	// Tree reports that it is unknown what others have, lend and borrow; Waiting that
	// it is unknown whether jobs are ahead in the queue.
	Tree    bool `json:"-"`
	Waiting bool `json:"-"`
	// Fewer reports that the job preempts fewer others in the best case than the answer names.
	Fewer bool `json:"-"`
	// Condition is If as values, nil where the cases agree.
	Condition *Condition `json:"-"`
}

// Condition is what must hold for the job to start: others lend Lend and have not borrowed Own of the queue's own quota,
// both in base units of Resource. Where both are 0, no unseen job is ahead (Ahead), or the holders of the quota can be
// preempted.
type Condition struct {
	Resource  string
	Lend, Own quota.Base
	Ahead     bool
}

// bounds are the engines of the best and the worst case of what is unseen of a queue.
type bounds struct {
	unseen      inputs.Unseen
	best, worst *admission.Engine
}

// boundsOf returns the bounds of a queue, nil where nothing is unseen.
func (c *Checker) boundsOf(ctx context.Context, queue string) (*bounds, error) {
	if b, ok := c.bounds[queue]; ok {
		return b, nil
	}
	var b *bounds
	if u := c.In.Unseen(queue); u.Any() {
		b = &bounds{unseen: u}
		for _, to := range []**admission.Engine{&b.best, &b.worst} {
			engine, _, err := c.In.Bound(queue, to == &b.best).Engine(ctx)
			if err != nil {
				return nil, err
			}
			*to = engine
		}
	}
	if c.bounds == nil {
		c.bounds = map[string]*bounds{}
	}
	c.bounds[queue] = b
	return b, nil
}

// between returns the decision to report where something is unseen; base is the
// decision by what was read.
func (c *Checker) between(ctx context.Context, wl *kueue.Workload, base admission.Decision, v *Verdict) (admission.Decision, error) {
	b, err := c.boundsOf(ctx, base.ClusterQueue)
	if err != nil || b == nil || len(base.NotModelled) > 0 {
		return base, err
	}
	best, err := b.best.Probe(ctx, wl)
	if err != nil {
		return base, err
	}
	worst, err := b.worst.Probe(ctx, wl)
	if err != nil {
		return base, err
	}
	cq := c.In.ClusterQueue(base.ClusterQueue)
	if b.unseen.Waiting && cq.Spec.QueueingStrategy == kueue.StrictFIFO && worst.Outcome.Starts() {
		worst.Outcome = admission.Waits // behind unseen jobs
	}
	u := &Unseen{Best: string(best.Outcome), Worst: string(worst.Outcome), SettledBy: []string{}, Tree: len(b.unseen.Tree) > 0}
	for _, m := range b.unseen.Tree {
		u.SettledBy = append(u.SettledBy, m.Resource.FullName())
	}
	if b.unseen.Holders || b.unseen.Waiting {
		u.SettledBy = append(u.SettledBy, kinds.Workload.FullName())
	}
	v.Quota.Unseen = u
	switch {
	case !best.Outcome.Starts():
		return best, nil // it waits for, or exceeds, what was read
	case !worst.Outcome.Starts():
		u.Condition = &Condition{} // set when the amounts are known
		u.Waiting = b.unseen.Waiting
		return base, nil
	case base.Outcome.Starts():
		u.Fewer = len(best.Preempts) < len(base.Preempts)
		return base, nil
	}
	u.Fewer = len(best.Preempts) < len(worst.Preempts)
	return worst, nil
}

// condition returns what has to hold for the job to start now.
func (v *Verdict) condition() *Condition {
	for _, l := range v.LeastShort() {
		if !v.Quota.Unseen.Tree {
			break
		}
		c := Condition{Resource: l.Resource, Lend: max(0, l.Requested-max(0, l.Nominal-l.Used))}
		if own := l.Requested - c.Lend; own > l.kept() {
			c.Own = own
		}
		if c.Lend > 0 || c.Own > 0 {
			return &c
		}
	}
	return &Condition{Ahead: v.Quota.Unseen.Waiting && v.Quota.Ahead == 0}
}

// Undecided reports whether the answer depends on what is unseen.
func (v *Verdict) Undecided() bool { return v.Quota.Unseen != nil && v.Quota.Unseen.Condition != nil }
