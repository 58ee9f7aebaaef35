package jobs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// The tests write objects as the API serves them, in short forms:
// conds is "Type=Status:Reason@minute" separated by blanks, message "m:Reason".
func conds(s string) string {
	var out []string
	for _, f := range strings.Fields(s) {
		name, rest, _ := strings.Cut(f, "=")
		status, rest, _ := strings.Cut(rest, ":")
		reason, minute, _ := strings.Cut(rest, "@")
		if minute == "" {
			minute = "01"
		}
		out = append(out, fmt.Sprintf(`{"type":%q,"status":%q,"reason":%q,"message":%q,"lastTransitionTime":"2026-11-20T10:%s:00Z"}`, name, status, reason, "m:"+reason, minute))
	}
	return `"conditions":[` + strings.Join(out, ",") + `]`
}

// job makes a job of a kind. spec and status are the JSON inside their braces.
func job(t *testing.T, k kinds.Job, queue, spec, status string) state.Job {
	t.Helper()
	labels := ""
	if queue != "" {
		labels = fmt.Sprintf(`,"labels":{%q:%q}`, kinds.QueueLabel, queue)
	}
	j, err := state.DecodeJob(k, json.RawMessage(fmt.Sprintf(`{"metadata":{"name":"train","namespace":"team","uid":"u-1","creationTimestamp":"2026-11-20T10:00:00Z"%s},"spec":{%s},"status":{%s}}`, labels, spec, status)))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func workload(t *testing.T, spec, status string) *state.Workload {
	t.Helper()
	w, err := state.DecodeWorkload(json.RawMessage(fmt.Sprintf(`{"metadata":{"name":"w","creationTimestamp":"2026-11-20T10:00:30Z"},"spec":{%s},"status":{%s}}`, spec, status)))
	if err != nil {
		t.Fatal(err)
	}
	return &w
}

const (
	suspended = `"runPolicy":{"suspend":true},`
	workers   = `"pytorchReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[]}}}}`
	admitted  = "QuotaReserved=True:QuotaReserved Admitted=True:Admitted@02"
	batchSpec = `"parallelism":4,"template":{"spec":{}}`
	raySpec   = `"rayClusterSpec":{"headGroupSpec":{"template":{"spec":{}}},"workerGroupSpecs":[{"groupName":"w","replicas":2,"template":{"spec":{}}}]}`
	setSpec   = `"replicatedJobs":[{"name":"w","replicas":2,"template":{"spec":{"parallelism":3,"template":{"spec":{}}}}}]`
)

type statusCase struct {
	name     string
	kind     kinds.Job
	queue    string
	spec     string
	status   string
	workload string // "" none, else its status; "inactive " before it: spec.active=false
	want     string // State Reason since(minute) ready/wanted
}

func (c statusCase) run(t *testing.T) {
	j := job(t, c.kind, c.queue, c.spec, c.status)
	var w *state.Workload
	if c.workload != "" {
		status, inactive := strings.CutPrefix(c.workload, "inactive ")
		w = workload(t, fmt.Sprintf(`"active":%v`, !inactive), strings.TrimPrefix(status, "none"))
	}
	s := StatusOf(j, w, nil)
	reason := s.Reason
	if reason == "" {
		reason = "-"
	}
	if got := fmt.Sprintf("%s %s %s %d/%d", s.State, reason, s.Since.UTC().Format("04:05"), s.Ready, s.Wanted); got != c.want {
		t.Errorf("got %s, want %s (%s)", got, c.want, s.Message)
	}
}

func TestStatusOfPyTorchJob(t *testing.T) {
	py := kinds.PyTorchJob
	running := conds("Created=True:PyTorchJobCreated Running=True:PyTorchJobRunning@03") + `,"replicaStatuses":{"Worker":{"active":2}}`
	for _, c := range []statusCase{
		{"no status yet, no queue", py, "", workers, "", "", "Starting - 00:00 0/2"},
		{"created", py, "", workers, conds("Created=True:PyTorchJobCreated"), "", "Starting - 00:00 0/2"},
		{"running, ungoverned", py, "", workers, running, "", "Running PyTorchJobRunning 03:00 2/2"},
		{"suspended by a user, no queue", py, "", suspended + workers, conds("Created=True:C Suspended=True:PyTorchJobSuspended@05"), "", "Suspended Suspended 05:00 0/2"},
		{"just created, Kueue has not seen it", py, "q", suspended + workers, "", "", "Pending NoWorkload 00:00 0/2"},
		{"waiting, no word from Kueue", py, "q", suspended + workers, conds("Created=True:C Suspended=True:PyTorchJobSuspended"), "none", "Pending - 00:30 0/2"},
		{"waiting for quota", py, "q", suspended + workers, conds("Suspended=True:PyTorchJobSuspended"), conds("QuotaReserved=False:Pending@04"), "Pending Pending 00:30 0/2"},
		{"its queue does not exist", py, "q", suspended + workers, "", conds("QuotaReserved=False:Inadmissible"), "Pending Inadmissible 00:30 0/2"},
		{"quota reserved, checks to come", py, "q", suspended + workers, "", conds("QuotaReserved=True:QuotaReserved") + `,"admissionChecks":[{"name":"prov","state":"Pending"}]`, "Pending UnsatisfiedAdmissionChecks 00:30 0/2"},
		{"admitted, not yet resumed", py, "q", suspended + workers, conds("Suspended=True:PyTorchJobSuspended"), conds(admitted), "Starting - 02:00 0/2"},
		// v2 shows Suspended here: the newest condition, whatever its status.
		{"resumed", py, "q", workers, conds("Created=True:C Suspended=False:PyTorchJobResumed@04"), conds(admitted), "Starting - 02:00 0/2"},
		{"resumed and running", py, "q", workers, conds("Running=True:PyTorchJobRunning@03 Suspended=False:PyTorchJobResumed@04") + `,"replicaStatuses":{"Worker":{"active":1}}`, conds(admitted), "Running PyTorchJobRunning 03:00 1/2"},
		{"restarting", py, "q", workers, conds("Running=False:PyTorchJobRestarting@05 Restarting=True:PyTorchJobRestarting@05"), conds(admitted), "Restarting PyTorchJobRestarting 05:00 0/2"},
		{"preempted, pods still there", py, "q", workers, running, conds("QuotaReserved=True:QuotaReserved Admitted=True:Admitted Evicted=True:Preempted@07 Preempted=True:InCohortReclamation@07"), "Preempted Preempted 07:00 2/2"},
		{"preempted and waiting", py, "q", suspended + workers, conds("Running=False:PyTorchJobSuspended@07 Suspended=True:PyTorchJobSuspended@07"), conds("QuotaReserved=False:Pending@08 Admitted=False:NoReservation Evicted=True:Preempted@07"), "Preempted Preempted 07:00 0/2"},
		{"admitted again after preemption", py, "q", workers, conds("Suspended=False:PyTorchJobResumed"), conds("QuotaReserved=True:Q Admitted=True:A@09 Evicted=False:QuotaReserved@09 Preempted=False:QuotaReserved@09"), "Starting - 09:00 0/2"},
		{"evicted for another reason", py, "q", suspended + workers, "", conds("QuotaReserved=False:Pending Evicted=True:PodsReadyTimeout@06"), "Pending PodsReadyTimeout 06:00 0/2"},
		{"resumed and waiting", py, "q", suspended + workers, "", conds("QuotaReserved=False:Pending@06 Admitted=False:NoReservation@06 Evicted=True:Deactivated@06 Requeued=True:Reactivated@08"), "Pending Pending 08:00 0/2"},
		{"resumed without quota before", py, "q", suspended + workers, "", conds("QuotaReserved=False:Pending@05 Evicted=True:Deactivated@06"), "Pending Pending 06:00 0/2"},
		{"suspended again", py, "q", suspended + workers, "", "inactive " + conds("QuotaReserved=False:Pending@09 Evicted=True:Deactivated@09 Requeued=True:Reactivated@08"), "Suspended Deactivated 09:00 0/2"},
		{"suspended before admission", py, "q", suspended + workers, "", "inactive none", "Suspended Deactivated 00:00 0/2"},
		{"suspended while running", py, "q", workers, running, "inactive " + conds(admitted+" Evicted=True:Deactivated@08"), "Suspended Deactivated 08:00 2/2"},
		{"succeeded", py, "q", workers, conds("Running=False:PyTorchJobSucceeded@09 Succeeded=True:PyTorchJobSucceeded@09") + `,"completionTime":"2026-11-20T10:09:00Z"`, conds(admitted + " Finished=True:Succeeded@10"), "Succeeded PyTorchJobSucceeded 09:00 0/2"},
		{"failed", py, "q", workers, conds("Running=False:PyTorchJobFailed@09 Failed=True:PyTorchJobFailed@09") + `,"replicaStatuses":{"Worker":{"failed":1}}`, conds(admitted), "Failed PyTorchJobFailed 09:00 0/2"},
		{"failed and suspended", py, "q", suspended + workers, conds("Failed=True:PyTorchJobFailed@09"), "inactive " + conds("Evicted=True:Deactivated@08"), "Failed PyTorchJobFailed 09:00 0/2"},
		{"a Failed that does not hold", py, "", workers, conds("Failed=False:x Running=True:R@03"), "", "Running R 03:00 2/2"},
		{"only Kueue knows that it is over", py, "q", workers, "", conds(admitted + " Finished=True:Succeeded@10"), "Succeeded Succeeded 10:00 0/2"},
		{"Kueue could not start it", py, "q", suspended + workers, "", conds(admitted + " Finished=True:FailedToStart@10"), "Failed FailedToStart 10:00 0/2"},
		{"its workload ended for a reason that is new", py, "q", suspended + workers, "", conds(admitted + " Finished=True:Retired@10"), "Pending Retired 10:00 0/2"},
		{"its workload ended for a reason that is new, and it runs", py, "q", workers, conds("Running=True:R@03"), conds(admitted + " Finished=True:Retired@10"), "Running R 03:00 2/2"},
		{"Kueue replaced the workload, there will be another", py, "q", suspended + workers, "", conds("Finished=True:WorkloadSliceReplaced@10"), "Pending NoWorkload 00:00 0/2"},
		{"Kueue gave the workload up, there will be another", py, "q", suspended + workers, "", conds("Finished=True:OutOfSync@10"), "Pending NoWorkload 00:00 0/2"},
		{"started before Kueue looked", py, "q", workers, running, conds("QuotaReserved=False:Pending"), "Running PyTorchJobRunning 03:00 2/2"},
		{"with times of older operators only", py, "", workers, `"conditions":[{"type":"Running","status":"True","lastUpdateTime":"2026-11-20T10:04:00Z"}]`, "", "Running - 04:00 2/2"},
		{"it ran, and no pod runs now", py, "", workers, conds("Running=True:R@03") + `,"replicaStatuses":{"Worker":{}}`, "", "Starting - 00:00 0/2"},
		{"a pod has ended, and none runs now", py, "", workers, conds("Running=True:R@03") + `,"replicaStatuses":{"Worker":{"succeeded":1}}`, "", "Running R 03:00 0/2"},
		{"unknown conditions", py, "", workers, conds("Odd=True:x Running=Unknown:y"), "", "Starting - 00:00 0/2"},
	} {
		t.Run(c.name, c.run)
	}
}

func TestStatusOfOtherKinds(t *testing.T) {
	for _, c := range []statusCase{
		{"MPIJob starting", kinds.MPIJob, "q", `"mpiReplicaSpecs":{"Launcher":{"template":{"spec":{}}},"Worker":{"replicas":2,"template":{"spec":{}}}}`, conds("Created=True:MPIJobCreated"), conds(admitted), "Starting - 02:00 0/3"},
		{"MPIJob running", kinds.MPIJob, "", `"mpiReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{}}}}`, conds("Created=True:C Running=True:MPIJobRunning@03") + `,"replicaStatuses":{"Worker":{"active":2}}`, "", "Running MPIJobRunning 03:00 2/2"},
		{"MPIJob evicted in its own words", kinds.MPIJob, "", `"runPolicy":{"suspend":true}`, conds("Suspended=True:MPIJobSuspended@05 Running=False:x"), "", "Suspended Suspended 05:00 0/0"},

		{"HyperPodPyTorchJob running", kinds.HyperPodPyTorchJob, "q", `"replicaSpecs":[{"name":"pods","replicas":4,"template":{"spec":{}}}]`, conds("Created=True:C Running=True:R@03"), conds(admitted), "Running R 03:00 4/4"},
		{"HyperPodPyTorchJob done", kinds.HyperPodPyTorchJob, "q", `"replicaSpecs":[]`, conds("Running=False:R Completed=True:C@09"), conds(admitted), "Succeeded C 09:00 0/0"},
		{"HyperPodPyTorchJob failed", kinds.HyperPodPyTorchJob, "q", ``, conds("Failed=True:JobFailed@09"), "", "Failed JobFailed 09:00 0/0"},

		{"Job suspended by a user", kinds.BatchJob, "", `"suspend":true,` + batchSpec, conds("Suspended=True:JobSuspended@05"), "", "Suspended Suspended 05:00 0/4"},
		{"Job with pods that do not run", kinds.BatchJob, "q", batchSpec, `"active":4,"ready":0,"startTime":"2026-11-20T10:03:00Z"`, conds(admitted), "Starting - 02:00 0/4"},
		{"Job running", kinds.BatchJob, "q", batchSpec, `"active":4,"ready":3,"startTime":"2026-11-20T10:03:00Z"`, conds(admitted), "Running - 03:00 3/4"},
		{"Job between pods", kinds.BatchJob, "q", batchSpec, `"active":1,"ready":0,"succeeded":3,"startTime":"2026-11-20T10:03:00Z"`, conds(admitted), "Running - 03:00 0/4"},
		{"Job tried again", kinds.BatchJob, "q", batchSpec, `"active":1,"ready":0,"failed":2,"startTime":"2026-11-20T10:03:00Z"`, conds(admitted), "Restarting - 03:00 0/4"},
		{"Job complete", kinds.BatchJob, "q", batchSpec, conds("SuccessCriteriaMet=True:CompletionsReached@08 Complete=True:CompletionsReached@09"), conds(admitted), "Succeeded CompletionsReached 09:00 0/4"},
		{"Job failing", kinds.BatchJob, "q", batchSpec, conds("FailureTarget=True:BackoffLimitExceeded@08"), conds(admitted), "Failed BackoffLimitExceeded 08:00 0/4"},
		{"Job preempted", kinds.BatchJob, "q", `"suspend":true,` + batchSpec, conds("Suspended=True:JobSuspended"), conds("Evicted=True:Preempted@07"), "Preempted Preempted 07:00 0/4"},

		{"RayJob without a status", kinds.RayJob, "", raySpec, "", "", "Starting - 00:00 0/3"},
		{"RayJob initializing", kinds.RayJob, "q", raySpec, `"jobDeploymentStatus":"Initializing"`, conds(admitted), "Starting - 02:00 0/3"},
		{"RayJob submitted", kinds.RayJob, "q", raySpec, `"jobDeploymentStatus":"Running","jobStatus":"PENDING"`, conds(admitted), "Starting - 02:00 0/3"},
		{"RayJob running", kinds.RayJob, "q", raySpec, `"jobDeploymentStatus":"Running","jobStatus":"RUNNING","startTime":"2026-11-20T10:03:00Z","rayClusterStatus":{"state":"ready","desiredWorkerReplicas":2,"readyWorkerReplicas":2}`, conds(admitted), "Running - 03:00 3/3"},
		{"RayJob retrying", kinds.RayJob, "q", raySpec, `"jobDeploymentStatus":"Retrying","jobStatus":"FAILED","reason":"AppFailed","startTime":"2026-11-20T10:03:00Z"`, conds(admitted), "Restarting AppFailed 03:00 0/3"},
		{"RayJob done", kinds.RayJob, "q", raySpec, `"jobDeploymentStatus":"Complete","jobStatus":"SUCCEEDED","endTime":"2026-11-20T10:09:00Z"`, conds(admitted), "Succeeded - 09:00 0/3"},
		{"RayJob complete but failed", kinds.RayJob, "q", raySpec, `"jobDeploymentStatus":"Failed","jobStatus":"FAILED","reason":"AppFailed","endTime":"2026-11-20T10:09:00Z"`, conds(admitted), "Failed AppFailed 09:00 0/3"},
		{"RayJob stopped", kinds.RayJob, "q", raySpec, `"jobDeploymentStatus":"Complete","jobStatus":"STOPPED","endTime":"2026-11-20T10:09:00Z"`, conds(admitted), "Failed Stopped 09:00 0/3"},
		{"RayJob refused", kinds.RayJob, "q", raySpec, `"jobDeploymentStatus":"ValidationFailed","reason":"ValidationFailed"`, "", "Failed ValidationFailed 00:00 0/3"},
		{"RayJob suspended", kinds.RayJob, "", `"suspend":true,` + raySpec, `"jobDeploymentStatus":"Suspended"`, "", "Suspended Suspended 00:00 0/3"},

		{"RayCluster starting", kinds.RayCluster, "q", `"headGroupSpec":{"template":{"spec":{}}}`, conds("RayClusterProvisioned=False:RayClusterPodsProvisioning HeadPodReady=False:ContainersNotReady"), conds(admitted), "Starting - 02:00 0/1"},
		{"RayCluster running", kinds.RayCluster, "q", `"headGroupSpec":{"template":{"spec":{}}}`, `"state":"ready",` + conds("RayClusterProvisioned=True:x@03 HeadPodReady=True:y@03"), conds(admitted), "Running - 03:00 1/1"},
		{"RayCluster of an older operator", kinds.RayCluster, "q", ``, `"state":"ready"`, conds(admitted), "Running - 02:00 1/0"},
		{"RayCluster that lost its head", kinds.RayCluster, "q", ``, `"state":"ready",` + conds("RayClusterProvisioned=True:x@03 HeadPodReady=False:HeadPodNotFound@06"), conds(admitted), "Restarting HeadPodNotFound 06:00 1/0"},
		{"RayCluster that cannot make pods", kinds.RayCluster, "q", ``, conds("ReplicaFailure=True:FailedCreateWorkerPod@04"), conds(admitted), "Starting FailedCreateWorkerPod 02:00 0/0"},
		{"RayCluster failed", kinds.RayCluster, "q", ``, `"state":"failed","reason":"bad spec"`, conds(admitted), "Failed bad spec 00:00 0/0"},

		{"JobSet starting", kinds.JobSet, "q", setSpec, `"replicatedJobsStatus":[{"name":"w","active":2,"ready":0}]`, conds(admitted), "Starting - 02:00 0/6"},
		{"JobSet running", kinds.JobSet, "q", setSpec, `"replicatedJobsStatus":[{"name":"w","active":2,"ready":2}]`, conds(admitted), "Running - 02:00 6/6"},
		{"JobSet restarting", kinds.JobSet, "q", setSpec, `"restarts":1,"replicatedJobsStatus":[{"name":"w","active":2,"ready":0}]`, conds(admitted), "Restarting - 02:00 0/6"},
		{"JobSet completed", kinds.JobSet, "q", setSpec, `"terminalState":"Completed",` + conds("Completed=True:AllJobsCompleted@09"), conds(admitted), "Succeeded AllJobsCompleted 09:00 0/6"},
		{"JobSet failed", kinds.JobSet, "q", setSpec, `"terminalState":"Failed",` + conds("Failed=True:FailedJobs@09"), conds(admitted), "Failed FailedJobs 09:00 0/6"},
		{"Deployment without replicas", kinds.DeploymentKind, "q", `"replicas":0,"template":{}`, "", "", "Stopped ScaledToZero 00:00 0/0"},
		{"JobSet suspended", kinds.JobSet, "", `"suspend":true,` + setSpec, conds("Suspended=True:SuspendedJobs@05"), "", "Suspended Suspended 05:00 0/6"},
	} {
		t.Run(c.name, c.run)
	}
}

// pod is "name phase" with more words: ready, restarts=N, waiting=Reason,
// unschedulable, deleted.
func pod(words string) state.Pod {
	f := strings.Fields(words)
	p := state.Pod{Meta: state.Meta{Name: f[0]}, Phase: f[1]}
	for _, w := range f[2:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "ready":
			p.Ready = true
		case "restarts":
			fmt.Sscan(value, &p.Restarts)
		case "waiting":
			p.Containers = append(p.Containers, state.Container{Name: "c", Waiting: value, Message: "why"})
		case "unschedulable":
			p.Conditions = append(p.Conditions, state.Condition{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: "0/3 nodes"})
		case "deleted":
			p.DeletionTimestamp = &time.Time{}
		}
	}
	return p
}

