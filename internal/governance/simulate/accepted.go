package simulate

import (
	"context"
	"reflect"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/hyperpod-cli/hyperpod/internal/governance/admission"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// accepted reports an error for a changed queue that Kueue's API would refuse. What was wrong
// with it before is not the changes' fault.
func (a *applied) accepted(ctx context.Context) error {
	var queues []*kueue.ClusterQueue
	for _, q := range all[*kueue.ClusterQueue](a.World) {
		if _, changed := a.first[q.Name]; changed {
			queues = append(queues, q)
		}
	}
	if ok, err := a.acceptedTogether(ctx, queues); ok || err != nil {
		return err
	}
	for _, q := range queues {
		old := a.first[q.Name]
		bad, err := a.refusal(ctx, q)
		if err != nil {
			return err
		}
		if len(bad) == 0 {
			continue
		}
		if old != nil {
			if was, err := a.refusal(ctx, old); err != nil {
				return err
			} else if reflect.DeepEqual(was, bad) {
				continue
			}
		}
		return &Error{Code: Refused, Kind: kinds.ClusterQueue.Kind, Value: q.Name, Refusals: bad}
	}
	return nil
}

// acceptedTogether reports whether Kueue's API accepts all of some ClusterQueues.
func (a *applied) acceptedTogether(ctx context.Context, queues []*kueue.ClusterQueue) (bool, error) {
	var objects []client.Object
	for _, q := range queues {
		if borrowsWithoutReclaim(q) {
			return false, nil
		}
		objects = append(objects, q)
	}
	if len(objects) == 0 {
		return true, nil
	}
	bad, err := a.problems(ctx, objects)
	return err == nil && bad == nil, err
}

// refusal returns why Kueue's API refuses a ClusterQueue or Cohort; nil when it does not.
func (a *applied) refusal(ctx context.Context, o client.Object) ([]Refusal, error) {
	if q, ok := o.(*kueue.ClusterQueue); ok && borrowsWithoutReclaim(q) {
		return []Refusal{{}}, nil
	}
	bad, err := a.problems(ctx, []client.Object{o})
	if err != nil {
		return nil, err
	}
	var out []Refusal
	for _, problem := range admission.Problems(bad) {
		out = append(out, Refusal{problem})
	}
	return out, nil
}

// problems returns what is wrong with objects alone.
func (a *applied) problems(ctx context.Context, objects []client.Object) (bad, err error) {
	_, bad, err = World{Config: a.Config, Objects: objects, Now: a.Now}.engine(ctx, func() time.Time { return a.Now })
	return bad, err
}

// borrowsWithoutReclaim reports a preemption while borrowing that Kueue's API refuses without one to reclaim quota.
func borrowsWithoutReclaim(q *kueue.ClusterQueue) bool {
	if q.Spec.Preemption == nil {
		return false
	}
	p, b := q.Spec.Preemption, q.Spec.Preemption.BorrowWithinCohort
	return (p.ReclaimWithinCohort == "" || p.ReclaimWithinCohort == kueue.PreemptionPolicyNever) &&
		b != nil && b.Policy != "" && b.Policy != kueue.BorrowWithinCohortPolicyNever
}
