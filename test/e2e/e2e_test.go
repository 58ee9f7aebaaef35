package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

const (
	engineers      = "hyperpod-ns-ml-engineers"
	engineersQueue = "hyperpod-ns-ml-engineers-clusterqueue"
)

// TestEnterprise is what people do with jobs, in the teams of the sandbox
// of that name. A bed takes long to start, so its parts share one, and each leaves
// it without jobs.
func TestEnterprise(t *testing.T) {
	t.Parallel()
	bed := cluster.ForTest(t, cluster.Options{})
	applyScenario(t, bed, "enterprise", false)
	t.Run("first job", func(t *testing.T) { firstJob(t, bed) })
	t.Run("templates", func(t *testing.T) { embeddedTemplates(t, bed) })
	t.Run("logs and exec", func(t *testing.T) { logsAndExec(t, bed) })
	t.Run("port-forward", func(t *testing.T) { forwardPorts(t, bed) })
	t.Run("upload to a claim", func(t *testing.T) { uploadToClaim(t, bed) })
	t.Run("admission webhooks", func(t *testing.T) { admissionWebhooks(t, bed) })
	t.Run("restricted namespace", func(t *testing.T) { restrictedNotebook(t, bed) })
	t.Run("figures of many jobs", func(t *testing.T) { figuresOfMany(t, bed) })
}

// TestQuota is who has what and what may start, on one bed too. The first part counts
// all queues there are.
func TestQuota(t *testing.T) {
	t.Parallel()
	bed := cluster.ForTest(t, cluster.Options{})
	t.Run("quota truth", func(t *testing.T) { quotaTruth(t, bed, "v1beta2", 20, 10) })
	t.Run("lend three", func(t *testing.T) { lendThree(t, bed) })
	t.Run("administration", func(t *testing.T) { administration(t, bed) })
}

// TestTeams is how jobs live in teams. The last part stops the API server.
func TestTeams(t *testing.T) {
	t.Parallel()
	bed := cluster.ForTest(t, cluster.Options{})
	if err := bed.ApplyNodes(t.Context(), cluster.Nodes("ml.g5.12xlarge", 4)); err != nil {
		t.Fatal(err)
	}
	if err := bed.ApplyTeams(t.Context(), cluster.JohnAndSmith()); err != nil {
		t.Fatal(err)
	}
	t.Run("john and smith", func(t *testing.T) { johnAndSmith(t, bed) })
	t.Run("life", func(t *testing.T) { jobLife(t, bed) })
}

// firstJob is the first thing people do, as administrator and as a member of the
// team.
func firstJob(t *testing.T, bed *cluster.Bed) {
	admin := newUser(t, bed.Kubeconfig)

	out := admin.ok("start-job", "--name", "smpv2-llama2", "--namespace", engineers, "--priority", "fine-tuning", "--wait", "--timeout", "60s")
	if !strings.Contains(out, "Successfully created job smpv2-llama2\n") {
		t.Errorf("start-job says %q", out)
	}
	firstList(t, admin)
	t.Run("kubectl sees the same", func(t *testing.T) { witness(t, bed, admin.in(t)) })
	t.Run("usage of the ClusterQueue", func(t *testing.T) { usage(t, bed, engineersQueue, "16", "0") })
	t.Run("twice", func(t *testing.T) { twice(t, admin.in(t)) })
	t.Run("server dry run", func(t *testing.T) {
		admin := admin.in(t)
		out := admin.ok("start-job", "--name", "tried", "--template", "smpv2-llama2", "-n", engineers, "--dry-run=server")
		if !strings.Contains(out, "pytorchjob.kubeflow.org/tried created (server dry run)") {
			t.Errorf("it says %q", out)
		}
	})
	t.Run("MPIJob", func(t *testing.T) {
		admin.in(t).ok("start-job", "--name", "ring", "--template", "mpi", "--image", "example.com/mpi:1", "--instance-type", "ml.p5.48xlarge",
			"--node-count", "1", "--entry-script", "/opt/ring", "-n", "hyperpod-ns-researchers", "--wait", "--timeout", "60s")
	})
	t.Run("member", func(t *testing.T) { member(t, bed) })
	t.Run("cancel", func(t *testing.T) {
		admin := admin.in(t)
		if out := admin.ok("cancel-job", "smpv2-llama2", "-n", engineers); out != "Cancelled job smpv2-llama2\n" {
			t.Errorf("it says %q", out)
		}
		if err := bed.WaitForGone(t.Context(), "/apis/kubeflow.org/v1/namespaces/"+engineers+"/pytorchjobs/smpv2-llama2"); err != nil {
			t.Error(err)
		}
		if r := admin.run("cancel-job", "smpv2-llama2", "-n", engineers); r.code != 5 {
			t.Errorf("cancelling it again: exit code %d: %s", r.code, r.stderr)
		}
	})
	t.Run("team templates", func(t *testing.T) { teamTemplates(t, bed) })
	noJobs(admin, engineers, "hyperpod-ns-researchers")
}

