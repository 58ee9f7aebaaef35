package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestCurrent is the whole bed with the current Kueue: quota, borrowing, both operators, fake
// completion, a member's rights, logs. An API server that goes away, and the Kueue that serves only
// v1beta1, are with what the product does there: test/e2e.
func TestCurrent(t *testing.T) {
	bed := ForTest(t, Options{})
	john, smith := createTeams(t, bed)
	runBothTeams(t, bed, john, smith)

	t.Run("MPIJob", func(t *testing.T) { mpiJob(t, bed, john, smith) })
	t.Run("member", func(t *testing.T) { memberRights(t, bed, john, smith) })
	t.Run("failure", func(t *testing.T) { podFailure(t, bed) })
	t.Run("other kinds", func(t *testing.T) { servedKinds(t, bed) })
	t.Run("logs and exec", func(t *testing.T) { logsAndExec(t, bed, john) })
}

// TestStartFails expects the reason, from the log of the process that failed, and nothing left running.
func TestStartFails(t *testing.T) {
	require(t, Options{})
	_, err := Start(t.Context(), Options{APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver is down") || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("got %v", err)
	}
}

func createTeams(t *testing.T, bed *Bed) (john, smith Team) {
	t.Helper()
	must(t, bed.ApplyNodes(t.Context(), Nodes("ml.g5.12xlarge", 4)))
	teams := JohnAndSmith()
	must(t, bed.ApplyTeams(t.Context(), teams))
	return teams[0], teams[1]
}

// runBothTeams runs 8 GPUs in each team, for which smith has to borrow 4.
func runBothTeams(t *testing.T, bed *Bed, john, smith Team) {
	t.Helper()
	for _, team := range []Team{john, smith} {
		must(t, bed.Apply(t.Context(), pyTorchJob(team, team.Name+"-train", "")))
		pods(t, bed, team, team.Name+"-train", "Running", 2)
	}
	must(t, used(t.Context(), bed, john, "8", "0"))
	must(t, used(t.Context(), bed, smith, "8", "4"))
}

func mpiJob(t *testing.T, bed *Bed, john, smith Team) {
	// john takes back 4 of his 12 GPUs, so smith's job has to go and comes back afterwards.
	must(t, bed.Apply(t.Context(), mpiJobManifest(john, "john-mpi")))
	path := "/apis/kubeflow.org/v2beta1/namespaces/" + john.Namespace() + "/mpijobs/john-mpi"
	must(t, bed.WaitForCondition(t.Context(), path, "Running", "True"))
	must(t, used(t.Context(), bed, john, "12", "0"))
	pods(t, bed, smith, "smith-train", "Running", 0)
	must(t, bed.WaitForCondition(t.Context(), path, "Succeeded", "True"))
	pods(t, bed, smith, "smith-train", "Running", 2)
}

func memberRights(t *testing.T, bed *Bed, john, smith Team) {
	kubeconfig, err := bed.MemberKubeconfig(t.Context(), john.Name)
	must(t, err)
	for _, c := range []struct {
		want string
		args string
	}{
		{"yes", "create pytorchjobs.kubeflow.org"},
		{"yes", "get clusterqueues.kueue.x-k8s.io/" + john.ClusterQueue()},
		{"yes", "list namespaces"},
		{"no", "patch pytorchjobs.kubeflow.org"},
		{"no", "create pods --subresource=exec"},
		{"yes", "get pods --subresource=log"},
		{"no", "list mpijobs.kubeflow.org"},
		{"no", "list localqueues.kueue.x-k8s.io"},
		{"no", "list events"},
		{"no", "list clusterqueues.kueue.x-k8s.io"},
		{"no", "get clusterqueues.kueue.x-k8s.io/" + smith.ClusterQueue()},
		{"no", "list pytorchjobs.kubeflow.org -A"},
		{"no", "list pytorchjobs.kubeflow.org -n " + smith.Namespace()},
	} {
		// can-i exits 1 for no, so its word counts.
		out, _ := bed.KubectlAs(t.Context(), kubeconfig, nil, append([]string{"auth", "can-i"}, strings.Fields(c.args)...)...)
		if got := strings.TrimSpace(out); got != c.want {
			t.Errorf("can a member of john %s: %q, want %q", c.args, got, c.want)
		}
	}
	// The namespace comes from the context.
	if out, err := bed.KubectlAs(t.Context(), kubeconfig, nil, "get", "pytorchjobs", "-o", "name"); err != nil || !strings.Contains(out, "john-train") {
		t.Errorf("get pytorchjobs as a member: %q, %v", out, err)
	}
}

func podFailure(t *testing.T, bed *Bed) {
	manifest := `{apiVersion: batch/v1, kind: Job, metadata: {name: fails, namespace: default}, spec: {backoffLimit: 0, template: {
		metadata: {annotations: {testbed/fail-after: 1s, testbed/exit-code: "17"}},
		spec: {restartPolicy: Never, containers: [{name: main, image: none}]}}}}`
	must(t, bed.Apply(t.Context(), []byte(manifest)))
	must(t, bed.WaitForCondition(t.Context(), "/apis/batch/v1/namespaces/default/jobs/fails", "Failed", "True"))
	out, err := bed.Kubectl(t.Context(), "get", "pods", "-l", "job-name=fails", "-o", "jsonpath={.items[*].status.containerStatuses[0].state.terminated.exitCode}")
	if err != nil || out != "17" {
		t.Errorf("exit code %q, %v; want 17", out, err)
	}
}

func servedKinds(t *testing.T, bed *Bed) {
	for _, kind := range []string{
		"hyperpodpytorchjobs.sagemaker.amazonaws.com", "rayjobs.ray.io", "rayclusters.ray.io", "jobsets.jobset.x-k8s.io", "trainjobs.trainer.kubeflow.org", "appwrappers.workload.codeflare.dev", "tfjobs.kubeflow.org",
		"workloads.v1beta1.kueue.x-k8s.io", "workloads.v1beta2.kueue.x-k8s.io",
	} {
		if _, err := bed.Kubectl(t.Context(), "get", kind, "-A"); err != nil {
			t.Error(err)
		}
	}
}

func logsAndExec(t *testing.T, bed *Bed, john Team) {
	pod := "john-train-worker-0"
	out, err := bed.Kubectl(t.Context(), "logs", "-n", john.Namespace(), pod)
	if err != nil || !strings.Contains(out, "a line of a fake pod") {
		t.Errorf("logs: %q, %v", out, err)
	}
	out, err = bed.Kubectl(t.Context(), "exec", "-n", john.Namespace(), pod, "--", "id", "-un")
	if err != nil || strings.TrimSpace(out) != "nobody" {
		t.Errorf("exec: %q, %v; want it to run as nobody", out, err)
	}
}

// used says whether the team's ClusterQueue reports so many GPUs used and borrowed. Kueue writes that about a second late.
func used(ctx context.Context, bed *Bed, team Team, total, borrowed string) error {
	return bed.WaitFor(ctx, team.Name+" to use "+total+" GPUs", func(ctx context.Context) error {
		var queue struct {
			Status struct {
				FlavorsUsage []struct {
					Resources []struct{ Name, Total, Borrowed string }
				}
			}
		}
		if err := bed.Get(ctx, "/apis/"+bed.kueueAPIVersion()+"/clusterqueues/"+team.ClusterQueue(), &queue); err != nil {
			return err
		}
		for _, flavor := range queue.Status.FlavorsUsage {
			for _, r := range flavor.Resources {
				if r.Name == gpuResource && r.Total == total && r.Borrowed == borrowed {
					return nil
				}
			}
		}
		return fmt.Errorf("usage is %+v", queue.Status.FlavorsUsage)
	})
}

func pods(t *testing.T, bed *Bed, team Team, job, phase string, n int) {
	t.Helper()
	must(t, bed.WaitForPods(t.Context(), team.Namespace(), "training.kubeflow.org/job-name="+job, phase, n))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pyTorchJob(team Team, name, completeAfter string) []byte {
	template := fmt.Sprintf(`{metadata: {annotations: {%s}}, spec: {containers: [{name: pytorch, image: none,
      resources: {limits: {cpu: 40, memory: 100Gi, nvidia.com/gpu: 4}}}]}}`, annotation(completeAfter))
	return fmt.Appendf(nil, `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: %s
  namespace: %s
  labels: {kueue.x-k8s.io/queue-name: %s, kueue.x-k8s.io/priority-class: training-priority}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template: %s
`, name, team.Namespace(), team.LocalQueue(), template)
}

func mpiJobManifest(team Team, name string) []byte {
	return fmt.Appendf(nil, `apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: %s
  namespace: %s
  labels: {kueue.x-k8s.io/queue-name: %s}
spec:
  runPolicy: {cleanPodPolicy: Running}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        metadata: {annotations: {%s}}
        spec: {containers: [{name: mpi, image: none, resources: {limits: {cpu: 1, memory: 1Gi}}}]}
    Worker:
      replicas: 1
      template:
        spec: {containers: [{name: mpi, image: none, resources: {limits: {cpu: 10, memory: 10Gi, nvidia.com/gpu: 4}}}]}
`, name, team.Namespace(), team.LocalQueue(), annotation("3s"))
}

func annotation(completeAfter string) string {
	if completeAfter == "" {
		return ""
	}
	return "testbed/complete-after: " + completeAfter
}
