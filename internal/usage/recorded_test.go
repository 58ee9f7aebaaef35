package usage

import (
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/history"
)

// TestWithRecorded: samples count until the last one, the cluster after it, and jobs that only
// samples know are added.
func TestWithRecorded(t *testing.T) {
	gpus := map[string]int64{"nvidia.com/gpu": 2}
	track := func(uid, namespace string, changes ...history.Change) *history.Track {
		return &history.Track{Job: history.Job{UID: uid, Namespace: namespace, Name: uid, Devices: map[string]int64{"nvidia.com/gpu": 2, "cpu": 4000}}, Changes: changes}
	}
	d := &history.Data{Until: at(-1), Jobs: []*history.Track{
		track("lives", "n", history.Change{Time: at(-6), Phase: history.Waiting}, history.Change{Time: at(-5), Phase: history.Holding, Borrowed: map[string]int64{"nvidia.com/gpu": 1}},
			history.Change{Time: at(-4), Phase: history.Preempted}, history.Change{Time: at(-3), Phase: history.Holding}),
		track("gone", "n", history.Change{Time: at(-5), Phase: history.Holding, Borrowed: map[string]int64{"nvidia.com/gpu": 2, "cpu": 9}}, history.Change{Time: at(-2), Phase: history.Vanished}),
		track("done", "n", history.Change{Time: at(-5), Phase: history.Holding}, history.Change{Time: at(-4.5), Phase: history.Succeeded}),
		track("theirs", "other", history.Change{Time: at(-5), Phase: history.Holding}),
	}}
	list := []Job{
		{UID: "lives", Name: "lives", Devices: gpus, Incomplete: true, Held: []Span{{at(-3), noon}}, Loans: []Loan{{Span{at(-3), noon}, gpus}}},
		{UID: "new", Name: "new", Devices: gpus, Held: []Span{{at(-0.5), noon}}},
	}
	doc := Build(WithRecorded(list, d, func(j history.Job) bool { return j.Namespace == "n" }), at(-24), noon)
	type row struct {
		state                  string
		used, waited, borrowed float64
	}
	got := map[string]row{}
	for _, j := range doc.Jobs {
		got[j.Name] = row{j.State, j.Used["nvidia.com/gpu"], j.Waited["nvidia.com/gpu"], j.Borrowed["nvidia.com/gpu"]}
		if j.Incomplete || j.Used["cpu"]+j.Borrowed["cpu"] != 0 {
			t.Errorf("%+v", j)
		}
	}
	for name, want := range map[string]row{
		"lives": {"", 8, 4, 1 + 2}, // 1 h with one borrowed, and since the last sample two
		"gone":  {Deleted, 6, 0, 6},
		"done":  {"Succeeded", 1, 0, 0},
		"new":   {"", 1, 0, 0},
	} {
		if got[name] != want {
			t.Errorf("%s: %+v, want %+v", name, got[name], want)
		}
	}
	if len(got) != 4 {
		t.Errorf("%v", got)
	}
}
