package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

const (
	johnNS  = "hyperpod-ns-john"
	smithNS = "hyperpod-ns-smith"
)

// One job goes through its life: created, admitted, running, done; its quota is
// free again and the next one starts at that moment, not when somebody looks.
func TestJobLife(t *testing.T) {
	b := newBench(t, "john-smith")
	begin := b.clock.now()
	b.create(smithNS, pytorch("one", "smith", 2, 4, lasting("90m")))
	b.create(smithNS, pytorch("two", "smith", 2, 4, lasting("10m")))
	if total, borrowed := b.usage(smithNS+"-clusterqueue", "ml.g5.12xlarge", gpu); total != "8" || borrowed != "4" {
		t.Fatalf("%s used, %s borrowed", total, borrowed)
	}
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "two"); !object.True(j, "Suspended") || len(b.podPhases(smithNS, "two")) != 0 {
		t.Fatalf("the second does not wait: %v", object.At(j, "status"))
	}
	b.clock.move(89 * time.Minute)
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "one"); object.True(j, "Succeeded") {
		t.Fatal("done too early")
	}
	b.clock.move(4 * time.Minute)
	one, two := b.get(kinds.PyTorchJob.Resource, smithNS, "one"), b.get(kinds.PyTorchJob.Resource, smithNS, "two")
	if !object.True(one, "Succeeded") || object.True(one, "Running") {
		t.Errorf("one: %v", object.At(one, "status"))
	}
	if end, _ := object.Time(one, "status", "completionTime"); !end.Equal(begin.Add(90 * time.Minute)) {
		t.Errorf("one ended at %v", end)
	}
	if start, _ := object.Time(two, "status", "startTime"); !start.Equal(begin.Add(90*time.Minute)) || !object.True(two, "Running") {
		t.Errorf("two: %v", object.At(two, "status"))
	}
	w := b.workload(smithNS, "one")
	if !object.True(w, "Finished") || object.Text(object.Condition(w, "Finished"), "reason") != "Succeeded" {
		t.Errorf("workload of one: %v", object.At(w, "status", "conditions"))
	}
	for name, phase := range b.podPhases(smithNS, "one") {
		if phase != "Succeeded" {
			t.Errorf("pod %s is %s", name, phase)
		}
	}
	b.advance(time.Hour)
	if total, _ := b.usage(smithNS+"-clusterqueue", "ml.g5.12xlarge", gpu); total != "0" {
		t.Errorf("%s still used", total)
	}
	if got, want := b.s.Now(), b.clock.now().Add(time.Hour); !got.Equal(want) {
		t.Errorf("the clock shows %v, want %v", got, want)
	}
}

// A long advance plays everything in between, in order.
func TestAdvanceInOrder(t *testing.T) {
	b := newBench(t, "john-smith")
	begin := b.clock.now()
	for i := range 5 {
		b.create(smithNS, pytorch(fmt.Sprintf("j%d", i), "smith", 2, 4, lasting("1h")))
		b.clock.move(time.Second) // the queue is ordered by second
	}
	b.advance(24 * time.Hour)
	for i := range 5 {
		j := b.get(kinds.PyTorchJob.Resource, smithNS, fmt.Sprintf("j%d", i))
		if end, ok := object.Time(j, "status", "completionTime"); !ok || !end.Equal(begin.Add(time.Duration(i+1)*time.Hour)) {
			t.Errorf("j%d ended at %v", i, end)
		}
	}
	if err := b.s.Advance(context.Background(), -time.Minute); err == nil {
		t.Error("time goes back")
	}
}