func TestStatusWithPods(t *testing.T) {
	running := conds("Created=True:C Running=True:R@03")
	created := conds("Created=True:C")
	for _, tt := range []struct {
		name, status string
		pods         []string
		want         string
	}{
		{"none yet", created, []string{}, "Starting NoPods 0/2 failed 0 restarts 0"},
		{"all run", running, []string{"a Running ready", "b Running ready restarts=2"}, "Running R 2/2 failed 0 restarts 2"},
		{"the operator is ahead", running, []string{"a Pending waiting=ContainerCreating", "b Pending"}, "Starting R 0/2 failed 0 restarts 0"},
		{"the operator is behind", created, []string{"a Running ready", "b Running"}, "Running - 1/2 failed 0 restarts 0"},
		{"some run, unknown to the operator", created, []string{"a Running ready", "b Pending"}, "Starting - 1/2 failed 0 restarts 0"},
		{"no image", created, []string{"a Running ready", "b Pending waiting=ImagePullBackOff"}, "Starting ImagePullBackOff 1/2 failed 0 restarts 0"},
		{"no node", created, []string{"a Pending unschedulable"}, "Starting Unschedulable 0/2 failed 0 restarts 0"},
		{"keeps crashing", running, []string{"a Running ready", "b Running waiting=CrashLoopBackOff restarts=5"}, "Restarting CrashLoopBackOff 1/2 failed 0 restarts 5"},
		{"one is done, one is lost", running, []string{"a Succeeded", "b Failed"}, "Running R 0/2 failed 1 restarts 0"},
		{"pods of the last try", created, []string{"a Running deleted", "b Running deleted"}, "Starting - 0/2 failed 0 restarts 0"},
		{"over", conds("Succeeded=True:S@09"), []string{"a Succeeded", "b Pending waiting=ImagePullBackOff"}, "Succeeded S 0/2 failed 0 restarts 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pods := []state.Pod{}
			for _, p := range tt.pods {
				pods = append(pods, pod(p))
			}
			s := StatusOf(job(t, kinds.PyTorchJob, "", workers, tt.status), nil, pods)
			reason := s.Reason
			if reason == "" {
				reason = "-"
			}
			if got := fmt.Sprintf("%s %s %d/%d failed %d restarts %d", s.State, reason, s.Ready, s.Wanted, s.Failed, s.Restarts); got != tt.want {
				t.Errorf("got %s, want %s (%s)", got, tt.want, s.Message)
			}
		})
	}
}

