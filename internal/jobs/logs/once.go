package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
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
		pods, err := state.ListPods(ctx, c, j.Namespace, kube.ListOptions{LabelSelector: selector})
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
		chosen, _ = pick.Choose(q.Job, pods, pick.Choice{Pod: r.FailedPod})
	}
	if len(chosen) == 0 {
		return r, noPods(q, pods, e.preempted(ctx, q.Job))
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
		err = errs.New(fmt.Sprintf("cannot read the logs of %d of %d pods", r.Skipped, len(streams)), "")
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

// streams returns a stream for each pod that has something to read. Of several
// pods those that have not are told of.
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
			unborn = notBegun(s, waits(p, container))
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

// notBegun is the error of a container that has not started.
func notBegun(s Source, why jobs.PodTrouble) error {
	e := &errs.Error{What: "no log yet", Why: fmt.Sprintf("container %s of pod %s has not started", s.Container, s.Pod), Code: errs.Pending}
	if text := strings.Trim(why.Reason+": "+why.Message, ": "); text != "" {
		e.WithFact("reason", text)
	}
	return e.Suggest(suggest.Follow("waits for it"))
}

// preempted returns when a job that has run was preempted, the zero time if it was not
// or if its Workload cannot be read.
func (e Engine) preempted(ctx context.Context, j state.Job) time.Time {
	workloads, err := state.ListWorkloads(ctx, e.Client, j.Namespace, kube.ListOptions{})
	if err != nil {
		return time.Time{}
	}
	s := jobs.StatusOf(j, jobs.Match([]state.Job{j}, workloads)[0], nil)
	if s.State != jobs.Preempted {
		return time.Time{}
	}
	return s.Since
}

// noPods is the error of a job whose pods are not there. preempted is when the job was
// preempted, or zero.
func noPods(q Query, others []pick.Pod, preempted time.Time) error {
	j := q.Job
	s := jobs.StatusOf(j, nil, nil)
	switch {
	case len(others) > 0:
		return (&errs.Error{What: "no log yet", Why: fmt.Sprintf("job %s has no such pod yet", j.Name), Code: errs.Pending}).Suggest(suggest.Follow("waits for it"))
	case s.State.Finished():
		return errs.NotFoundf("no log: job %s %s and its pods are deleted", j.Name, strings.ToLower(string(s.State)))
	}
	if !preempted.IsZero() {
		e := &errs.Error{What: "no log", Why: fmt.Sprintf("job %s was preempted and its pods are deleted", j.Name), Code: errs.Pending}
		e.WithFact("since", jobs.Time(preempted))
		return e.Suggest(suggest.Follow("waits until it runs again"), suggest.GetJob(j.Namespace, j.Name))
	}
	e := &errs.Error{What: "no log yet", Why: fmt.Sprintf("job %s is %s and has no pods", j.Name, s.State), Code: errs.Pending}
	return e.Suggest(suggest.Follow("waits for them"), suggest.GetJob(j.Namespace, j.Name))
}

// sources returns the sources of streams that were begun, in that order.
func sources(streams []*stream) []Source {
	out := make([]Source, 0, len(streams))
	for _, s := range streams {
		out = append(out, s.Source)
	}
	return slices.Clip(out)
}
