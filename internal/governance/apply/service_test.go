package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/governance/policy"
	"github.com/hyperpod-cli/hyperpod/internal/governance/service"
)

// api is a service that answers as a test wants it.
type api struct {
	calls []string
	// change answers an operation; describe the n-th look at a resource.
	change   func(operation string) (service.JSON, error)
	describe func(n int) *service.Resource
	find     *service.Resource
	looks    int
}

var (
	errRefused = errors.New("refused")
	errMoved   = errors.New("moved")
	errGone    = errors.New("gone")
	errLost    = errors.New("lost")
)

func (a *api) Change(_ context.Context, operation string, _ service.JSON) (service.JSON, error) {
	a.calls = append(a.calls, operation)
	return a.change(operation)
}

func (a *api) Describe(context.Context, string, string) (*service.Resource, error) {
	a.looks++
	return a.describe(a.looks), nil
}

func (a *api) Find(context.Context, string, string) (*service.Resource, error) { return a.find, nil }

func (a *api) Outcome(err error) Outcome {
	return map[error]Outcome{errRefused: Refused, errMoved: Moved, errGone: Gone, errLost: Unknown}[err]
}

// at is a resource of team a with a weight.
func at(version int, status string, weight float64) *service.Resource {
	return &service.Resource{Kind: service.Quota, ID: "i", Name: "a", Team: "a", Version: version, Status: status, FailureReason: "why",
		Target: service.JSON{"TeamName": "a", "FairShareWeight": weight}, By: "grace"}
}

func TestRunService(t *testing.T) {
	create := policy.Operation{Action: policy.Create, Kind: service.Quota, Name: "a", Team: "a", Object: service.JSON{"ComputeQuotaTarget": service.JSON{"TeamName": "a", "FairShareWeight": 2.0}}}
	update := create
	update.Action, update.ID, update.Version = policy.Update, "i", 1
	retry := update
	retry.Recovers = true
	remove := policy.Operation{Action: policy.Delete, Kind: service.Quota, Name: "a", ID: "i"}
	ok := func(string) (service.JSON, error) {
		return service.JSON{"ComputeQuotaId": "i", "ComputeQuotaVersion": 2.0}, nil
	}
	fails := func(err error) func(string) (service.JSON, error) {
		return func(string) (service.JSON, error) { return nil, err }
	}
	steps := func(list ...*service.Resource) func(int) *service.Resource {
		return func(n int) *service.Resource { return list[min(n, len(list))-1] }
	}
	for name, c := range map[string]struct {
		op   policy.Operation
		api  api
		want string // "" or a part of the error
	}{
		"a creation waits for its end":                      {create, api{change: ok, describe: steps(at(1, "Creating", 2), at(1, "Creating", 2), at(1, "Created", 2))}, ""},
		"a creation that fails":                             {create, api{change: ok, describe: steps(at(1, "Creating", 2), at(1, "CreateFailed", 2))}, "CreateFailed: why"},
		"a refused creation is not looked up":               {create, api{change: fails(errRefused), find: at(1, "Created", 2)}, "refused"},
		"a creation without an answer that was made":        {create, api{change: fails(errLost), find: at(1, "Creating", 2), describe: steps(at(1, "Created", 2))}, ""},
		"a creation without an answer that was not made":    {create, api{change: fails(errLost)}, "lost"},
		"a name that somebody else took with other content": {create, api{change: fails(errMoved), find: at(1, "Created", 3)}, "moved"},
		"an update that somebody else was quicker with":     {update, api{change: fails(errMoved), describe: steps(at(2, "Updated", 3))}, "moved"},
		"an update that somebody else made just so":         {update, api{change: fails(errMoved), describe: steps(at(2, "Updated", 2))}, ""},
		"an update without an answer that was made":         {update, api{change: fails(errLost), describe: steps(at(2, "Updating", 2), at(2, "Updated", 2))}, ""},
		"an update without an answer that was not made":     {update, api{change: fails(errLost), describe: steps(at(1, "Created", 1))}, "lost"},
		"an update of what is gone":                         {update, api{change: fails(errGone)}, "gone"},
		"an update does not end with the old version":       {update, api{change: ok, describe: steps(at(1, "Created", 1), at(2, "Updating", 2), at(2, "Updated", 2))}, ""},
		"an update that is rolled back":                     {update, api{change: ok, describe: steps(at(2, "Updating", 2), at(2, "UpdateRollbackFailed", 1))}, "UpdateRollbackFailed"},
		"an update again passes over the failure before it": {retry, api{change: ok, describe: steps(at(1, "UpdateFailed", 1), at(2, "Updating", 2), at(2, "Updated", 2))}, ""},
		"an update of a resource that vanishes":             {update, api{change: ok, describe: steps(nil)}, "does not exist"},
		"a deletion ends when the resource is gone":         {remove, api{change: ok, describe: steps(at(1, "Created", 1), at(1, "Deleting", 1), nil)}, ""},
		"a deletion that ends in Deleted":                   {remove, api{change: ok, describe: steps(at(1, "Deleting", 1), at(1, "Deleted", 1))}, ""},
		"a deletion of what is gone":                        {remove, api{change: fails(errGone)}, ""},
		"a deletion that fails":                             {remove, api{change: ok, describe: steps(at(1, "Deleting", 1), at(1, "DeleteFailed", 1))}, "DeleteFailed"},
		"a status that nobody knows is not the end":         {update, api{change: ok, describe: steps(at(2, "Paused", 2))}, "patience"},
		"a wait ends when the caller's patience does":       {update, api{change: ok, describe: steps(at(2, "Updating", 2))}, "patience"},
	} {
		t.Run(name, func(t *testing.T) {
			a := c.api
			err := RunService(t.Context(), &a, []policy.Operation{c.op}, ServiceOptions{Pause: func(_ context.Context, n int) error {
				if n > 5 {
					return errors.New("no patience")
				}
				return nil
			}})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if len(a.calls) != 1 {
				t.Errorf("sent %v", a.calls)
			}
		})
	}
}

