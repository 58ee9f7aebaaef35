package getjob

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func ago(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }

func condition(kind, reason, message string, minutes int) state.Condition {
	return state.Condition{Type: kind, Status: "True", Reason: reason, Message: message, LastTransitionTime: ago(minutes)}
}

// resumed is a job of 24 workers that HyperPod restarted after one of its nodes
// failed; some of its GPUs are borrowed.
func resumed() report {
	r := report{console: "https://example.com/console", unseen: []string{`you do not have the permission "list" on events`}}
	for i, health := range []string{6: kinds.NodePendingReplacement, 7: kinds.NodePendingReplacement} {
		n := state.Node{Meta: state.Meta{Name: fmt.Sprint("node-", i), Labels: map[string]string{kinds.NodeHealthLabel: health}}}
		if health != "" {
			n.Labels[kinds.FaultTypesLabel], n.Labels[kinds.FaultReasonsLabel] = "NvidiaErrorTerminate", "XID_79"
			n.Annotations = map[string]string{kinds.FaultDetailsAnnotation: `[{"timestamp":"2026-11-20T11:5` + fmt.Sprint(i-5) + `:00Z","type":"NvidiaErrorTerminate","reason":"XID_79","message":"GPU has fallen off the bus"}]`}
		}
		r.nodes = append(r.nodes, n)
	}
	r.job = state.Job{Kind: kinds.PyTorchJob, Meta: state.Meta{Name: "llama", Namespace: "team", UID: "J", CreationTimestamp: ago(100),
		Labels: map[string]string{kinds.QueueLabel: "lq", kinds.PriorityLabel: "high", kinds.CreatedByLabel: "ada"},
		Annotations: map[string]string{kinds.AutoResumeAnnotation: "true", kinds.MaxRetryAnnotation: "3", kinds.TemplateAnnotation: "pytorch",
			kinds.CommandAnnotation: "hyperpod start-job --name llama \x1b[31m"}},
		Conditions: []state.Condition{condition("Restarting", "PyTorchJobRestarting", "a pod failed", 5)},
		Roles:      []state.RoleCount{{Name: "Worker", Replicas: 24, Requests: map[string]int64{"nvidia.com/gpu": 1}}}, PodSelector: "x=y"}
	w := state.Workload{Meta: state.Meta{Name: "w", Namespace: "team", UID: "W", CreationTimestamp: ago(99)}, Active: true, QueueName: "lq", Priority: 80, OwnerUID: "J",
		Conditions: []state.Condition{condition("QuotaReserved", "Q", "", 90), condition("Admitted", "A", "", 90)}, Evictions: []state.Eviction{{Reason: "Preempted", Count: 2}},
		Admission: &state.Admission{ClusterQueue: "cq", PodSets: []state.PodSetAssignment{{Flavors: map[string]string{"nvidia.com/gpu": "p5", "cpu": "p5"}, Usage: map[string]string{"nvidia.com/gpu": "24", "cpu": "48"}}}}}
	r.workload, r.workloads = &w, []state.Workload{w}
	r.queue = &state.ClusterQueue{ResourceGroups: []state.ResourceGroup{{Flavors: []state.FlavorQuotas{{Name: "p5", Resources: []state.ResourceQuota{{Name: "nvidia.com/gpu", Nominal: resource.MustParse("16")}}}}}}}
	for i := range 24 {
		p := state.Pod{Meta: state.Meta{Name: fmt.Sprintf("llama-worker-%d", i), UID: fmt.Sprint("P", i), CreationTimestamp: ago(89),
			Labels: map[string]string{"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": fmt.Sprint(i)}},
			Phase: "Running", Ready: true, NodeName: fmt.Sprint("node-", i)}
		if i == 7 {
			p.Phase, p.Ready = "Failed", false
			p.Containers = []state.Container{{Name: "pytorch", Terminated: "Error", ExitCode: 1}}
		}
		if i == 23 {
			p.Restarts = 1
		}
		r.pods = append(r.pods, p)
	}
	r.events = []state.Event{{Meta: state.Meta{UID: "E"}, Kind: "PyTorchJob", Object: "llama", ObjectUID: "J", Type: "Warning", Reason: "PyTorchJobRestarting", Message: "restarts", First: ago(40), Last: ago(5), Count: 2}}
	return r
}

