package logs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

type outcome struct {
	Result
	err error
}

// read runs the engine beside the test.
func read(t *testing.T, e Engine, q Query, r *record) <-chan outcome {
	t.Helper()
	out := make(chan outcome, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	go func() {
		defer cancel()
		result, err := e.Read(ctx, q, r)
		out <- outcome{result, err}
	}()
	return out
}

func numbered(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, at(i, fmt.Sprintf("line %d", i)))
	}
	return out
}

func texts(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("line %d", i))
	}
	return out
}

func wants(t *testing.T, r *record, key string, want []string) {
	t.Helper()
	if got := r.lines[key]; !slices.Equal(got, want) {
		t.Errorf("log %s: %d lines %.300q, want %d %.300q", key, len(got), got, len(want), want)
	}
}

// TestFollowThroughDrops cuts the connection at every place of a log in turn:
// nothing is lost and nothing comes twice, with equal stamps and stamps that run
// backwards.
func TestFollowThroughDrops(t *testing.T) {
	lines := []string{at(0, "a"), at(5, "b"), at(5, "c"), at(5, "c"), at(4, "early"), at(900, "d"), at(1100, "e"), at(1050, ""), at(2500, "f")}
	want := []string{"a", "b", "c", "c", "early", "d", "e", "", "f"}
	size := len(strings.Join(lines, "\n")) + 1
	for _, parts := range []bool{false, true} {
		for cut := range size {
			f := newFake(t)
			f.pod("p0", 0, running(), 0)
			f.write("p0", 0, lines...)
			f.cut[1], f.cut[2] = cut, (cut*7)%size
			f.pod("p0", 0, terminated(0), 0)
			f.end("Succeeded")
			e, q := f.start()
			q.Follow, q.Parts = true, parts
			r := newRecord()
			got := <-read(t, e, q, r)
			if got.err != nil || !slices.Equal(r.lines["p0/0"], want) {
				t.Fatalf("cut at %d, parts %v: %q, %v, events %q", cut, parts, r.lines["p0/0"], got.err, r.events)
			}
		}
	}
}

func TestFollowLive(t *testing.T) {
	f := newFake(t)
	f.pod("p0", 0, running(), 0)
	f.pod("p1", 1, map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}}, 0)
	f.write("p0", 0, numbered(0, 50)...)
	e, q := f.start()
	q.Follow, q.Pods = true, pick.Choice{All: true}
	r := newRecord()
	out := read(t, e, q, r)
	r.await(t, "the first lines", r.has("p0/0", 50))
	f.pod("p1", 1, running(), 0)
	f.write("p1", 0, numbered(0, 10)...)
	r.await(t, "the second pod", r.has("p1/0", 10))
	f.write("p0", 0, numbered(50, 100)...)
	f.pod("p0", 0, terminated(0), 0)
	f.write("p1", 0, numbered(10, 20)...)
	f.pod("p1", 1, terminated(0), 0)
	f.end("Succeeded")
	got := <-out
	if got.err != nil || got.Status.State != jobs.Succeeded || len(got.Sources) != 2 {
		t.Errorf("%+v", got)
	}
	wants(t, r, "p0/0", texts(0, 100))
	wants(t, r, "p1/0", texts(0, 20))
}

// TestFollowRestart: a container that is started again is followed into its next
// run, also when the connection broke at that moment.
func TestFollowRestart(t *testing.T) {
	for _, cut := range []int{0, 400} {
		f := newFake(t)
		f.pod("p0", 0, running(), 0)
		f.write("p0", 0, numbered(0, 10)...)
		if cut > 0 {
			f.cut[1] = cut
		}
		e, q := f.start()
		q.Follow = true
		r := newRecord()
		out := read(t, e, q, r)
		r.await(t, "the first lines", r.has("p0/0", 5))
		f.write("p0", 0, numbered(10, 20)...)
		f.pod("p0", 0, running(), 1)
		f.write("p0", 1, numbered(30, 40)...)
		r.await(t, "the second run", r.has("p0/1", 10))
		f.pod("p0", 0, terminated(1), 1)
		f.end("Failed")
		got := <-out
		if got.err != nil || got.Status.State != jobs.Failed || got.FailedPod != "train-worker-0" {
			t.Errorf("%+v", got)
		}
		wants(t, r, "p0/0", texts(0, 20))
		wants(t, r, "p0/1", texts(30, 40))
		if !slices.Contains(r.events, "pod-failed train-worker-0 Error") {
			t.Errorf("events %q", r.events)
		}
	}
}

