package getqueue

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// TestEstimates: of one team always, of all with a duration to assume; what cannot
// be estimated has a reason, and what could be is shown all the same.
func TestEstimates(t *testing.T) {
	item := func(queueName, job string, position int) queue.Item {
		return queue.Item{Key: queue.Key{Namespace: queueName, Workload: job}, ClusterQueue: queueName, Position: position}
	}
	items := []queue.Item{item("", "nowhere", 0), item("a", "one", 1), item("a", "two", 2), item("b", "three", 1)}
	found := map[queue.Key]queue.ETA{items[1].Key: {EarliestSeconds: seconds(60), LatestSeconds: seconds(60)}}
	flavors := []state.Missing{{Resource: kinds.ResourceFlavor, Reason: state.NotInFile}}
	for _, c := range []struct {
		name    string
		narrow  bool
		assume  time.Duration
		missing []state.Missing
		err     error
		asked   string
		etas    string
		noETA   string
		stderr  string
	}{
		{name: "all teams", asked: "", etas: "---- false"},
		{name: "all teams, when asked for", assume: time.Hour, asked: "[a b] 1h0m0s", etas: "-1-- true"},
		{name: "one team", narrow: true, asked: "[a b] 0s", etas: "-1-- true"},
		{name: "flavors that a file does not have", narrow: true, missing: flavors, etas: "---- false", noETA: "not all resourceflavors are in the file"},
		{name: "a member", narrow: true, missing: []state.Missing{{Resource: kinds.Workload, Reason: state.Forbidden, Partly: true}}, etas: "---- false", noETA: "not all workloads may be read"},
		{name: "no cohorts on the cluster", narrow: true, missing: []state.Missing{{Resource: kinds.Cohort, Reason: state.NotServed}}, asked: "[a b] 0s", etas: "-1-- true"},
		{name: "too many", assume: time.Hour, err: context.DeadlineExceeded, asked: "[a b] 1h0m0s", etas: "-1-- true", stderr: "note: not all estimates: they take longer than 10s\n"},
		{name: "a failure", narrow: true, err: errors.New("it broke"), asked: "[a b] 0s", etas: "-1-- true", stderr: "note: not all estimates: it broke\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			io, b := output.Test()
			asked := ""
			o := &Options{Factory: &factory.Factory{IO: io}, Assume: c.assume,
				Estimate: func(_ context.Context, _ *factory.Cluster, _ func(context.Context) ([]string, error), queues []string, assume time.Duration) (map[queue.Key]queue.ETA, error) {
					asked = fmt.Sprint(queues, assume)
					return found, c.err
				}}
			v := view{state: &state.State{Missing: c.missing}, narrow: c.narrow, items: append([]queue.Item{}, items...)}
			if err := o.estimates(t.Context(), nil, &v, nil); err != nil {
				t.Fatal(err)
			}
			etas := ""
			for _, it := range v.items {
				if it.ETA == nil {
					etas += "-"
				} else {
					etas += "1"
				}
			}
			if got := fmt.Sprint(etas, " ", v.eta); got != c.etas || asked != c.asked || v.noETA != c.noETA || b.Err.String() != c.stderr {
				t.Errorf("asked %q, got %s, no ETA %q, said %q", asked, got, v.noETA, b.Err)
			}
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o := &Options{Assume: time.Hour, Estimate: func(ctx context.Context, _ *factory.Cluster, _ func(context.Context) ([]string, error), _ []string, _ time.Duration) (map[queue.Key]queue.ETA, error) {
		return nil, ctx.Err()
	}}
	if err := o.estimates(ctx, nil, &view{state: &state.State{}, items: items}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
