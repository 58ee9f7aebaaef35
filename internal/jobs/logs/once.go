package logs

import (
	"context"
	"errors"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Read reads the logs of a query and follows them if the query asks for it. The Result is
// valid even with an error.
func (e Engine) Read(ctx context.Context, q Query, sink Sink) (Result, error) {
	e = e.withClock()
	m := newMux(sink, e.After)
	if q.Follow {
		return e.follow(ctx, q, m)
	}
	return e.once(ctx, q, m)
}

// Pods reads the pods of a job, the main one first.
func Pods(ctx context.Context, c *kube.Client, j state.Job) ([]pick.Pod, error) {
	var all []state.Pod
	for _, selector := range pick.Selectors(j) {
		pods, err := state.ListPods(ctx, c, j.Namespace, kube.Selecting(selector))
		if err != nil {
			return nil, err
		}
		all = append(all, pods...)
	}
	return pick.Placed(j, all), nil
}

// once reads what there is, of several pods by time.
func (e Engine) once(ctx context.Context, q Query, m *mux) (Result, error) {
	pods, err := Pods(ctx, e.Client, q.Job)
	if err != nil {
		return Result{}, err
	}
	var r Result
	if p, ok := pick.FirstFailed(pods); ok {
		r.FailedPod = p.Name
	}
	chosen, err := pick.Choose(q.Job, pods, q.Pods)
	if err != nil {
		return r, err
	}
	if q.Pods.Default() && r.FailedPod != "" {
		if chosen, err = pick.Choose(q.Job, pods, pick.Choice{Pod: r.FailedPod}); err != nil {
			return r, err
		}
	}
	if len(chosen) == 0 {
		return r, noPods(q, pods, e.status(ctx, q.Job))
	}
	streams, err := e.streams(q, m, chosen)
	if err != nil {
		return r, err
	}
	for _, s := range streams {
		r.Sources = append(r.Sources, s.Source)
	}
	if len(streams) == 1 {
		s := streams[0]
		s.parts = q.Parts
		s.give = func(lines []Line) error { return m.write(&s.Source, lines) }
		if err := m.event(Event{Kind: Started, Source: &s.Source}); err != nil {
			return r, err
		}
		err := s.run(ctx)
		m.end(&s.Source)
		return r, ended(ctx, m, s.Source, err)
	}
	r.Skipped, err = merge(ctx, m, streams)
	if err == nil && r.Skipped > 0 {
		err = &Error{Code: SomeUnread, Count: r.Skipped, All: len(streams)}
	}
	return r, err
}

// ended explains why a stream ended; an error of the sink stays as it is.
func ended(ctx context.Context, m *mux, s Source, err error) error {
	if err == nil || m.failure() != nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	return explain(s, err)
}

// streams returns a stream for each pod that has something to read. With several pods, it reports those that
// have nothing.
func (e Engine) streams(q Query, m *mux, pods []pick.Pod) ([]*stream, error) {
	several := len(pods) > 1
	var out []*stream
	var unfit, unborn error
	for _, p := range pods {
		container, err := p.Container(q.Container)
		if err != nil {
			unfit = err
			continue
		}
		s, begun, _ := sourceOf(p, container)
		if !begun {
			unborn = &Error{Code: NotBegun, Pod: s.Pod, Container: s.Container, Why: waits(p, container)}
			if several {
				if err := m.event(Event{Kind: Waiting, Source: &s, Trouble: waits(p, container)}); err != nil {
					return nil, err
				}
			}
			continue
		}
		st := newStream(e, q, s, true)
		st.notice = func(err error) error { return m.event(Event{Kind: Resuming, Source: &st.Source, Err: err}) }
		out = append(out, st)
	}
	switch {
	case len(out) > 0:
		return out, nil
	case unborn != nil:
		return nil, unborn
	}
	return nil, unfit
}

// status returns what the job is doing: with its Workload, where that can be read.
func (e Engine) status(ctx context.Context, j state.Job) jobs.Status {
	workloads, err := state.ListWorkloads(ctx, e.Client, j.Namespace, kube.ListOptions{})
	if err != nil {
		return jobs.StatusOf(j, nil, nil)
	}
	return jobs.StatusOf(j, jobs.Match([]state.Job{j}, workloads)[0], nil)
}

// noPods returns the error of a job of this status whose pods are not there.
func noPods(q Query, others []pick.Pod, s jobs.Status) error {
	e := &Error{Code: NoPods, Job: q.Job, State: s.State, Since: s.Since}
	switch {
	case len(others) > 0:
		e.Code = NoSuchPod
	case e.State.Finished():
		e.Code = PodsDeleted
	case e.State == jobs.Preempted:
		e.Code = Preempted
	case e.State == jobs.Suspended:
		e.Code = Suspended
	case e.State == jobs.ZeroReplicas:
		e.Code = ZeroReplicas
	}
	return e
}

// sources returns the sources of streams that were begun, in that order.
func sources(streams []*stream) []Source {
	out := make([]Source, 0, len(streams))
	for _, s := range streams {
		out = append(out, s.Source)
	}
	return slices.Clip(out)
}