// noJobs cancels what still is in the namespaces, and waits until it is gone.
func noJobs(u user, namespaces ...string) {
	u.t.Helper()
	for _, n := range namespaces {
		u.ok("cancel-job", "--all", "--yes", "--wait", "--timeout", "90s", "-n", n)
	}
}

// firstList checks the JSON of list-jobs to the letter.
func firstList(t *testing.T, admin user) {
	t.Helper()
	out := admin.ok("list-jobs", "--all-namespaces")
	want := regexp.MustCompile(`^\{
 "jobs": \[
  \{
   "Name": "smpv2-llama2",
   "Namespace": "hyperpod-ns-ml-engineers",
   "CreationTime": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
   "State": "Running",
   "Priority": "fine-tuning-priority"
  \}
 \]
\}
$`)
	if !want.MatchString(out) {
		t.Errorf("list-jobs prints\n%s", out)
	}
}

func witness(t *testing.T, bed *cluster.Bed, admin user) {
	theirs, err := bed.Kubectl(t.Context(), "get", "pytorchjob", "smpv2-llama2", "-n", engineers, "-o", "yaml", "--show-managed-fields")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "get-job -o yaml and kubectl get -o yaml", admin.ok("get-job", "smpv2-llama2", "-n", engineers, "-o", "yaml"), theirs)
	for _, path := range []string{"{.metadata.name}", "{.spec.pytorchReplicaSpecs.Worker.replicas}", "{.status.conditions[*].type}"} {
		theirs, err := bed.Kubectl(t.Context(), "get", "pytorchjob", "smpv2-llama2", "-n", engineers, "-o", "jsonpath="+path)
		if err != nil {
			t.Fatal(err)
		}
		if ours := strings.TrimSuffix(admin.ok("get-job", "smpv2-llama2", "-n", engineers, "-o", "jsonpath="+path), "\n"); ours != theirs {
			t.Errorf("jsonpath %s: %q, kubectl says %q", path, ours, theirs)
		}
	}
	pods, err := bed.Kubectl(t.Context(), "get", "pods", "-n", engineers, "-l", "training.kubeflow.org/job-name=smpv2-llama2", "-o", "jsonpath={.items[*].status.phase}")
	if err != nil || pods != "Running Running" {
		t.Errorf("the pods are %q, %v", pods, err)
	}
}