// TestInterruptedBeforeItsTurn: a stream that is ended while it waits for the run
// before leaves that one's position alone, which is still read on.
func TestInterruptedBeforeItsTurn(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := newRecord()
	f := &follower{cancel: cancel, m: newMux(r, quick), poke: make(chan struct{}, 1), active: 2}
	src := Source{Pod: "train-worker-0", UID: "p0", Container: "pytorch"}
	before := newStream(Engine{}, Query{}, src, true)
	src.Run = 1
	s := newStream(Engine{}, Query{}, src, false)
	s.before = before
	cancel(errEnded)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for i := range 2 * remembered {
			before.pos.note(int64(i), &Line{})
		}
	}()
	f.read(ctx, s)
	<-over
	if s.pos.resumed || len(s.pos.ring) > 0 || f.active != 1 || len(r.events) > 0 {
		t.Errorf("resumed %v, %d lines, %d active, events %q", s.pos.resumed, len(s.pos.ring), f.active, r.events)
	}
	select {
	case <-s.done:
	default:
		t.Error("the stream is not done")
	}
}

// TestFollowReturn: a preempted job comes back with pods of the same names.
func TestFollowReturn(t *testing.T) {
	f := newFake(t)
	f.pod("p0", 0, running(), 0)
	f.write("p0", 0, numbered(0, 10)...)
	e, q := f.start()
	q.Follow = true
	r := newRecord()
	out := read(t, e, q, r)
	r.await(t, "the first life", r.has("p0/0", 10))
	f.gone("p0")
	f.pod("q0", 0, map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}}, 0)
	f.pod("q0", 0, running(), 0)
	f.write("q0", 0, numbered(100, 130)...)
	r.await(t, "the second life", r.has("q0/0", 30))
	f.pod("q0", 0, terminated(0), 0)
	f.end("Succeeded")
	if got := <-out; got.err != nil || len(got.Sources) != 2 {
		t.Errorf("%+v", got)
	}
	wants(t, r, "p0/0", texts(0, 10))
	wants(t, r, "q0/0", texts(100, 130))
}