// A borrower is preempted when the owner wants its quota back, and runs again
// from the beginning when there is room.
func TestPreemptionAndReturn(t *testing.T) {
	b := newBench(t, "john-smith")
	begin := b.clock.now()
	b.create(smithNS, pytorch("borrower", "smith", 2, 4, lasting("2h")))
	first := b.podPhases(smithNS, "borrower")
	b.clock.move(30 * time.Minute)
	b.create(johnNS, pytorch("owner", "john", 3, 4, lasting("1h")))
	if j := b.get(kinds.PyTorchJob.Resource, johnNS, "owner"); !object.True(j, "Running") {
		t.Fatalf("the owner does not run: %v", b.reasons(johnNS, "owner"))
	}
	j, w := b.get(kinds.PyTorchJob.Resource, smithNS, "borrower"), b.workload(smithNS, "borrower")
	if !object.True(j, "Suspended") || !object.Bool(j, "spec", "runPolicy", "suspend") || object.True(j, "Running") || object.At(j, "status", "startTime") != nil {
		t.Errorf("borrower: %v", object.At(j, "status"))
	}
	if object.At(j, "spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "nodeSelector") != nil {
		t.Error("the template was not put back as it was")
	}
	for _, c := range []string{"Evicted", "Preempted", "Requeued"} {
		if !object.True(w, c) {
			t.Errorf("the workload is not %s: %v", c, object.At(w, "status", "conditions"))
		}
	}
	if object.True(w, "Admitted") || object.At(w, "status", "admission") != nil || object.True(w, "PodsReady") {
		t.Errorf("the workload still holds quota: %v", object.At(w, "status"))
	}
	if p := b.podPhases(smithNS, "borrower"); len(p) != 0 || len(first) != 2 {
		t.Errorf("pods %v, before %v", p, first)
	}
	if r := b.reasons(smithNS, object.Text(w, "metadata", "name")); !slices.Contains(r, "Preempted") || !slices.Contains(r, "EvictedDueToPreempted") {
		t.Errorf("events %v", r)
	}
	// The owner is done an hour later; the borrower starts over and takes its two hours.
	b.advance(time.Hour + time.Minute)
	j, w = b.get(kinds.PyTorchJob.Resource, smithNS, "borrower"), b.workload(smithNS, "borrower")
	if start, _ := object.Time(j, "status", "startTime"); !object.True(j, "Running") || !start.Equal(begin.Add(90*time.Minute)) {
		t.Errorf("it did not come back: %v", object.At(j, "status"))
	}
	if !object.True(w, "Admitted") || object.True(w, "Evicted") {
		t.Errorf("workload %v", object.At(w, "status", "conditions"))
	}
	b.advance(2 * time.Hour)
	j = b.get(kinds.PyTorchJob.Resource, smithNS, "borrower")
	if end, _ := object.Time(j, "status", "completionTime"); !end.Equal(begin.Add(210 * time.Minute)) {
		t.Errorf("it ended at %v", end)
	}
}

// Suspending by hand is done on the workload, and undone there.
func TestDeactivate(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 1, 4))
	path := kinds.Workload.Path(smithNS, object.Text(b.workload(smithNS, "j"), "metadata", "name"))
	b.must(200, "PATCH", path, `{"spec":{"active":false}}`, "Content-Type: application/merge-patch+json")
	w := b.get(kinds.Workload, smithNS, path[strings.LastIndex(path, "/")+1:])
	if c := object.Condition(w, "Evicted"); object.Text(c, "reason") != "Deactivated" || object.True(w, "QuotaReserved") {
		t.Errorf("conditions %v", object.At(w, "status", "conditions"))
	}
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "j"); !object.True(j, "Suspended") || len(b.podPhases(smithNS, "j")) != 0 {
		t.Errorf("job %v", object.At(j, "status"))
	}
	if q := b.get(kinds.ClusterQueue, "", smithNS+"-clusterqueue"); object.At(q, "status", "pendingWorkloads") != int64(0) {
		t.Errorf("a deactivated workload is counted as pending: %v", object.At(q, "status"))
	}
	b.must(200, "PATCH", path, `{"spec":{"active":true}}`, "Content-Type: application/merge-patch+json")
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "j"); !object.True(j, "Running") {
		t.Errorf("it did not come back: %v", object.At(j, "status"))
	}
}

