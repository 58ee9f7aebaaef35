package worlds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// jobRow is a row of list-jobs; with --verbose, it has the pods.
type jobRow struct {
	Name, Namespace, State string
	Pods, PodsReady        int
}

// whole reports a job that runs with all of its pods: some kinds run as soon as one pod does.
func (j jobRow) whole() bool { return j.State == "Running" && j.PodsReady == j.Pods }

func (j jobRow) key() string { return j.Namespace + "/" + j.Name }

// states are the states of a job; see docs/output.md.
var states = []string{"Pending", "Suspended", "Starting", "Running", "Restarting", "Preempted", "Succeeded", "Failed"}

// begin takes the jobs of the scenario.
func (w *world) begin(ctx context.Context) error {
	list, err := w.jobs(ctx)
	for _, j := range list {
		w.present[j.key()] = true
	}
	return err
}

func (w *world) jobs(ctx context.Context, more ...string) ([]jobRow, error) {
	var list struct{ Jobs []jobRow }
	err := w.read(ctx, &list, append([]string{"list-jobs", "-A", "-o", "json"}, more...)...)
	return list.Jobs, err
}

// flavor is quota of a team in one flavor.
type flavor struct {
	Flavor                           string
	Nominal, Reserved, Used          int64
	Borrowed, Lent, Overcommit, Free int64
	Limit                            *int64
}

// check checks what must hold at any time.
func (w *world) check(ctx context.Context) error {
	list, err := w.jobs(ctx)
	if err != nil {
		return err
	}
	return errors.Join(w.checkJobs(ctx, list), w.checkQuota(ctx), w.checkQueues(ctx, list), w.checkSnapshot(ctx, list))
}

// checkJobs: each job is listed once, with one state, and no job is lost or invented.
func (w *world) checkJobs(ctx context.Context, list []jobRow) error {
	seen := map[string]bool{}
	for _, j := range list {
		switch {
		case seen[j.key()]:
			return fmt.Errorf("job %s is listed twice", j.key())
		case !slices.Contains(states, j.State):
			return fmt.Errorf("job %s has the state %q", j.key(), j.State)
		case !w.present[j.key()]:
			return fmt.Errorf("job %s was not started, or was cancelled", j.key())
		}
		seen[j.key()] = true
		w.seen["job "+j.State]++
	}
	for key := range w.present {
		if seen[key] {
			continue
		}
		namespace, name, _ := strings.Cut(key, "/")
		if removed, err := w.removed(ctx, namespace, name); !removed {
			return errors.Join(err, fmt.Errorf("job %s is lost", key))
		}
		w.seen["job removed"]++
		delete(w.present, key)
	}
	return nil
}

// quotaRow is a team's quota of one resource.
type quotaRow struct {
	Team, Cohort, Resource         string
	Nominal, Reserved, Used, Limit int64
	Borrowed, Lent, Overcommit     int64
	Flavors                        []flavor
}

// checkQuota: what is borrowed is lent; nobody comes to reserve more than the limits allow (a
// cut of the quota stops nothing that runs); sums are those of the flavors.
func (w *world) checkQuota(ctx context.Context) error {
	var doc struct{ Quota []quotaRow }
	if err := w.read(ctx, &doc, "get-quota", "-o", "json"); err != nil {
		return err
	}
	type pool struct{ cohort, resource, flavor string }
	balance := map[pool]int64{}
	for _, q := range doc.Quota {
		var borrowed, lent, reserved int64
		for _, f := range q.Flavors {
			balance[pool{q.Cohort, q.Resource, f.Flavor}] += f.Borrowed - f.Lent
			borrowed, lent, reserved = borrowed+f.Borrowed, lent+f.Lent, reserved+f.Reserved
			what := fmt.Sprintf("%s of %s, %s", q.Resource, q.Team, f.Flavor)
			before := w.reserved[what]
			w.reserved[what] = f.Reserved
			if f.Borrowed > 0 {
				w.seen["borrowed"]++
			}
			switch {
			case f.Limit != nil && f.Reserved > max(*f.Limit, before):
				return fmt.Errorf("%s: %d reserved, and the limit is %d", what, f.Reserved, *f.Limit)
			case f.Used > f.Reserved:
				return fmt.Errorf("%s: %d used, and %d reserved", what, f.Used, f.Reserved)
			case f.Reserved < 0 || f.Used < 0 || f.Borrowed < 0 || f.Lent < 0 || f.Free < 0 || f.Overcommit < 0:
				return fmt.Errorf("%s: a number is negative: %+v", what, f)
			}
		}
		if borrowed != q.Borrowed || lent != q.Lent || reserved != q.Reserved {
			return fmt.Errorf("%s of %s: %d reserved, %d borrowed, %d lent; its flavors have %d, %d, %d", q.Resource, q.Team, q.Reserved, q.Borrowed, q.Lent, reserved, borrowed, lent)
		}
	}
	for p, left := range balance {
		if left != 0 {
			return fmt.Errorf("%s of %s in cohort %q: borrowed and lent differ by %d", p.resource, p.flavor, p.cohort, left)
		}
	}
	return nil
}