func TestFollowWaitsForThePod(t *testing.T) {
	f := newFake(t)
	e, q := f.start()
	q.Follow = true
	one := int64(1)
	q.Tail = &one
	r := newRecord()
	out := read(t, e, q, r)
	r.await(t, "it waits", func() bool { return len(r.events) > 0 })
	f.pod("p0", 0, map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff", "message": "no such image"}}, 0)
	r.await(t, "it says why", func() bool {
		return slices.Contains(r.events, "waiting train-worker-0 ImagePullBackOff")
	})
	f.write("p0", 0, numbered(0, 3)...)
	f.pod("p0", 0, running(), 0)
	r.await(t, "the lines", r.has("p0/0", 3)) // --tail is for what was there at the start
	f.pod("p0", 0, terminated(0), 0)
	f.end("Succeeded")
	if got := <-out; got.err != nil {
		t.Error(got.err)
	}
}

func TestFollowDeletedJob(t *testing.T) {
	f := newFake(t)
	f.pod("p0", 0, running(), 0)
	f.write("p0", 0, numbered(0, 3)...)
	f.mute = true // and the server does not even end the stream
	e, q := f.start()
	q.Follow = true
	r := newRecord()
	out := read(t, e, q, r)
	r.await(t, "the lines", r.has("p0/0", 3))
	f.deleteJob()
	got := <-out
	if got.err != nil || !got.Deleted || !slices.Contains(r.events, "deleted") {
		t.Errorf("%+v, events %q", got, r.events)
	}
	wants(t, r, "p0/0", texts(0, 3))
}

// TestFollowRecreatedJob: the pods of another job with the same name are not followed, even if they are seen before the end of
// the first job.
func TestFollowRecreatedJob(t *testing.T) {
	f := newFake(t)
	f.pod("p0", 0, running(), 0)
	f.write("p0", 0, numbered(0, 3)...)
	e, q := f.start()
	q.Follow, q.Pods = true, pick.Choice{All: true}
	r := newRecord()
	out := read(t, e, q, r)
	r.await(t, "the lines", r.has("p0/0", 3))
	f.gone("p0")
	f.owners = map[string]string{"n0": "another-job", "p1": "job-1"}
	f.pod("n0", 0, running(), 0)
	f.write("n0", 0, numbered(0, 2)...)
	f.pod("p1", 1, running(), 0)
	f.write("p1", 0, numbered(0, 1)...)
	r.await(t, "the pod after the other job's", r.has("p1/0", 1))
	f.deleteJob()
	if got := <-out; got.err != nil || !got.Deleted || len(got.Sources) != 2 {
		t.Errorf("%+v, events %q", got, r.events)
	}
	wants(t, r, "n0/0", nil)
}

// TestPodsOfTheJob: pods of a deleted job are those that were seen before.
func TestPodsOfTheJob(t *testing.T) {
	pod := func(uid string, owners ...state.Owner) state.Pod {
		return state.Pod{Meta: state.Meta{UID: uid, Owners: owners}}
	}
	f := &follower{q: Query{Job: state.Job{Meta: state.Meta{UID: "j"}, Kind: kinds.PyTorchJob}}, pods: map[string]state.Pod{"old": pod("old")}}
	for _, c := range []struct {
		pod       state.Pod
		ours, end bool
	}{
		{pod("old"), true, true}, {pod("new"), true, false},
		{pod("new", state.Owner{Kind: "PyTorchJob", UID: "j", Controller: true}), true, false},
		{pod("new", state.Owner{Kind: "PyTorchJob", UID: "other", Controller: true}), false, false},
		{pod("new", state.Owner{Kind: "ReplicaSet", UID: "other", Controller: true}), true, false}, // a pod may belong to an object of the job
	} {
		for deleted, want := range map[bool]bool{false: c.ours, true: c.end} {
			if f.deleted = deleted; f.ours(c.pod) != want {
				t.Errorf("%+v, deleted %v: %v", c.pod.Meta, deleted, !want)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	waiting := map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}}
	rank := func(n int) *int { return &n }
	for name, c := range map[string]struct {
		prepare func(*fake)
		change  func(*Query)
		code    errs.Exit
		says    string
	}{
		"no pods":             {func(*fake) {}, func(*Query) {}, errs.Pending, "is starting and has no pods"},
		"not started":         {func(f *fake) { f.pod("p0", 0, waiting, 0) }, func(*Query) {}, errs.Pending, "has not started"},
		"pod of another job":  {nil, func(q *Query) { q.Pods.Pod = "other-worker-0" }, errs.NotFound, "\"other-worker-0\" not found in job train"},
		"rank 99":             {nil, func(q *Query) { q.Pods.Rank = rank(99) }, errs.NotFound, "rank 99 not found"},
		"rank 99, followed":   {nil, func(q *Query) { q.Pods.Rank, q.Follow = rank(99), true }, errs.NotFound, "rank 99 not found"},
		"other pod, followed": {func(f *fake) { f.pod("p0", 0, running(), 0); f.pod("p1", 1, running(), 0) }, func(q *Query) { q.Pods.Pod, q.Follow = "train-worker-9", true }, errs.NotFound, "not found in job train"},
		"role":                {nil, func(q *Query) { q.Pods.Role = "wroker" }, errs.NotFound, `role "wroker" not found`},
		"container":           {nil, func(q *Query) { q.Container = "pytorh" }, errs.NotFound, `container "pytorh" not found`},
		"container, followed": {nil, func(q *Query) { q.Container, q.Follow = "pytorh", true }, errs.NotFound, `container "pytorh" not found`},
		"no previous run":     {nil, func(q *Query) { q.Previous = true }, errs.NotFound, "no previous run"},
		"no permission": {func(f *fake) {
			f.pod("p0", 0, running(), 0)
			f.refuse["train-worker-0"] = refusal{403, "Forbidden", `pods "train-worker-0" is forbidden: User "ada" cannot get resource "pods/log" in API group "" in the namespace "team-a"`}
		}, func(*Query) {}, errs.Denied, "in namespace team-a: permission denied"},
		"no permission, followed": {func(f *fake) {
			f.pod("p0", 0, running(), 0)
			f.refuse["train-worker-0"] = refusal{403, "Forbidden", `pods "train-worker-0" is forbidden: User "ada" cannot get resource "pods/log" in API group "" in the namespace "team-a"`}
		}, func(q *Query) { q.Follow = true }, errs.Denied, "in namespace team-a: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			if c.prepare == nil {
				f.pod("p0", 0, running(), 0)
			} else {
				c.prepare(f)
			}
			e, q := f.start()
			c.change(&q)
			got := <-read(t, e, q, newRecord())
			got.err = Worded(got.err)
			if errs.ExitOf(got.err) != c.code || !strings.Contains(errs.Text(got.err, false), c.says) {
				t.Errorf("exit code %d, %v; want %d, %q", errs.ExitOf(got.err), got.err, c.code, c.says)
			}
		})
	}
}