func TestStuck(t *testing.T) {
	for _, tt := range []struct {
		reason, message, claim string
		stuck                  bool
	}{
		{"Unschedulable", `0/4 nodes are available: persistentvolumeclaim "data" not found. not found`, "data", true},
		{"Unschedulable", `persistentvolumeclaim "data" is being deleted`, "data", true},
		{"Unschedulable", "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", "", false},
		{"Unschedulable", "0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims.", "", false},
		{"FailedMount", `persistentvolumeclaim "data" not found`, "", false},
		{"ImagePullBackOff", "", "", true},
		{"CreateContainerConfigError", `secret "x" not found`, "", true},
		{"ErrImagePull", "", "", false},
		{"", "", "", false},
	} {
		trouble := PodTrouble{Reason: tt.reason, Message: tt.message}
		if trouble.Stuck() != tt.stuck || trouble.LostClaim() != tt.claim {
			t.Errorf("%+v: %t, %q", trouble, trouble.Stuck(), trouble.LostClaim())
		}
	}
}

func TestDeleting(t *testing.T) {
	j := job(t, kinds.PyTorchJob, "", workers, conds("Running=True:R@03"))
	j.DeletionTimestamp = &time.Time{}
	if s := StatusOf(j, nil, nil); s.State != Running || s.Reason != "Deleting" {
		t.Errorf("got %+v", s)
	}
}

