package apply

import (
	"context"
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
)

// Service is the SageMaker API as far as RunService needs it.
type Service interface {
	// Change sends an operation and returns its answer.
	Change(ctx context.Context, operation string, request service.JSON) (service.JSON, error)
	// Describe returns a resource; nil: it does not exist.
	Describe(ctx context.Context, kind, id string) (*service.Resource, error)
	// Find returns a resource by its name; nil: it does not exist.
	Find(ctx context.Context, kind, name string) (*service.Resource, error)
	// Outcome returns what an error of Change means.
	Outcome(err error) Outcome
}

// Outcome is what an error of the service means for the change.
type Outcome int

// The outcomes.
const (
	// Refused: the change was not made.
	Refused Outcome = iota
	// Moved: somebody else changed the resource, or it is being changed.
	Moved
	// Gone: the resource does not exist.
	Gone
	// Unknown: no answer; the change may have been made.
	Unknown
)

// ServiceOptions are the options of RunService.
type ServiceOptions struct {
	// Done is called after each operation, Waiting whenever SageMaker is still making the change.
	Done    func(policy.Operation)
	Waiting func(op policy.Operation, status string)
	// Pause waits before the n-th look at a status, from 0. The end of its context, or an
	// error, ends the wait.
	Pause func(ctx context.Context, n int) error
	// NoWait does not wait for the service to make a change.
	NoWait bool
}

// MovedError is the error of a resource that somebody else changed since the plan.
type MovedError struct {
	Kind, Name string
	// Now is the resource, nil when it is gone.
	Now *service.Resource
	Err error
}

func (e *MovedError) Error() string { return e.Err.Error() }
func (e *MovedError) Unwrap() error { return e.Err }

// StatusError is the error of a change that the service failed to make.
type StatusError struct {
	Kind, Name, Team, Status, Reason string
	Recovery                         service.Recovery
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: %s: %s", e.Kind, e.Name, e.Status, e.Reason)
}

// RunService makes operations on the service in their order. Each ends before the next
// begins; the first failure ends all. A change whose answer is lost is looked up, and
// not made twice.
func RunService(ctx context.Context, s Service, ops []policy.Operation, o ServiceOptions) error {
	for i, op := range ops {
		err := ctx.Err()
		if err == nil {
			err = change(ctx, s, op, o)
		}
		if err != nil {
			return &Failure{op, ops[:i], ops[i:], err}
		}
		if o.Done != nil {
			o.Done(op)
		}
	}
	return nil
}

func change(ctx context.Context, s Service, op policy.Operation, o ServiceOptions) error {
	id, version := op.ID, 0
	switch op.Action {
	case policy.Create:
		answer, err := s.Change(ctx, "Create"+op.Kind, op.Object)
		if err != nil {
			found, findErr := created(ctx, s, op, err)
			if found == nil || findErr != nil {
				return err
			}
			answer = service.JSON{op.Kind + "Id": found.ID}
		}
		id, _ = answer[op.Kind+"Id"].(string)
	case policy.Update:
		answer, err := s.Change(ctx, "Update"+op.Kind, op.Object)
		if err != nil {
			if made, err := settled(ctx, s, op, err); !made {
				return err
			}
		}
		number, _ := answer[op.Kind+"Version"].(float64)
		version = int(number)
	case policy.Delete:
		_, err := s.Change(ctx, "Delete"+op.Kind, service.JSON{op.Kind + "Id": op.ID})
		if err != nil && s.Outcome(err) == Gone {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if o.NoWait && !op.Recovers { // a creation after a deletion needs its end
		return nil
	}
	return Settle(ctx, s, op, id, version, o)
}

// created looks up a resource whose creation got no answer, or met one of the same name:
// it counts if it is what the request wants. A creation without an answer may arrive
// late, so that is nothing to rely on.
func created(ctx context.Context, s Service, op policy.Operation, err error) (*service.Resource, error) {
	if what := s.Outcome(err); what != Unknown && what != Moved {
		return nil, nil
	}
	found, findErr := s.Find(ctx, op.Kind, op.Name)
	if findErr != nil || found == nil || !service.Matches(found, op.Object) {
		return nil, findErr
	}
	return found, nil
}

// settled reports whether an update that failed has been made all the same; else the
// error says why not.
func settled(ctx context.Context, s Service, op policy.Operation, err error) (bool, error) {
	what := s.Outcome(err)
	if what == Refused {
		return false, err
	}
	if what == Gone {
		return false, &MovedError{op.Kind, op.Name, nil, err}
	}
	now, readErr := s.Describe(ctx, op.Kind, op.ID)
	switch {
	case readErr != nil:
		return false, err
	case now == nil:
		return false, &MovedError{op.Kind, op.Name, nil, err}
	case now.Version > op.Version && service.Matches(now, op.Object):
		return true, nil
	case what == Moved || now.Version > op.Version:
		return false, &MovedError{op.Kind, op.Name, now, err}
	}
	return false, err
}

// Settle waits until the service has made a change of a resource. Answers of versions
// before the given one, 0 for any, come from before the change.
func Settle(ctx context.Context, s Service, op policy.Operation, id string, version int, o ServiceOptions) error {
	for n := 0; ; n++ {
		r, err := s.Describe(ctx, op.Kind, id)
		switch {
		case err != nil:
			return err
		case r == nil && op.Action == policy.Delete:
			return nil
		case r == nil:
			return &MovedError{op.Kind, op.Name, nil, fmt.Errorf("%s %s does not exist any more", op.Kind, op.Name)}
		case service.Failed(r.Status) && !(op.Recovers && r.Version < version):
			return &StatusError{op.Kind, op.Name, op.Team, r.Status, r.FailureReason, service.RecoveryOf(r.Status)}
		case op.Action == policy.Delete && r.Status == "Deleted":
			return nil
		case op.Action != policy.Delete && service.Made(r.Status) && r.Version >= version:
			return nil
		}
		if o.Waiting != nil {
			o.Waiting(op, r.Status)
		}
		if err := o.Pause(ctx, n); err != nil {
			return err
		}
	}
}
