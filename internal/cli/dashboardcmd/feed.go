package dashboardcmd

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/deviceuse"
	"github.com/hyperpod-cli/hyperpod/internal/discovery"
	"github.com/hyperpod-cli/hyperpod/internal/history"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/queue"
	"github.com/hyperpod-cli/hyperpod/internal/queue/order"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// feed collects what watches report. Once it has been whole it keeps the last figures, and connects again, whatever
// ends the watches.
type feed struct {
	now func() time.Time
	// namespace limits the jobs to those of one namespace; "" is all.
	namespace string
	// measure asks how busy the accelerators of jobs are; nil asks nothing.
	measure measure
	// estimate estimates when the workloads of ClusterQueues start; nil estimates nothing.
	estimate func(ctx context.Context, c *factory.Cluster, clusterQueues []string) (map[queue.Key]queue.ETA, error)
	// recorded returns what a recorder knows of the trail; nil where there is none.
	recorded func() map[history.NodeKey][]float64
	// pause waits before the nth attempt to connect again; tests replace it.
	pause func(ctx context.Context, attempt int)

	mu sync.Mutex
	// shown is the last whole reading, next the one that is under way.
	shown, next *reading
	dirty       bool
	changed     chan struct{} // closed at the next change
	// since is when each followed path began to fail, the zero time while it works.
	since map[string]time.Time
	// ended is when the watches ended, the zero time while they go on; why is the reason.
	ended time.Time
	why   error
	err   error
	// client is that of the last session.
	client *kube.Client
	// version counts the changes; last is the last snapshot, of the version made.
	version, made int
	last          *dashboardview.Snapshot
	// trail has a point for each dashboardview.TrailEvery; trailed is the time of the last one.
	trail   map[history.NodeKey][]float64
	trailed time.Time
	// use is the last answer of measure, useErr why there was none.
	use    map[deviceuse.Key]deviceuse.Use
	useErr error
	// starts is the last answer of estimate, startsAt its time.
	starts   map[queue.Key]queue.ETA
	startsAt time.Time
}

// measure returns how busy the accelerators of jobs are.
type measure func(ctx context.Context, c *factory.Cluster, namespace string, jobs []state.Job) (map[deviceuse.Key]deviceuse.Use, []state.Missing, error)

// measureEvery is how often measure is called.
const measureEvery = 30 * time.Second

// reading is what one connection reports.
type reading struct {
	state *state.State
	rules order.Rules
	tasks []dashboardview.Task
}

func newFeed(now func() time.Time) *feed {
	return &feed{now: now, pause: pause, since: map[string]time.Time{}, changed: make(chan struct{})}
}

// pause waits 1, 2, 4, and then 8 seconds.
func pause(ctx context.Context, attempt int) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second << min(attempt, 3)):
	}
}

// run follows a cluster until ctx ends. Before the first figures an error is final. After them, run connects
// again: with a new client, because a server that has come back may have a new certificate or address.
func (f *feed) run(ctx context.Context, c *factory.Cluster, reconnect func(context.Context) (*factory.Cluster, error)) {
	var running crash.Group
	defer running.Wait()
	if f.recorded != nil {
		running.Go(func() { f.before(f.recorded()) })
	}
	for {
		again, err := f.session(ctx, c, reconnect)
		if ctx.Err() != nil {
			return
		}
		if again == nil {
			if !f.lost(err) {
				return
			}
			again = f.connect(ctx, reconnect)
		}
		if again == nil {
			return
		}
		c = again
	}
}

// before puts points before the trail.
func (f *feed) before(points map[history.NodeKey][]float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trail = dashboardview.WithPast(points, f.trail)
	f.version++
	if f.shown != nil {
		f.dirty = true
		f.wake()
	}
}

// connect returns a cluster that answers; nil when ctx ends.
func (f *feed) connect(ctx context.Context, reconnect func(context.Context) (*factory.Cluster, error)) *factory.Cluster {
	for attempt := 0; ; attempt++ {
		f.pause(ctx, attempt)
		if ctx.Err() != nil {
			return nil
		}
		c, err := reconnect(ctx)
		if err == nil {
			_, err = c.Client.Ping(ctx)
		}
		if err == nil {
			return c
		}
		f.lost(err)
	}
}