func usage(t *testing.T, bed *cluster.Bed, queue, total, borrowed string) {
	t.Helper()
	err := bed.WaitFor(t.Context(), "the usage of "+queue, func(ctx context.Context) error {
		out, err := bed.Kubectl(ctx, "get", "clusterqueue", queue, "-o",
			`jsonpath={range .status.flavorsUsage[*].resources[?(@.name=="nvidia.com/gpu")]}{.total}/{.borrowed} {end}`)
		if err != nil {
			return err
		}
		if !strings.Contains(" "+out, " "+total+"/"+borrowed+" ") {
			return fmt.Errorf("total/borrowed is %q", out)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func twice(t *testing.T, admin user) {
	args := []string{"start-job", "--name", "smpv2-llama2", "--namespace", engineers}
	r := admin.run(args...)
	if r.code != 1 || !strings.Contains(r.stderr, "already exists") || !strings.Contains(r.stderr, "since:") || !strings.Contains(r.stderr, "by:") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	key := []string{"start-job", "--name", "keyed", "--template", "smpv2-llama2", "--namespace", "hyperpod-ns-researchers", "--idempotency-key", "run-7"}
	first, second := admin.ok(key...), admin.ok(key...)
	if first != second {
		t.Errorf("with an idempotency key: %q, then %q", first, second)
	}
	admin.ok("cancel-job", "keyed", "-n", "hyperpod-ns-researchers")
}

// member does the same with the rights of a team member only.
func member(t *testing.T, bed *cluster.Bed) {
	kubeconfig, err := bed.MemberKubeconfig(t.Context(), "ml-engineers")
	if err != nil {
		t.Fatal(err)
	}
	m := newUser(t, kubeconfig)
	m.ok("start-job", "--name", "mine", "--template", "smpv2-llama2", "--node-count", "1", "--priority", "training", "--wait=admitted", "--timeout", "60s")
	found := false
	for _, j := range m.list().Jobs {
		found = found || j.Name == "mine" && j.Namespace == engineers
	}
	if !found {
		t.Error("list-jobs does not show the member's job")
	}
	if l := m.list("-A"); len(l.Jobs) < 2 {
		t.Errorf("list-jobs -A as a member: %+v", l)
	}
	if r := m.run("list-jobs", "-n", "hyperpod-ns-researchers"); r.code != 4 {
		t.Errorf("another team's jobs: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	m.ok("get-job", "mine")
	m.ok("cancel-job", "mine")
}

// TestV1beta1 is the quota model and jobs of two teams on a Kueue that serves only
// v1beta1.
func TestV1beta1(t *testing.T) {
	t.Parallel()
	bed := cluster.ForTest(t, cluster.Options{Kueue: cluster.KueueV1beta1})
	if err := bed.Get(t.Context(), "/apis/kueue.x-k8s.io/v1beta2", nil); !cluster.NotFound(err) {
		t.Errorf("v1beta2 should not be served, got %v", err)
	}
	// First: it counts all queues there are.
	t.Run("quota truth", func(t *testing.T) { quotaTruth(t, bed, "v1beta1", 8, 4) })
	t.Run("john and smith", func(t *testing.T) { johnAndSmithV1beta1(t, bed) })
}

// johnAndSmithV1beta1 has smith borrow 4 GPUs.
func johnAndSmithV1beta1(t *testing.T, bed *cluster.Bed) {
	if err := bed.ApplyNodes(t.Context(), cluster.Nodes("ml.g5.12xlarge", 4)); err != nil {
		t.Fatal(err)
	}
	if err := bed.ApplyTeams(t.Context(), cluster.JohnAndSmith()); err != nil {
		t.Fatal(err)
	}
	admin := newUser(t, bed.Kubeconfig)
	for _, team := range []string{"john", "smith"} {
		admin.ok("start-job", "--name", team+"-train", "--template", "pytorch", "--image", "example.com/train:1", "--entry-script", "train.py",
			"--instance-type", "ml.g5.12xlarge", "--node-count", "2", "-n", "hyperpod-ns-"+team, "--wait", "--timeout", "60s")
	}
	if l := admin.list("-A"); len(l.Jobs) != 2 || l.Jobs[0].State != "Running" || l.Jobs[1].State != "Running" {
		t.Errorf("list-jobs: %+v", l)
	}
	usage(t, bed, "hyperpod-ns-john-clusterqueue", "8", "0")
	usage(t, bed, "hyperpod-ns-smith-clusterqueue", "8", "4")
}
