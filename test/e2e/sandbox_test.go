package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// served is a sandbox behind `sandbox serve`, with an unmodified kubectl.
type served struct {
	user
	kubectlPath string
}

// serve starts `hyperpod sandbox serve` and stops it with the test.
func serve(t *testing.T) served {
	t.Helper()
	binaries, err := cluster.Build(t.Context(), t.Output(), cluster.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	u := newUser(t, "")
	kubeconfig := filepath.Join(u.home, "kubeconfig")
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, "sandbox", "serve", "--write-kubeconfig", kubeconfig)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.Env = []string{"HOME=" + u.home}
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "export KUBECONFIG=") {
			u.kubeconfig = kubeconfig
			return served{u, binaries.Kubectl}
		}
	}
	t.Fatal("sandbox serve ended")
	return served{}
}

func (s served) kubectl(args ...string) (string, error) {
	return s.kubectlIn("", args...)
}

func (s served) kubectlIn(stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), s.kubectlPath, args...)
	cmd.Env = []string{"HOME=" + s.home, "KUBECONFIG=" + s.kubeconfig}
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const manifest = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: by-kubectl
  namespace: hyperpod-ns-researchers
  labels: {kueue.x-k8s.io/queue-name: hyperpod-ns-researchers-localqueue}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: REPLICAS
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: pytorch
            image: example.com/i:1
            resources: {limits: {nvidia.com/gpu: 1}}
