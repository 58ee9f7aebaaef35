package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Unseen is what could not be read and may decide: quota of others, priorities of
// their jobs. Kueue's answer is asked for at both ends of what that can be; where
// the two agree on whether the job starts, that is the answer.
type Unseen struct {
	// Best and Worst are Kueue's outcomes at the two ends.
	Best, Worst string
	// If is what must be the case for the job to start now; "" where it starts, or
	// does not, in any case.
	If string `json:",omitempty"`
	// SettledBy are the kinds that would have to be read to know.
	SettledBy []string
}

// ends are the engines of the two ends of what is not seen of a queue.
type ends struct {
	unseen      inputs.Unseen
	best, worst *admission.Engine
}

// endsOf returns the two ends for a queue, nil where nothing is unseen.
func (c *Checker) endsOf(ctx context.Context, queue string) (*ends, error) {
	if e, ok := c.ends[queue]; ok {
		return e, nil
	}
	var e *ends
	if u := c.In.Unseen(queue); u.Any() {
		e = &ends{unseen: u}
		for _, to := range []**admission.Engine{&e.best, &e.worst} {
			engine, _, err := c.In.End(queue, to == &e.best).Engine(ctx)
			if err != nil {
				return nil, err
			}
			*to = engine
		}
	}
	if c.ends == nil {
		c.ends = map[string]*ends{}
	}
	c.ends[queue] = e
	return e, nil
}

// between decides where something is not seen: base is the answer of what is. It
// returns the decision to report.
func (c *Checker) between(ctx context.Context, wl *kueue.Workload, base admission.Decision, v *Verdict) (admission.Decision, error) {
	e, err := c.endsOf(ctx, base.ClusterQueue)
	if err != nil || e == nil || len(base.NotModelled) > 0 {
		return base, err
	}
	best, err := e.best.Probe(ctx, wl)
	if err != nil {
		return base, err
	}
	worst, err := e.worst.Probe(ctx, wl)
	if err != nil {
		return base, err
	}
	cq := c.In.ClusterQueue(base.ClusterQueue)
	if e.unseen.Waiting && cq.Spec.QueueingStrategy == kueue.StrictFIFO && worst.Outcome.Starts() {
		worst.Outcome = admission.Waits // behind jobs that are not seen
	}
	u := &Unseen{Best: string(best.Outcome), Worst: string(worst.Outcome), SettledBy: []string{}}
	for _, m := range e.unseen.Tree {
		u.SettledBy = append(u.SettledBy, m.Resource.FullName())
	}
	if e.unseen.Holders || e.unseen.Waiting {
		u.SettledBy = append(u.SettledBy, kinds.Workload.FullName())
	}
	v.Quota.Unseen, v.unseenTree = u, len(e.unseen.Tree) > 0
	switch {
	case !best.Outcome.Starts():
		return best, nil // the same, or better: it waits for, or exceeds, what is seen
	case !worst.Outcome.Starts():
		u.If = "?" // in words once the amounts are known
		v.unseenWaiting = e.unseen.Waiting
		return base, nil
	case base.Outcome.Starts():
		return base, nil
	}
	return worst, nil
}

// condition says what must be the case for the job to start now.
func (v *Verdict) condition() string {
	for _, l := range v.leastShort() {
		if !v.unseenTree {
			break
		}
		lend := max(0, l.Requested-max(0, l.Nominal-l.Used))
		own := l.Requested - lend
		taken := own > l.kept() && own > 0
		switch {
		case lend > 0 && taken:
			return fmt.Sprintf("other teams lend %s and have not borrowed %s's own %s", words.Amount(l.Resource, lend), v.queueName(), words.Number(l.Resource, own))
		case lend > 0:
			return "other teams lend " + words.Amount(l.Resource, lend)
		case taken:
			return fmt.Sprintf("other teams have not borrowed %s of %s's own", words.Amount(l.Resource, own), v.queueName())
		}
	}
	if v.unseenWaiting && v.Quota.Ahead == 0 {
		return "none of the jobs that " + v.whyUnread(kinds.Workload, "are") + " waits before it"
	}
	return "the jobs that hold the quota may be preempted"
}

// kept is what is idle of the queue's own and never lent.
func (l *Line) kept() quota.Base {
	if l.LendingLimit == nil {
		return 0
	}
	return max(0, l.Nominal-*l.LendingLimit-l.Used)
}

// leastShort are the lines, of each resource the one of the flavor that misses least.
func (v *Verdict) leastShort() []Line {
	var out []Line
	for _, l := range v.Quota.Resources {
		i := slices.IndexFunc(out, func(o Line) bool { return o.Resource == l.Resource })
		switch {
		case i < 0:
			out = append(out, l)
		case l.shortage.Less(out[i].shortage):
			out[i] = l
		}
	}
	return out
}

// whyUnread says why a kind was not read, as Inputs.WhyUnread does.
func (v *Verdict) whyUnread(r kinds.Resource, be string) string {
	for _, m := range v.Missing {
		if m.Resource == r.FullName() {
			return inputs.Unread(m.Reason, be)
		}
	}
	return inputs.Unread(state.Forbidden, be)
}

// unreadJobs are the jobs of a team that were not read, in words.
func (v *Verdict) unreadJobs(team string) string {
	return "jobs of " + team + " that " + v.whyUnread(kinds.Workload, "are")
}

// hangs reports an answer that hangs on what is not seen.
func (v *Verdict) hangs() bool { return v.Quota.Unseen != nil && v.Quota.Unseen.If != "" }

// settles says what would have to be read to know, of the kinds given.
func (v *Verdict) settles(resources []string) string {
	var rights, inFile, failed []string
	for _, full := range resources {
		name, _, _ := strings.Cut(full, ".")
		reason := state.Forbidden
		for _, m := range v.Missing {
			if m.Resource == full {
				reason = m.Reason
				break
			}
		}
		switch reason {
		case state.NotInFile:
			inFile = append(inFile, name)
		case state.Failed:
			failed = append(failed, name)
		default:
			rights = append(rights, name)
		}
	}
	var out []string
	if len(rights) > 0 {
		out = append(out, "the right to list "+strings.Join(rights, " and ")+" in the whole cluster")
	}
	if len(inFile) > 0 {
		out = append(out, "a file with all "+strings.Join(inFile, " and "))
	}
	if len(failed) > 0 {
		out = append(out, "reading "+strings.Join(failed, " and ")+", which failed")
	}
	return strings.Join(out, ", and ")
}
