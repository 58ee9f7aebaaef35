package logs

import (
	"context"
	"maps"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// update begins the streams that are missing and ends those whose run is over.
func (f *follower) update(ctx context.Context) error {
	all := make([]state.Pod, 0, len(f.pods))
	for _, p := range f.pods {
		all = append(all, p)
	}
	pods := pick.Placed(f.job, all)
	if err := f.reportFailures(pods); err != nil {
		return err
	}
	f.fates(pods)
	chosen, err := f.choose(pods)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		if err := f.begin(ctx, p, !f.started); err != nil {
			return err
		}
	}
	f.started = f.started || !slices.Contains(slices.Collect(maps.Values(f.selectors)), false)
	return f.reportWaiting(chosen)
}

// choose returns the pods to follow now.
func (f *follower) choose(pods []pick.Pod) ([]pick.Pod, error) {
	if f.q.Pods.Default() {
		return f.leader(pods), nil
	}
	chosen, err := pick.Choose(f.job, pods, f.q.Pods)
	if err != nil && f.q.Pods.Pod != "" && (len(f.began) > 0 || !f.complete(pods)) {
		return nil, nil // its turn may still come
	}
	return chosen, err
}

// complete reports whether all pods that the job wants are there.
func (f *follower) complete(pods []pick.Pod) bool {
	wanted := int64(0)
	for _, r := range f.job.Roles {
		wanted += r.Replicas
	}
	return int64(len(pods)) >= wanted || f.ended
}

// leader returns the pod that matters, which may be another one after a restart
// or a preemption. A pod without a number is followed to its end.
func (f *follower) leader(pods []pick.Pod) []pick.Pod {
	if p, ok := pick.FirstFailed(pods); ok && len(f.began) == 0 && f.status.State.Finished() {
		return []pick.Pod{p}
	}
	var open []pick.Pod
	for _, p := range pods {
		if p.Phase != "Succeeded" && p.Phase != "Failed" && p.DeletionTimestamp == nil {
			open = append(open, p)
		}
	}
	if len(open) == 0 {
		open = pods
	}
	for _, p := range open {
		if p.Index < 0 && f.adopted[p.UID] {
			return []pick.Pod{p}
		}
	}
	chosen := pick.Leader(open)
	for _, p := range chosen {
		f.adopted[p.UID] = true
	}
	return chosen
}

// begin starts reading the present run of a pod's container, if it has begun and
// is not being read. atStart: it was there when the following began.
func (f *follower) begin(ctx context.Context, p pick.Pod, atStart bool) error {
	container, err := p.Container(f.q.Container)
	if err != nil {
		if !f.q.Pods.Several() {
			return err
		}
		return f.skip(runKey{p.UID, f.q.Container, 0}, &Source{Pod: p.Name, UID: p.UID, Container: f.q.Container, Role: p.Role, Rank: p.Rank}, err)
	}
	src, begun, over := sourceOf(p, container)
	key := runKey{p.UID, container, src.Run}
	if !begun || f.streams[key] != nil {
		return nil
	}
	s := newStream(f.engine, f.q, src, atStart)
	s.parts = f.q.Parts && !f.q.Pods.Several()
	s.give = func(lines []Line) error { return f.m.write(&s.Source, lines) }
	s.notice = func(err error) error { return f.m.event(Event{Kind: Resuming, Source: &s.Source, Err: err}) }
	// What had the same name before is read to its end first.
	for _, old := range f.began {
		if old.Pod == s.Pod && old.Container == s.Container {
			s.before = old
		}
	}
	if over {
		s.finish(runEnded)
	}
	f.streams[key] = s
	f.began = append(f.began, s)
	f.active++
	f.running.Go(func() { f.read(ctx, s) })
	return nil
}

// read reads one stream to its end.
func (f *follower) read(ctx context.Context, s *stream) {
	defer close(s.done)
	err := s.turn(ctx)
	if err == nil {
		err = f.m.event(Event{Kind: Started, Source: &s.Source})
	}
	if err == nil {
		err = s.run(ctx)
	}
	f.m.end(&s.Source)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active--
	select {
	case f.poke <- struct{}{}:
	default:
	}
	switch {
	case ctx.Err() != nil:
		return
	case f.m.failure() != nil:
		f.cancel(f.m.failure())
	case err == nil, kube.IsNotFound(err):
		err = f.m.event(Event{Kind: Ended, Source: &s.Source})
	case kube.IsForbidden(err) || kube.IsUnauthorized(err):
		f.cancel(explain(s.Source, err)) // the others fare no better
	default:
		err = f.skip(runKey{s.UID, s.Container, s.Run}, &s.Source, explain(s.Source, err))
	}
	if err != nil {
		f.cancel(err)
	}
}

// turn waits until what had the same name before is read to its end, and goes on
// from there. Until then the other's position is not to be touched.
func (s *stream) turn(ctx context.Context) error {
	if s.before == nil {
		return nil
	}
	select {
	case <-s.before.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.before.UID == s.UID {
		s.pos.inherit(s.before.pos)
	}
	s.before = nil
	return nil
}

// skip tells once that a source cannot be read.
func (f *follower) skip(key runKey, s *Source, err error) error {
	if f.told[key] {
		return nil
	}
	f.told[key] = true
	f.skipped++
	return f.m.event(Event{Kind: Skipped, Source: s, Err: err})
}

// fates tells the streams what became of their runs.
func (f *follower) fates(pods []pick.Pod) {
	for key, s := range f.streams {
		i := slices.IndexFunc(pods, func(p pick.Pod) bool { return p.UID == key.uid })
		if i < 0 {
			continue // told when it was deleted
		}
		now, _, over := sourceOf(pods[i], key.container)
		switch {
		case now.Run == key.run+1:
			s.finish(runReplaced)
		case now.Run > key.run:
			s.finish(runGone)
		case over:
			s.finish(runEnded)
		}
	}
}

// reportFailures tells of pods that failed.
func (f *follower) reportFailures(pods []pick.Pod) error {
	if first, ok := pick.FirstFailed(pods); ok && f.failed.Name == "" {
		f.failed = first
	}
	for _, p := range pods {
		_, trouble, ok := p.Failure()
		key := runKey{uid: p.UID, run: p.Restarts}
		if !ok || f.told[key] {
			continue
		}
		f.told[key] = true
		if err := f.m.event(Event{Kind: PodFailed, Source: &Source{Pod: p.Name, UID: p.UID, Node: p.NodeName, Role: p.Role, Rank: p.Rank}, Trouble: trouble}); err != nil {
			return err
		}
	}
	return nil
}

// reportWaiting says why there is nothing to read, when that is so.
func (f *follower) reportWaiting(chosen []pick.Pod) error {
	if f.active > 0 || f.ended || !f.known {
		f.waiting = nil
		return nil
	}
	e := Event{Kind: Waiting, Status: f.status}
	if len(chosen) > 0 {
		container, err := chosen[0].Container(f.q.Container)
		if err != nil {
			return nil
		}
		s, begun, _ := sourceOf(chosen[0], container)
		if begun {
			return nil // it was read
		}
		e.Source, e.Trouble = &s, waits(chosen[0], container)
	}
	if f.status.State == "" || f.waiting != nil && f.waiting.Trouble == e.Trouble && f.waiting.Status.SameCause(e.Status) {
		return nil
	}
	f.waiting = &e
	return f.m.event(e)
}