func TestOnce(t *testing.T) {
	prepare := func(t *testing.T) *fake {
		f := newFake(t)
		f.pod("p0", 0, running(), 0)
		f.pod("p1", 1, terminated(1), 0)
		f.write("p0", 0, at(10, "zero"), at(30, "two"), at(40, "three"))
		f.write("p1", 0, at(20, "one"), at(50, "four"))
		return f
	}
	t.Run("the failed pod", func(t *testing.T) {
		e, q := prepare(t).start()
		r := newRecord()
		if got := <-read(t, e, q, r); got.err != nil || !slices.Equal(r.all, []string{"train-worker-1 one", "train-worker-1 four"}) {
			t.Errorf("%q, %v", r.all, got.err)
		}
	})
	t.Run("all by time, through drops", func(t *testing.T) {
		f := prepare(t)
		f.cut[1], f.cut[2] = 40, 50
		e, q := f.start()
		q.Pods.All = true
		r := newRecord()
		want := []string{"train-worker-0 zero", "train-worker-1 one", "train-worker-0 two", "train-worker-0 three", "train-worker-1 four"}
		if got := <-read(t, e, q, r); got.err != nil || !slices.Equal(r.all, want) {
			t.Errorf("%q, %v", r.all, got.err)
		}
	})
	t.Run("one of several may not be read", func(t *testing.T) {
		f := prepare(t)
		f.refuse["train-worker-1"] = refusal{500, "InternalError", "the node is down"}
		e, q := f.start()
		q.Pods.All = true
		r := newRecord()
		got := <-read(t, e, q, r)
		if got.err == nil || got.Skipped != 1 || len(r.all) != 3 {
			t.Errorf("%+v, %q", got, r.all)
		}
	})
	t.Run("grep, tail and rank", func(t *testing.T) {
		f := prepare(t)
		e, q := f.start()
		two, rank := int64(2), 0
		q.Tail, q.Pods.Rank, q.Match = &two, &rank, regexp.MustCompile("^t.*e$")
		r := newRecord()
		if got := <-read(t, e, q, r); got.err != nil || !slices.Equal(r.all, []string{"train-worker-0 three"}) {
			t.Errorf("%q, %v, asked %q", r.all, got.err, f.queries)
		}
	})
	t.Run("the sink's own error", func(t *testing.T) {
		for _, follow := range []bool{false, true} {
			e, q := prepare(t).start()
			q.Pods.All, q.Follow = true, follow
			r := newRecord()
			r.errAt = 2
			if got := <-read(t, e, q, r); !errors.Is(got.err, errFull) || errors.As(got.err, new(*errs.Error)) {
				t.Errorf("follow %v: %v", follow, got.err)
			}
		}
	})
}