// TestFirstFailureStops: operations after a failed one are not sent, and the failure says
// which are done and left.
func TestFirstFailureStops(t *testing.T) {
	var ops []policy.Operation
	for i := range 4 {
		ops = append(ops, policy.Operation{Action: policy.Update, Kind: service.Quota, Name: fmt.Sprint(i), ID: "i", Version: 1})
	}
	var done []string
	a := &api{describe: func(int) *service.Resource { return at(2, "Updated", 1) }}
	a.change = func(string) (service.JSON, error) {
		if len(a.calls) == 3 {
			return nil, errRefused
		}
		return service.JSON{"ComputeQuotaVersion": 2.0}, nil
	}
	err := RunService(t.Context(), a, ops, ServiceOptions{Done: func(op policy.Operation) { done = append(done, op.Name) }})
	var fail *Failure
	if !errors.As(err, &fail) || fail.Operation.Name != "2" || len(fail.Done) != 2 || len(fail.Left) != 2 || !slices.Equal(done, []string{"0", "1"}) || len(a.calls) != 3 {
		t.Errorf("%+v, done %v, sent %v", fail, done, a.calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.calls = nil
	if err := RunService(ctx, a, ops, ServiceOptions{}); !errors.Is(err, context.Canceled) || len(a.calls) != 0 {
		t.Errorf("%v, sent %v", err, a.calls)
	}
}

// TestUnknownStatus: a status that the API gets later is not the end of a change. The wait goes on, and reports it.
func TestUnknownStatus(t *testing.T) {
	errSlow := errors.New("slow")
	for _, action := range []policy.Action{policy.Create, policy.Update, policy.Delete} {
		op := policy.Operation{Action: action, Kind: service.Quota, Name: "a", ID: "i", Version: 1}
		a := &api{describe: func(int) *service.Resource { return at(2, "Paused", 1) }}
		var seen []string
		o := ServiceOptions{Waiting: func(_ policy.Operation, status string) { seen = append(seen, status) },
			Pause: func(_ context.Context, n int) error {
				if n == 2 {
					return errSlow
				}
				return nil
			}}
		if err := Settle(t.Context(), a, op, "i", 2, o); !errors.Is(err, errSlow) || !slices.Equal(seen, []string{"Paused", "Paused", "Paused"}) {
			t.Errorf("%s: %v, waited at %v", action, err, seen)
		}
	}
}