// session follows a cluster until something ends it. When no list answers any more while another client reaches the
// cluster, session ends with the cluster of that client.
func (f *feed) session(ctx context.Context, c *factory.Cluster, reconnect func(context.Context) (*factory.Cluster, error)) (*factory.Cluster, error) {
	r := &reading{}
	f.mu.Lock()
	f.next, f.client = r, c.Client
	clear(f.since)
	f.mu.Unlock()
	served, err := discovery.ServedJobs(ctx, c.Client)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	failed, reached := make(chan error, 1), make(chan *factory.Cluster, 1)
	var running crash.Group
	defer running.Wait()
	defer cancel()
	running.Go(func() { failed <- f.followState(ctx, c, served, r) })
	if f.estimate != nil {
		running.Go(func() { f.followStarts(ctx, c, r) })
	}
	if f.measure != nil {
		running.Go(func() { f.followUse(ctx, c, r) })
	}
	running.Go(func() {
		for attempt := 1; ctx.Err() == nil; attempt++ {
			f.pause(ctx, attempt)
			if !f.silent() {
				attempt = 1
				continue
			}
			again, err := reconnect(ctx)
			if err == nil {
				_, err = again.Client.Ping(ctx)
			}
			if err == nil && f.silent() {
				reached <- again
				return
			}
		}
	})
	select {
	case err := <-failed:
		return nil, err
	case again := <-reached:
		f.lost(nil)
		return again, nil
	}
}

// silent reports whether there were figures, and that no list answers any more.
func (f *feed) silent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, all := f.stale()
	return f.shown != nil && f.shown == f.next && !all.IsZero()
}

// update changes a reading. One that is whole replaces the one that is shown.
func (f *feed) update(r *reading, change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.version++
	if r.state == nil {
		return
	}
	if f.shown != r {
		f.shown, f.ended, f.why = r, time.Time{}, nil
	}
	f.dirty = true
	f.wake()
}

// wake notifies waiters of a change. It is called with the lock held.
func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// followState keeps a reading up to date. Changes wait for the next tick here and for one of the screen: twice as often
// here, so that both are short.
func (f *feed) followState(ctx context.Context, c *factory.Cluster, served []kinds.Job, r *reading) error {
	t := time.NewTicker(pace / 2)
	defer t.Stop()
	var reader order.Reader
	w := want(c, f.namespace)
	w.Jobs = served
	return state.Follow(ctx, c.Client, w, state.Pace{Tick: t.C, Now: c.Now}, func(s *state.State) error {
		rules, tasks := reader.Rules(ctx, c.Client, s.Workloads), tasksOf(s, f.namespace)
		f.update(r, func() { r.state, r.rules, r.tasks = s, rules, tasks })
		return nil
	})
}

// tasksOf are the jobs of a namespace, "" for all, with their status.
func tasksOf(s *state.State, namespace string) []dashboardview.Task {
	out := make([]dashboardview.Task, 0, len(s.Jobs))
	for i, status := range jobs.Statuses(s.Jobs, s.Workloads) {
		if namespace == "" || s.Jobs[i].Namespace == namespace {
			out = append(out, dashboardview.Task{Job: s.Jobs[i], Status: status})
		}
	}
	return out
}

// followUse asks how busy accelerators are, as soon as there are jobs, and then at intervals. An answer is kept when the
// next one fails.
func (f *feed) followUse(ctx context.Context, c *factory.Cluster, r *reading) {
	for {
		f.mu.Lock()
		changed, whole := f.changed, f.shown == r
		tasks := r.tasks
		f.mu.Unlock()
		if !whole {
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
			continue
		}
		list := make([]state.Job, len(tasks))
		for i, t := range tasks {
			list[i] = t.Job
		}
		use, _, err := f.measure(ctx, c, f.namespace, list)
		if ctx.Err() != nil {
			return
		}
		f.update(r, func() {
			f.useErr = err
			if err == nil {
				f.use = use
			}
		})
		select {
		case <-ctx.Done():
			return
		case <-time.After(measureEvery):
		}
	}
}