func TestWithoutQueue(t *testing.T) {
	b := newBench(t, "john-smith")
	free := pytorch("free", "x", 1, 4, lasting("10m"))
	delete(object.Map(free, "metadata"), "labels")
	a := b.send("POST", kinds.PyTorchJob.Path("default", ""), mustJSON(t, free))
	if a.code != 201 || a.header.Get("Warning") != "" {
		t.Fatalf("%d %s %v", a.code, a.body, a.header)
	}
	if j := b.get(kinds.PyTorchJob.Resource, "default", "free"); !object.True(j, "Running") {
		t.Errorf("it does not run: %v", object.At(j, "status"))
	}
	if n := len(b.items(kinds.Workload.Path("default", ""))); n != 0 {
		t.Errorf("%d workloads", n)
	}
	big := pytorch("big", "x", 4, 4)
	delete(object.Map(big, "metadata"), "labels")
	b.create("default", big)
	var waiting map[string]any
	for _, p := range b.items(kinds.Pod.Path("default", "")) {
		if object.Text(p, "status", "phase") == "Pending" {
			waiting = p
		}
	}
	if c := object.Condition(waiting, "PodScheduled"); object.Text(c, "reason") != "Unschedulable" || !strings.HasPrefix(object.Text(c, "message"), "0/4 nodes are available: 4 Insufficient nvidia.com/gpu") {
		t.Errorf("the pod without a node: %v", c)
	}
	if j := b.get(kinds.PyTorchJob.Resource, "default", "big"); object.True(j, "Running") {
		t.Error("it counts as running without all its pods")
	}
	// When the first ends there is room, and the big one starts.
	b.advance(11 * time.Minute)
	if j := b.get(kinds.PyTorchJob.Resource, "default", "big"); !object.True(j, "Running") {
		t.Errorf("it did not start: %v", object.At(j, "status"))
	}
	// In a team's namespace a real cluster would refuse it, and the sandbox reports that.
	team := pytorch("team", "x", 1, 1)
	delete(object.Map(team, "metadata"), "labels")
	if a := b.send("POST", kinds.PyTorchJob.Path(johnNS, ""), mustJSON(t, team)); a.code != 201 || !strings.Contains(a.header.Get("Warning"), "queue-name' is either missing") {
		t.Errorf("%d %v", a.code, a.header)
	}
}

func TestDeleteJob(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 2, 4))
	b.create(smithNS, pytorch("next", "smith", 2, 4))
	b.must(200, "DELETE", kinds.PyTorchJob.Path(smithNS, "j"), `{"propagationPolicy":"Background"}`)
	if n := len(b.items(kinds.Workload.Path(smithNS, ""))); n != 1 {
		t.Errorf("%d workloads left, want that of next", n)
	}
	if p := b.podPhases(smithNS, "j"); len(p) != 0 {
		t.Errorf("pods left: %v", p)
	}
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "next"); !object.True(j, "Running") {
		t.Errorf("next does not run: %v", object.At(j, "status"))
	}
}

func TestOutcomeAndDurations(t *testing.T) {
	b := newBench(t, "john-smith")
	set := func(value any, names ...string) func(map[string]any) {
		return func(m map[string]any) { object.Set(m, value, names...) }
	}
	for _, c := range []struct {
		name   string
		change func(map[string]any)
		after  time.Duration
		state  string
	}{
		{"annotation", lasting("7m"), 7 * time.Minute, "Succeeded"},
		{"deadline", set(int64(600), "spec", "runPolicy", "activeDeadlineSeconds"), 10 * time.Minute, "Succeeded"},
		{"template", set(int64(660), "spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "activeDeadlineSeconds"), 11 * time.Minute, "Succeeded"},
		{"label", set("720", "metadata", "labels", "kueue.x-k8s.io/max-exec-time-seconds"), 12 * time.Minute, "Succeeded"},
		{"default", func(map[string]any) {}, time.Hour, "Succeeded"},
		{"broken", lasting("soon"), time.Hour, "Succeeded"},
		{"failing", func(m map[string]any) {
			lasting("5m")(m)
			object.Set(m, "Failed", "metadata", "annotations", "cli.hyperpod/sandbox-outcome")
		}, 5 * time.Minute, "Failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := b.s.Now()
			a := b.send("POST", kinds.PyTorchJob.Path(johnNS, ""), mustJSON(t, pytorch(c.name, "john", 1, 4, c.change)))
			if a.code != 201 || (c.name == "broken") != strings.Contains(a.header.Get("Warning"), "not a duration") {
				t.Fatalf("%d %v %s", a.code, a.header, a.body)
			}
			b.advance(2 * time.Hour)
			j := b.get(kinds.PyTorchJob.Resource, johnNS, c.name)
			if end, _ := object.Time(j, "status", "completionTime"); !object.True(j, c.state) || !end.Equal(begin.Add(c.after)) {
				t.Errorf("%v after %v", object.At(j, "status", "conditions"), end.Sub(begin))
			}
			if w := b.workload(johnNS, c.name); object.Text(object.Condition(w, "Finished"), "reason") != c.state {
				t.Errorf("workload: %v", object.At(w, "status", "conditions"))
			}
		})
	}
}
