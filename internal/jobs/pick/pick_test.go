package pick

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

func pod(name, labels string) state.Pod {
	p := state.Pod{Meta: state.Meta{Name: name, UID: name, Labels: map[string]string{}}, Phase: "Running", ContainerNames: []string{"main", "sidecar"}}
	for _, l := range strings.Fields(labels) {
		k, v, _ := strings.Cut(l, "=")
		p.Labels[k] = v
	}
	return p
}

func kubeflow(name, role string, index int) state.Pod {
	return pod(name, fmt.Sprintf("training.kubeflow.org/replica-type=%s training.kubeflow.org/job-role=%s training.kubeflow.org/replica-index=%d", role, role, index))
}

func names(pods []Pod) string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return strings.Join(out, " ")
}

// TestPlaced: the pod that matters is first, of every kind.
func TestPlaced(t *testing.T) {
	for name, c := range map[string]struct {
		job  state.Job
		pods []state.Pod
		want string
	}{
		"PyTorchJob": {state.Job{Kind: kinds.PyTorchJob, Roles: []state.RoleCount{{Name: "Master", Replicas: 1}, {Name: "Worker", Replicas: 11}}},
			[]state.Pod{kubeflow("w10", "worker", 10), kubeflow("w2", "worker", 2), kubeflow("m", "master", 0), kubeflow("w0", "worker", 0)}, "m w0 w2 w10"},
		"MPIJob": {state.Job{Kind: kinds.MPIJob, Roles: []state.RoleCount{{Name: "Launcher", Replicas: 1}, {Name: "Worker", Replicas: 2}}},
			[]state.Pod{kubeflow("w0", "worker", 0), pod("l", "training.kubeflow.org/job-role=launcher"), kubeflow("w1", "worker", 1)}, "l w0 w1"},
		"RayJob": {state.Job{Kind: kinds.RayJob, Roles: []state.RoleCount{{Name: "head", Replicas: 1}, {Name: "gpu", Replicas: 2}}},
			[]state.Pod{pod("g", "ray.io/cluster=c ray.io/node-type=worker ray.io/group=gpu"), pod("h", "ray.io/cluster=c ray.io/node-type=head"), pod("s", "batch.kubernetes.io/job-name=r")}, "s h g"},
		"no labels": {state.Job{Kind: kinds.HyperPodPyTorchJob, Roles: []state.RoleCount{{Name: "pods", Replicas: 12}}},
			[]state.Pod{pod("x-10", ""), pod("x-9", ""), pod("x-1", "")}, "x-1 x-9 x-10"},
	} {
		if got := names(Placed(c.job, c.pods)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	job := state.Job{Kind: kinds.PyTorchJob, Meta: state.Meta{Name: "j"}, Roles: []state.RoleCount{{Name: "Worker", Replicas: 3}}}
	old := kubeflow("w0-old", "worker", 0)
	newer := kubeflow("w0", "worker", 0)
	newer.CreationTimestamp = time.Unix(100, 0)
	pods := Placed(job, []state.Pod{old, newer, kubeflow("w1", "worker", 1)})
	rank := func(n int) *int { return &n }
	for name, c := range map[string]struct {
		c    Choice
		want string
		says string
	}{
		"the newest of the first rank": {c: Choice{}, want: "w0"},
		"all":                          {c: Choice{All: true}, want: "w0-old w0 w1"},
		"role":                         {c: Choice{Role: "WORKER"}, want: "w0-old w0 w1"},
		"rank":                         {c: Choice{Rank: rank(1)}, want: "w1"},
		"a rank to come":               {c: Choice{Rank: rank(2)}},
		"no such rank":                 {c: Choice{Rank: rank(3)}, says: "ranks:  0 to 2"},
		"no such role":                 {c: Choice{Role: "launcher"}, says: "roles:  worker"},
		"no such pod":                  {c: Choice{Pod: "w2x"}, says: "pods:  w"},
	} {
		got, err := Choose(job, pods, c.c)
		if err = Worded(err); names(got) != c.want || (err == nil) != (c.says == "") || err != nil && (errs.ExitOf(err) != errs.NotFound || !strings.Contains(errs.Text(err, false), c.says)) {
			t.Errorf("%s: %q, %v", name, names(got), err)
		}
	}
	if got, err := Choose(job, nil, Choice{Pod: "w0"}); len(got) != 0 || err != nil {
		t.Errorf("a pod of a job that has none yet: %v, %v", got, err)
	}
}

func TestContainer(t *testing.T) {
	p := Pod{Pod: pod("p", "")}
	p.InitNames = []string{"setup"}
	for name, want := range map[string]string{"": "main", "sidecar": "sidecar", "setup": "setup"} {
		if got, err := p.Container(name); got != want || err != nil {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	p.Annotations = map[string]string{defaultContainer: "sidecar"}
	if got, _ := p.Container(""); got != "sidecar" {
		t.Errorf("%q", got)
	}
	if _, err := p.Container("sidecr"); !strings.Contains(errs.Text(Worded(err), false), "--container sidecar") {
		t.Errorf("%v", err)
	}
}

func TestFirstFailed(t *testing.T) {
	at := func(s int64) *time.Time { t := time.Unix(s, 0); return &t }
	failed := func(name string, when int64) Pod {
		return Pod{Pod: state.Pod{Meta: state.Meta{Name: name}, Phase: "Failed", Containers: []state.Container{{Name: "c", Terminated: "Error", ExitCode: 1, FinishedAt: at(when)}}}}
	}
	ok := Pod{Pod: state.Pod{Meta: state.Meta{Name: "ok"}, Phase: "Succeeded", Containers: []state.Container{{Name: "c", Terminated: "Completed", FinishedAt: at(1)}}}}
	if p, found := FirstFailed([]Pod{ok, failed("late", 20), failed("first", 10)}); !found || p.Name != "first" {
		t.Errorf("%v %v", p.Name, found)
	}
	if _, found := FirstFailed([]Pod{ok}); found {
		t.Error("a pod that succeeded counts as failed")
	}
}

func TestSelectors(t *testing.T) {
	j := state.Job{Kind: kinds.RayJob, Meta: state.Meta{Name: "r"}}
	if got := Selectors(j); !slices.Equal(got, []string{"batch.kubernetes.io/job-name=r"}) {
		t.Errorf("%q", got)
	}
	j.PodSelector = "ray.io/cluster=c"
	if got := Selectors(j); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestNoRanks: nothing on the pods of Ray and of the HyperPod training operator says a rank, so none can be chosen.
func TestNoRanks(t *testing.T) {
	zero := 0
	for _, c := range []struct {
		job state.Job
		pod state.Pod
	}{
		{state.Job{Kind: kinds.RayCluster, Meta: state.Meta{Name: "r"}, Roles: []state.RoleCount{{Name: "head", Replicas: 1}, {Name: "gpu", Replicas: 2}}},
			pod("g", "ray.io/cluster=r ray.io/node-type=worker ray.io/group=gpu")},
		{state.Job{Kind: kinds.HyperPodPyTorchJob, Meta: state.Meta{Name: "h"}, Roles: []state.RoleCount{{Name: "pods", Replicas: 2}}}, pod("h", "HPJob=h")},
	} {
		_, err := Choose(c.job, Placed(c.job, []state.Pod{c.pod}), Choice{Rank: &zero})
		if err = Worded(err); errs.ExitOf(err) != errs.NotFound || !strings.Contains(errs.Text(err, false), "none known") {
			t.Errorf("%s: got %v", c.job.Kind.Kind, err)
		}
	}
}