// lost notes that the watches ended, and reports whether there are figures to keep. Else the error is final.
func (f *feed) lost(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.wake()
	f.why = err
	if f.shown == nil {
		f.err = err
		return false
	}
	if f.ended.IsZero() {
		f.ended = f.now()
		for _, at := range f.since {
			if !at.IsZero() && at.Before(f.ended) {
				f.ended = at
			}
		}
	}
	return true
}

// observe learns from each request which lists are followed, and whether they answer.
func (f *feed) observe(r kube.Request) {
	path, query, _ := strings.Cut(r.Path, "?")
	f.mu.Lock()
	defer f.mu.Unlock()
	at, followed := f.since[path]
	switch {
	case errors.Is(r.Err, context.Canceled) || !followed && !strings.Contains(query, "watch=true"):
		return
	case r.Err != nil || r.Status >= 500 || r.Status == http.StatusTooManyRequests || r.Status == http.StatusUnauthorized:
		if at.IsZero() {
			f.since[path] = f.now()
			f.wake()
		}
		return
	case r.Status == http.StatusForbidden || r.Status == http.StatusNotFound:
		delete(f.since, path) // the state has what is missing
	default:
		f.since[path] = time.Time{}
	}
	if !at.IsZero() {
		f.wake()
	}
}

// connected returns the client of the last session.
func (f *feed) connected() *kube.Client {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.client
}

// listOf names what a path lists: its plural, with the namespace.
func listOf(path string) string {
	parts := strings.Split(path, "/")
	name := parts[len(parts)-1]
	if i := slices.Index(parts, "namespaces"); i >= 0 && i+2 < len(parts) {
		name += " in " + parts[i+1]
	}
	return name
}

// take returns what is known, nil before the first whole reading, and whether it changed since the last call.
func (f *feed) take(now time.Time) (*dashboardview.Snapshot, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := f.dirty || f.err != nil
	f.dirty = false
	return f.snapshot(now), changed
}

// look returns what is known, nil before the first whole reading, and a channel that is closed at the next change.
func (f *feed) look(now time.Time) (*dashboardview.Snapshot, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot(now), f.changed
}

func (f *feed) snapshot(now time.Time) *dashboardview.Snapshot {
	if f.err != nil {
		return &dashboardview.Snapshot{Failure: f.err}
	}
	if f.shown == nil {
		return nil
	}
	if last := f.last; last != nil && f.made == f.version && now.Before(f.trailed.Add(dashboardview.TrailEvery)) {
		same := *last // to copy thousands of jobs at each look would cost more than all the rest
		same.Time, same.LostSince, same.LostBy, same.Stale = now, f.ended, f.why, nil
		if f.ended.IsZero() {
			same.Stale, same.LostSince = f.stale()
		}
		return &same
	}
	s := &dashboardview.Snapshot{Time: now, Namespace: f.namespace, State: f.shown.state, Tasks: f.shown.tasks, Rules: f.shown.rules, LostSince: f.ended, LostBy: f.why, Use: f.use, UseErr: f.useErr, Starts: f.starts, StartsAt: f.startsAt}
	if f.ended.IsZero() {
		s.Stale, s.LostSince = f.stale()
	}
	if s.LostSince.IsZero() && !now.Before(f.trailed.Add(dashboardview.TrailEvery)) {
		f.trail, f.trailed = dashboardview.AddPoint(f.trail, dashboardview.Shares(s)), now
	}
	s.Trail = f.trail
	f.last, f.made = s, f.version
	return s
}

// stale returns the lists that do not answer; where none of them does, only since when.
func (f *feed) stale() (out []dashboardview.Stale, all time.Time) {
	for path, at := range f.since {
		if at.IsZero() {
			continue
		}
		out = append(out, dashboardview.Stale{Source: listOf(path), Since: at})
		if all.IsZero() || at.Before(all) {
			all = at
		}
	}
	if len(out) > 0 && len(out) == len(f.since) {
		return nil, all
	}
	slices.SortFunc(out, func(a, b dashboardview.Stale) int { return strings.Compare(a.Source, b.Source) })
	return out, time.Time{}
}
