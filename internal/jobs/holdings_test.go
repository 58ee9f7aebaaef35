package jobs

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// holder is a workload of queue q that holds gpus since a minute.
func holder(t *testing.T, uid string, priority int32, minute string, gpus int) state.Workload {
	t.Helper()
	w := *workload(t, "", conds("QuotaReserved=True:Q@"+minute+" Admitted=True:A@"+minute))
	w.UID, w.Name, w.Priority, w.QueueName = uid, uid, priority, "lq"
	w.Admission = &state.Admission{ClusterQueue: "q", PodSets: []state.PodSetAssignment{{Flavors: map[string]string{"nvidia.com/gpu": "f"}, Usage: map[string]string{"nvidia.com/gpu": fmt.Sprint(gpus)}}}}
	return w
}

// Of 8 GPUs of its own a queue holds 14: six are borrowed, by those that
// reclaiming would take first.
func TestHoldings(t *testing.T) {
	all := []state.Workload{holder(t, "old-low", 1, "01", 4), holder(t, "new-low", 1, "05", 4), holder(t, "high", 9, "09", 6)}
	queue := &state.ClusterQueue{ResourceGroups: []state.ResourceGroup{{Flavors: []state.FlavorQuotas{{Name: "f", Resources: []state.ResourceQuota{{Name: "nvidia.com/gpu", Nominal: resource.MustParse("8")}}}}}}}
	for i, want := range []int64{2, 4, 0} {
		got := Holdings(&all[i], queue, all)
		if len(got) != 1 || got[0].Borrowed != want || got[0].Flavor != "f" {
			t.Errorf("%s: got %+v, want %d borrowed", all[i].Name, got, want)
		}
	}
	if got := Holdings(&all[1], nil, all); got[0].Borrowed != 0 || got[0].Amount != 4 {
		t.Errorf("without the queue: %+v", got)
	}
	if Holdings(nil, queue, all) != nil || Holdings(workload(t, "", ""), queue, all) != nil {
		t.Error("who has no quota holds nothing")
	}
	over := holder(t, "over", 9, "02", 8)
	over.Conditions = append(over.Conditions, state.Condition{Type: "Finished", Status: "True"})
	if Holdings(&over, queue, all) != nil {
		t.Error("who is over holds nothing")
	}
}

func TestPodStatus(t *testing.T) {
	begun := time.Now()
	ran := func(c state.Container) state.Container { c.StartedAt = &begun; return c }
	ended := func(c state.Container) state.Container { c.FinishedAt = &begun; return c }
	for _, tt := range []struct {
		want, why string
		pod       state.Pod
	}{
		{"Pending", "", state.Pod{Phase: "Pending"}},
		{"Pending", "Unschedulable", state.Pod{Phase: "Pending", Conditions: []state.Condition{{Type: "PodScheduled", Status: "False", Reason: "Unschedulable"}}}},
		{"SchedulingGated", "SchedulingGated", state.Pod{Phase: "Pending", Conditions: []state.Condition{{Type: "PodScheduled", Status: "False", Reason: "SchedulingGated"}}}},
		{"ContainerCreating", "", state.Pod{Phase: "Pending", Containers: []state.Container{{Waiting: "ContainerCreating"}}}},
		{"ImagePullBackOff", "ImagePullBackOff", state.Pod{Phase: "Pending", Containers: []state.Container{{Waiting: "ImagePullBackOff"}}}},
		{"CrashLoopBackOff", "CrashLoopBackOff", state.Pod{Phase: "Running", Containers: []state.Container{{Waiting: "CrashLoopBackOff", LastTerminated: "Error", LastExitCode: 3}}}},
		{"Running", "", state.Pod{Phase: "Running", Ready: true, Containers: []state.Container{ran(state.Container{Ready: true})}}},
		{"NotReady", "", state.Pod{Phase: "Running", Containers: []state.Container{ended(state.Container{Terminated: "Completed"}), ran(state.Container{Ready: true})}}},
		{"Completed", "", state.Pod{Phase: "Succeeded", Containers: []state.Container{ended(state.Container{Terminated: "Completed"})}}},
		{"OOMKilled", "OOMKilled", state.Pod{Phase: "Failed", Containers: []state.Container{ended(state.Container{Terminated: "OOMKilled", ExitCode: 137})}}},
		{"ExitCode:7", "", state.Pod{Phase: "Running", Containers: []state.Container{ended(state.Container{ExitCode: 7})}}},
		{"Evicted", "Evicted", state.Pod{Phase: "Failed", Reason: "Evicted"}},
		{"Terminating", "", state.Pod{Meta: state.Meta{DeletionTimestamp: &begun}, Phase: "Running", Containers: []state.Container{ran(state.Container{Ready: true})}}},
		{"Unknown", "", state.Pod{Meta: state.Meta{DeletionTimestamp: &begun}, Phase: "Running", Reason: "NodeLost"}},
		{"Init:0/2", "", state.Pod{Phase: "Pending", Containers: []state.Container{{Init: true, Waiting: "PodInitializing"}, {Init: true}, {Waiting: "PodInitializing"}}}},
		{"Init:1/2", "", state.Pod{Phase: "Pending", Containers: []state.Container{ended(state.Container{Init: true, Terminated: "Completed"}), {Init: true}, {Waiting: "PodInitializing"}}}},
		{"Init:Error", "Error", state.Pod{Phase: "Pending", Containers: []state.Container{ended(state.Container{Init: true, Terminated: "Error", ExitCode: 1})}}},
		{"Init:ErrImagePull", "ErrImagePull", state.Pod{Phase: "Pending", Containers: []state.Container{{Init: true, Waiting: "ErrImagePull"}}}},
		{"Running", "", state.Pod{Phase: "Running", Ready: true, Containers: []state.Container{ran(state.Container{Init: true, Started: true, Ready: true}), ran(state.Container{Ready: true})}}},
	} {
		if got := PodStatus(tt.pod); got != tt.want {
			t.Errorf("got %s, want %s: %+v", got, tt.want, tt.pod)
		}
		if why := TroubleOf(tt.pod).Reason; why != tt.why {
			t.Errorf("%s: why %q, want %q", tt.want, why, tt.why)
		}
	}
}

func TestResume(t *testing.T) {
	j := state.Job{Kind: kinds.PyTorchJob, Meta: state.Meta{UID: "J", Annotations: map[string]string{kinds.AutoResumeAnnotation: "true", kinds.MaxRetryAnnotation: "3"}}}
	events := []state.Event{{ObjectUID: "J", Reason: "PyTorchJobRestarting", Count: 2}, {ObjectUID: "other", Reason: "PyTorchJobRestarting", Count: 9}}
	if got := resumeOf(j, events, []state.Pod{{Restarts: 1}, {Restarts: 1}}); got != (Resume{true, 3, 2}) {
		t.Errorf("got %+v", got)
	}
	if got := resumeOf(state.Job{Kind: kinds.PyTorchJob}, nil, []state.Pod{{Restarts: 1}, {Restarts: 4}}); got != (Resume{false, 0, 4}) {
		t.Errorf("got %+v", got)
	}
	if got := resumeOf(state.Job{Kind: kinds.HyperPodPyTorchJob, Restarts: 5, MaxRetries: 50}, nil, nil); got != (Resume{true, 50, 5}) {
		t.Errorf("got %+v", got)
	}
}