`

// TestKubectlOnSandbox: an unmodified kubectl does to a served sandbox what it
// does to a cluster, and sees what our commands show.
func TestKubectlOnSandbox(t *testing.T) {
	s := serve(t)
	s.ok("start-job", "--name", "smpv2-llama2", "--namespace", engineers)
	for _, c := range []struct {
		name, stdin, args string
		want              []string
	}{
		{"get", "", "get pytorchjobs -A", []string{"NAMESPACE", "smpv2-llama2", "vit-huge"}},
		{"get by label", "", "get pytorchjobs -n " + engineers + " -l app=smpv2-llama2 -o name", []string{"pytorchjob.kubeflow.org/smpv2-llama2"}},
		{"get yaml", "", "get pytorchjob smpv2-llama2 -n " + engineers + " -o yaml", []string{"kind: PyTorchJob", "type: Running"}},
		{"get queues", "", "get cq,lq,rf,wpc -A", []string{engineersQueue, "ml.p5.48xlarge", "fine-tuning-priority"}},
		{"get workloads", "", "get workloads -A", []string{"pytorchjob-smpv2-llama2"}},
		{"get nodes", "", "get nodes --show-labels", []string{"sagemaker.amazonaws.com/node-health-status=Schedulable"}},
		{"get pods", "", "get pods -n " + engineers + " --field-selector status.phase=Running", []string{"smpv2-llama2-worker-0", "smpv2-llama2-worker-1"}},
		{"get all kinds", "", "get jobs,rayclusters,jobsets,mpijobs,tfjobs,xgboostjobs,rayjobs,hyperpodpytorchjobs -A", []string{"embed-refresh", "chat-serving", "etl-features"}},
		{"describe", "", "describe pytorchjob smpv2-llama2 -n " + engineers, []string{"Name:", "smpv2-llama2", "Events:"}},
		{"describe pod", "", "describe pod smpv2-llama2-worker-0 -n " + engineers, []string{"Status:", "Running", "nvidia.com/gpu"}},
		{"describe node", "", "describe nodes", []string{"Allocatable:", "nvidia.com/gpu"}},
		{"describe clusterqueue", "", "describe clusterqueue " + engineersQueue, []string{"Nominal Quota", "Borrowing Limit"}},
		{"logs", "", "logs vit-huge-worker-0 -n hyperpod-ns-researchers --tail 2 --timestamps", []string{"Z sandbox: step "}},
		{"logs of a container that is not there", "", "logs vit-huge-worker-0 -n hyperpod-ns-researchers -c none", []string{"container none is not valid for pod vit-huge-worker-0"}},
		{"logs up to a limit", "", "logs vit-huge-worker-0 -n hyperpod-ns-researchers --limit-bytes 9", []string{"sandbox: "}},
		{"previous logs", "", "logs vit-huge-worker-0 -n hyperpod-ns-researchers --previous", []string{"previous terminated container", "not found"}},
		{"exec", "", "exec vit-huge-worker-0 -n hyperpod-ns-researchers -- hostname", []string{"vit-huge-worker-0"}},
		{"exec with stdin", "from kubectl", "exec -i vit-huge-worker-0 -n hyperpod-ns-researchers -- cat", []string{"from kubectl"}},
		{"exec exit code", "", "exec vit-huge-worker-0 -n hyperpod-ns-researchers -- false", []string{"exit code 1"}},
		{"create", strings.ReplaceAll(manifest, "REPLICAS", "1"), "create -f -", []string{"pytorchjob.kubeflow.org/by-kubectl created"}},
		{"create again", strings.ReplaceAll(manifest, "REPLICAS", "1"), "create -f -", []string{"AlreadyExists"}},
		{"label", "", "label pytorchjob by-kubectl -n hyperpod-ns-researchers team=blue", []string{"labeled"}},
		{"annotate", "", "annotate pytorchjob by-kubectl -n hyperpod-ns-researchers note=x", []string{"annotated"}},
		{"patch", "", `patch pytorchjob by-kubectl -n hyperpod-ns-researchers --type merge -p {"metadata":{"labels":{"team":"red"}}}`, []string{"patched"}},
		{"wait", "", "wait pytorchjob/by-kubectl -n hyperpod-ns-researchers --for=condition=Running --timeout=20s", []string{"condition met"}},
		{"delete", "", "delete pytorchjob by-kubectl -n hyperpod-ns-researchers", []string{"deleted"}},
		{"apply", strings.ReplaceAll(manifest, "REPLICAS", "1"), "apply -f -", []string{"created"}},
		{"apply unchanged", strings.ReplaceAll(manifest, "REPLICAS", "1"), "apply -f -", []string{"unchanged"}},
		{"apply changed", strings.ReplaceAll(manifest, "REPLICAS", "1") + "  runPolicy: {ttlSecondsAfterFinished: 60}\n", "apply -f -", []string{"configured"}},
		{"server-side apply", strings.ReplaceAll(manifest, "by-kubectl", "ssa"), "apply --server-side -f -", []string{"serverside-applied"}},
		{"not found", "", "get pytorchjob none -n " + engineers, []string{"NotFound"}},
		{"can-i", "", "auth can-i create pytorchjobs -n " + engineers, []string{"yes"}},
		{"api-resources", "", "api-resources", []string{"pytorchjobs", "mpijobs", "workloads", "clusterqueues"}},
		{"version", "", "version", []string{"Server Version"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdin := strings.ReplaceAll(c.stdin, "REPLICAS", "1")
			out, _ := s.kubectlIn(stdin, strings.Fields(c.args)...)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("kubectl %s does not say %q:\n%s", c.args, want, out)
				}
			}
		})
	}
	t.Run("same object", func(t *testing.T) {
		theirs, err := s.kubectl("get", "pytorchjob", "smpv2-llama2", "-n", engineers, "-o", "yaml", "--show-managed-fields")
		if err != nil {
			t.Fatal(theirs)
		}
		same(t, "get-job -o yaml and kubectl get -o yaml", s.ok("get-job", "smpv2-llama2", "-n", engineers, "-o", "yaml"), theirs)
	})
	t.Run("watch", func(t *testing.T) { s.watch(t) })
	t.Run("list-jobs sees kubectl's job", func(t *testing.T) {
		var l listed
		if err := json.Unmarshal([]byte(s.ok("list-jobs", "-n", "hyperpod-ns-researchers", "--sandbox")), &l); err != nil {
			t.Fatal(err)
		}
		for _, j := range l.Jobs {
			if j.Name == "by-kubectl" && j.State == "Running" {
				return
			}
		}
		t.Errorf("list-jobs: %+v", l)
	})
}

// watch follows jobs with kubectl while another process, a command of ours,
// makes one.
func (s served) watch(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.kubectlPath, "get", "pytorchjobs", "-n", "hyperpod-ns-interns", "--watch", "-o", "name")
	cmd.Env = []string{"HOME=" + s.home, "KUBECONFIG=" + s.kubeconfig}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	started := false
	for lines.Scan() {
		if !started {
			started = true
			s.ok("start-job", "--name", "watched", "--template", "smpv2-llama2", "--node-count", "1", "-n", "hyperpod-ns-interns", "--sandbox")
		}
		if strings.HasSuffix(lines.Text(), "/watched") {
			return
		}
	}
	t.Error("kubectl's watch ended without the new job")
}