func TestPage(t *testing.T) {
	streams, _ := output.Test()
	page := resumed().page(streams, now)
	for _, want := range []string{
		`^llama has been restarting for 5m: a pod failed; 1 of its 23 nodes is pending replacement\n\n`,
		`\n  kind      PyTorchJob in team\n`,
		`\n  queue     lq -> cq, flavor p5\n`,
		`\n  priority  high \(80\)\n`,
		`\n  devices   24 nvidia.com/gpu, 8 borrowed \(estimate: Kueue counts borrowing per queue\)\n`,
		`\n  evicted   2 x Preempted\n`,
		`\n  retries   2 of 3 recorded; auto-resume is on\n`,
		`\n  node      node-6 is pending replacement \(NvidiaErrorTerminate, XID 79\)\n`,
		`\n  fault     8m ago on node-7: NvidiaErrorTerminate, XID 79: GPU has fallen off the bus\n`,
		`\nllama-worker-6 +Worker +6  Running +node-6 .*node is pending replacement \(NvidiaErrorTerminate, XID 79\)\n`,
		`\n  created   2026-11-20T10:20:00Z by ada, template pytorch\n`,
		`\n  command   hyperpod start-job --name llama`,
		`\n  console   https://example.com/console\n`,
		`\n  pods      23 of 24 ready, 1 failed, restarts: 1\n`,
		`\nWorker      24     23       1  1 nvidia.com/gpu\n`,
		// Those in trouble come first where not all are shown.
		`\nllama-worker-7 +Worker +7  Error +node-7 .*container pytorch, exit code 1\nllama-worker-23 `,
		`\n4 pods are hidden: use hyperpod list-pods llama -n team\n`,
		`\n  10:20:00  created by ada, queue lq, high\n  10:21:00  queued in lq\n  10:30:00  admitted by ClusterQueue cq\n`,
		`\n  11:20:00  restarts\n  11:55:00  a pod failed \(2 times\)\n`,
		`\nPyTorchJobRestarting +5m  pytorchjob/llama  restarts \(x2\)\n`,
		`\n\nhidden: you do not have the permission "list" on events\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(page) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
	if strings.Contains(page, "\n\n\n") {
		t.Errorf("two empty lines in\n%s", page)
	}
}

// On a terminal nothing that came from the cluster acts on it, and lines end at
// its edge.
func TestPageOnTerminal(t *testing.T) {
	streams, _ := output.Test()
	streams.OutTTY, streams.Width = true, 80
	page := resumed().page(streams, now)
	if strings.Contains(page, "\x1b") || !strings.Contains(page, `\x1b[31m`) {
		t.Errorf("an escape sequence comes through:\n%q", page)
	}
	for _, line := range strings.Split(page, "\n") {
		if n := len([]rune(line)); n > 80 && !strings.Contains(line, " is pending replacement (") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// A page of next to nothing is a page too.
func TestBarePage(t *testing.T) {
	streams, _ := output.Test()
	got := report{job: state.Job{Kind: kinds.BatchJob, Meta: state.Meta{Name: "x", Namespace: "n", CreationTimestamp: ago(1)}}}.page(streams, now)
	want := `x has been starting for 1m: its pods are starting

  kind      Job in n
  queue     none: the job is not queued and uses no quota
  priority  none: the job ranks lowest
  devices   none
  created   2026-11-20T11:59:00Z

  11:59:00  created
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if got := stamp(now.AddDate(0, 0, -1), now); got != "2026-11-19 12:00:00" {
		t.Errorf("got %s", got)
	}
}