// checkQueues: the positions of a queue are 1, 2, ... without gaps, and its jobs are pending.
func (w *world) checkQueues(ctx context.Context, list []jobRow) error {
	var doc struct {
		Pending []struct {
			ClusterQueue, Name, Namespace string
			Position                      int
		}
	}
	if err := w.read(ctx, &doc, "get-queue", "--no-eta", "-o", "json"); err != nil {
		return err
	}
	state := map[string]string{}
	for _, j := range list {
		state[j.key()] = j.State
		if group, ok := strings.CutSuffix(j.key(), "-0"); ok { // the queue has the group, the list its pods
			state[group] = j.State
		}
	}
	positions := map[string][]int{}
	for _, q := range doc.Pending {
		w.seen["position"]++
		positions[q.ClusterQueue] = append(positions[q.ClusterQueue], q.Position)
		if s := state[q.Namespace+"/"+q.Name]; s != "Pending" && s != "Preempted" {
			return fmt.Errorf("job %s/%s is in the queue, and %q", q.Namespace, q.Name, s)
		}
	}
	for queue, p := range positions {
		slices.Sort(p)
		for i := range p {
			if p[i] != i+1 {
				return fmt.Errorf("queue %s has the positions %v", queue, p)
			}
		}
	}
	return nil
}

// checkSnapshot: a snapshot gives the answers of its cluster.
func (w *world) checkSnapshot(ctx context.Context, list []jobRow) error {
	file := filepath.Join(w.dir, "snapshot.json")
	if code, _, stderr := w.run(ctx, administrator, "save-snapshot", file, "--force"); code != errs.OK {
		return fmt.Errorf("save-snapshot: exit code %d: %s", code, stderr)
	}
	saved, err := w.jobs(ctx, "--snapshot", file)
	if err != nil {
		return err
	}
	if !slices.Equal(saved, list) {
		return fmt.Errorf("the snapshot lists %v, its cluster %v", saved, list)
	}
	for _, line := range []string{"get-quota -o json", "get-queue --no-eta -o json"} {
		var live, from map[string]any
		args := strings.Fields(line)
		if err := errors.Join(w.read(ctx, &live, args...), w.read(ctx, &from, append(args, "--snapshot", file)...)); err != nil {
			return err
		}
		delete(live, "Time") // of the reading
		delete(from, "Time")
		a, _ := json.Marshal(live)
		b, _ := json.Marshal(from)
		if string(a) != string(b) {
			return fmt.Errorf("%s differs in the snapshot:\n%s\n%s", line, a, b)
		}
	}
	return nil
}

// watched: a watch comes to the states of the list.
func (w *world) watched(ctx context.Context) error {
	list, err := w.jobs(ctx)
	if err != nil {
		return err
	}
	want := map[string]string{}
	for _, j := range list {
		want[j.key()] = j.State
	}
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	lines := &events{state: map[string]string{}, want: want, reached: stop}
	env, now := w.env(administrator), w.now()
	f := &factory.Factory{IO: &output.IO{In: strings.NewReader(""), Out: lines, Err: &strings.Builder{}}, Env: func(name string) string { return env[name] },
		Now: func() time.Time { return now }, Version: "v0.0.0-test"}
	cli.Run(ctx, f, []string{"list-jobs", "-A", "--watch", "-o", "json"})
	if lines.err == nil && !lines.equal() {
		lines.err = fmt.Errorf("the watch has %v, the list %v", lines.state, want)
	}
	return lines.err
}

// events reads the lines of a watch, and ends it when it has the states of the list.
type events struct {
	mu          sync.Mutex
	rest        []byte
	state, want map[string]string
	reached     func()
	err         error
}

func (e *events) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rest = append(e.rest, p...)
	for {
		line, rest, ok := strings.Cut(string(e.rest), "\n")
		if !ok {
			break
		}
		e.rest = []byte(rest)
		var row struct {
			Type string
			jobRow
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			e.err = fmt.Errorf("%w in %q", err, line)
		}
		if row.Type == "DELETED" {
			delete(e.state, row.key())
		} else if row.Name != "" {
			e.state[row.key()] = row.State
		}
	}
	if e.err != nil || e.equal() {
		e.reached()
	}
	return len(p), nil
}

func (e *events) equal() bool {
	if len(e.state) != len(e.want) {
		return false
	}
	for key, s := range e.want {
		if e.state[key] != s {
			return false
		}
	}
	return true
}