// Whatever the conditions say, a state is one of the eight and has a time.
func TestStatusIsNeverEmpty(t *testing.T) {
	values := []string{"True", "False", "Unknown", ""}
	types := []string{"Created", "Running", "Suspended", "Succeeded", "Evicted", "Admitted"}
	for _, k := range kinds.Jobs() {
		for _, a := range types {
			for _, v := range values {
				for _, w := range []*state.Workload{nil, workload(t, "", conds(a+"="+v+":x")), workload(t, `"active":false`, "")} {
					for _, spec := range []string{"", `"suspend":true`} {
						s := StatusOf(job(t, k, "q", spec, conds(a+"="+v+":x")), w, nil)
						known := false
						for _, state := range States() {
							known = known || s.State == state
						}
						if !known || s.Since.IsZero() {
							t.Errorf("%s %s=%s: %+v", k.Kind, a, v, s)
						}
					}
				}
			}
		}
	}
	for _, s := range States() {
		if want := s == Succeeded || s == Failed; s.Finished() != want {
			t.Errorf("%s: Finished is %v", s, s.Finished())
		}
	}
}

func TestMatch(t *testing.T) {
	w := func(name, owner, created, status string) state.Workload {
		w := *workload(t, "", status)
		w.Name, w.OwnerUID = name, owner
		w.CreationTimestamp, _ = time.Parse(time.TimeOnly, created)
		return w
	}
	jobs := []state.Job{{Meta: state.Meta{Name: "a", UID: "1"}}, {Meta: state.Meta{Name: "b", UID: "2"}}, {Meta: state.Meta{Name: "c"}}}
	over := conds("Finished=True:OutOfSync")
	variant := func(w state.Workload) state.Workload {
		w.Owners = []state.Owner{{APIVersion: "kueue.x-k8s.io/v1beta2", Kind: "Workload", Name: "gone"}}
		return w
	}
	for name, workloads := range map[string][]state.Workload{
		"the one that lives":     {w("old", "1", "10:00:00", over), w("new", "1", "10:01:00", "")},
		"the newest":             {w("new", "1", "10:01:00", ""), w("old", "1", "10:00:00", "")},
		"not the finished":       {w("new", "1", "10:00:00", ""), w("later", "1", "10:02:00", over)},
		"the variant with quota": {variant(w("new", "1", "10:00:00", conds("QuotaReserved=True:QuotaReserved"))), variant(w("later", "1", "10:01:00", ""))},
		"strangers":              {w("none", "", "10:00:00", ""), w("x", "9", "10:00:00", ""), w("new", "1", "10:00:00", "")},
	} {
		got := Match(jobs, workloads)
		if len(got) != 3 || got[0] == nil || got[0].Name != "new" || got[1] != nil || got[2] != nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// The time of a job's last queueing is known where Kueue's conditions still have it.
func TestRequeued(t *testing.T) {
	for _, c := range []struct {
		name, conditions, want string
		evictions              int
	}{
		{"never evicted", "QuotaReserved=True:Q Admitted=True:A", "false 00:00", 0},
		{"evicted once", "Admitted=True:A@09 Evicted=False:QuotaReserved@09 Requeued=True:Preempted@07", "true 07:00", 1},
		{"evicted twice", "Admitted=True:A@09 Evicted=False:QuotaReserved@09 Requeued=True:Preempted@07", "true 00:00", 2},
		{"reactivated", "Admitted=True:A@09 Evicted=False:QuotaReserved@09 Requeued=True:Reactivated@08", "true 08:00", 2},
		{"its pods were not ready in time, twice", "Admitted=True:A@09 Evicted=False:QuotaReserved@09 Requeued=True:BackoffFinished@08", "true 08:00", 2},
		{"its queue was drained", "Admitted=True:A@09 Evicted=False:QuotaReserved@09 Requeued=False:LocalQueueStopped@06", "true 00:00", 1},
	} {
		w := workload(t, "", conds(c.conditions))
		if c.evictions > 0 {
			w.Evictions = []state.Eviction{{Reason: "Preempted", Count: c.evictions}}
		}
		s := StatusOf(job(t, kinds.PyTorchJob, "q", workers, ""), w, nil)
		if got := fmt.Sprint(s.Evicted, " ", s.Requeued.Format("04:05")); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
