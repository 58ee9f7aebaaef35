package lint_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/present/linttext"
)

// option is an option with its value, or several, and a remark.
var option = regexp.MustCompile(`^(--[a-z-]+( [^ |-][^ |]*)?)( --[a-z-]+( [^ |-][^ |]*)?)*(   # .+)?$`)

var update = flag.Bool("update", false, "rewrite docs/lint.md")

// job is a PyTorchJob; meta goes into its metadata, tmpl into the pod template,
// spec into the pod spec, resources into the container.
func job(t *testing.T, kind, meta, tmpl, spec, resources string) map[string]any {
	t.Helper()
	text := fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"j"%s},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":4,"template":{"metadata":{%s},"spec":{%s"containers":[{"name":"c","resources":{%s}}]}}}}}}`, meta, tmpl, spec, resources)
	if kind == "RayCluster" {
		text = fmt.Sprintf(`{"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":"j"%s},"spec":{"headGroupSpec":{"template":{"metadata":{%s},"spec":{%s"containers":[{"name":"c","resources":{%s}}]}}}}}`, meta, tmpl, spec, resources)
	}
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err, text)
	}
	return out
}

func TestRules(t *testing.T) {
	const queue = `,"labels":{"kueue.x-k8s.io/queue-name":"q"}`
	const both = `,"labels":{"kueue.x-k8s.io/queue-name":"q","kueue.x-k8s.io/priority-class":"low-priority"}`
	const gpus = `"requests":{"nvidia.com/gpu":"8"},"limits":{"nvidia.com/gpu":"8"}`
	const p5 = `"nodeSelector":{"node.kubernetes.io/instance-type":"ml.p5.48xlarge"},`
	resume := func(annotations string) string {
		return strings.TrimSuffix(both, "}") + `},"annotations":{` + annotations + `}`
	}
	known := func(j *lint.Job) {
		j.Queues, j.PriorityClasses, j.Covered = []string{"q", "queue-b"}, []string{"high-priority", "low-priority"}, []string{"cpu", "memory", "nvidia.com/gpu", "vpc.amazonaws.com/efa"}
	}
	zero := 0.0
	for _, c := range []struct {
		name                        string
		kind, meta, tmpl, spec, res string
		change                      func(*lint.Job)
		want                        string // codes
		fix                         string // of the first: its Try, else its Advice
	}{
		{name: "in order", meta: both, res: gpus},
		{name: "no priority", meta: queue, res: gpus, want: "W006", fix: "--priority PRIORITY   # high, low"},
		{name: "no priority, classes unknown", meta: queue, res: gpus, change: func(j *lint.Job) { j.PriorityClasses = nil }, want: "W006", fix: "--priority PRIORITY"},
		{name: "no priority where there are none", meta: queue, res: gpus, change: func(j *lint.Job) { j.PriorityClasses = []string{} }},
		{name: "unknown priority", meta: strings.Replace(both, "low-priority", "lwo-priority", 1), res: gpus, want: "E007", fix: "--priority low-priority"},
		{name: "priority of pods", meta: queue, spec: `"priorityClassName":"pc",`, res: gpus},
		{name: "priority of pods and of the job", meta: both, spec: `"priorityClassName":"pc",`, res: gpus, want: "W008"},
		{name: "weight 0", meta: both, res: gpus, change: func(j *lint.Job) { j.FairSharing, j.Borrows, j.Weight = true, true, &zero }, want: "W010", fix: "ask an administrator for a fair-share weight greater than 0"},
		{name: "unknown queue", meta: strings.Replace(both, `"q"`, `"queue-bb"`, 1), res: gpus, want: "E011", fix: "--queue-name queue-b"},
		{name: "no queue, not governed", res: gpus},
		{name: "no queue, governed", res: gpus, change: func(j *lint.Job) { j.Governed = true }, want: "E012", fix: "--queue-name QUEUE"},
		{name: "pods without the label", kind: "RayCluster", meta: both, res: gpus, change: func(j *lint.Job) { j.Governed = true }, want: "W012", fix: "put the queue label on every pod template"},
		{name: "pods with the label", kind: "RayCluster", meta: both, tmpl: `"labels":{"kueue.x-k8s.io/queue-name":"q"}`, res: gpus, change: func(j *lint.Job) { j.Governed = true }},
		{name: "dashboard", meta: queue, res: gpus, change: func(j *lint.Job) { j.Managed = true }, want: "W006 W013"},
		{name: "topology twice", meta: both, tmpl: `"annotations":{"kueue.x-k8s.io/podset-required-topology":"topology.k8s.aws/network-node-layer-3"}`, spec: `"nodeSelector":{"topology.k8s.aws/network-node-layer-3":"x"},`, res: gpus, want: "E020"},
		{name: "topology of a type without", meta: both, tmpl: `"annotations":{"kueue.x-k8s.io/podset-preferred-topology":"topology.k8s.aws/network-node-layer-3"}`, spec: `"nodeSelector":{"node.kubernetes.io/instance-type":"ml.g5.12xlarge"},`, res: `"limits":{"nvidia.com/gpu":"4"}`, want: "W020"},
		{name: "slices", meta: both, tmpl: `"annotations":{"kueue.x-k8s.io/podset-slice-required-topology":"r","kueue.x-k8s.io/podset-slice-size":"2"}`, res: gpus},
		{name: "slices that do not divide", meta: both, tmpl: `"annotations":{"kueue.x-k8s.io/podset-slice-required-topology":"r","kueue.x-k8s.io/podset-slice-size":"3"}`, res: gpus, want: "E021"},
		{name: "slices of no number", meta: both, tmpl: `"annotations":{"kueue.x-k8s.io/podset-slice-size":"two"}`, res: gpus, want: "E021"},
		{name: "slices of nothing", meta: both, tmpl: `"annotations":{"kueue.x-k8s.io/podset-slice-size":"2"}`, res: gpus, want: "E021"},
		{name: "auto-resume", meta: resume(`"sagemaker.amazonaws.com/enable-job-auto-resume":"true","sagemaker.amazonaws.com/job-max-retry-count":"3"`), spec: `"restartPolicy":"OnFailure",`, res: gpus},
		{name: "auto-resume without a count", meta: resume(`"sagemaker.amazonaws.com/enable-job-auto-resume":"true"`), spec: `"restartPolicy":"OnFailure",`, res: gpus, want: "E023"},
		{name: "auto-resume and Never", meta: resume(`"sagemaker.amazonaws.com/enable-job-auto-resume":"true","sagemaker.amazonaws.com/job-max-retry-count":"3"`), spec: `"restartPolicy":"Never",`, res: gpus, want: "E023"},
		{name: "auto-resume elsewhere", meta: resume(`"sagemaker.amazonaws.com/enable-job-auto-resume":"true","sagemaker.amazonaws.com/job-max-retry-count":"3"`), spec: `"restartPolicy":"OnFailure",`, res: gpus, change: func(j *lint.Job) { j.Namespace = "default" }, want: "W023"},
		{name: "MIG of another type", meta: both, spec: p5, res: `"limits":{"nvidia.com/mig-1g.5gb":"1"}`, change: func(j *lint.Job) { j.Covered = nil }, want: "E025"},
		{name: "MIG and whole GPUs", meta: both, spec: p5, res: `"limits":{"nvidia.com/mig-1g.10gb":"1","nvidia.com/gpu":"1"}`, change: func(j *lint.Job) { j.Covered = nil }, want: "E025"},
		{name: "request without limit", meta: both, res: `"requests":{"nvidia.com/gpu":"8"}`, want: "E025", fix: "set the limit to the request"},
		{name: "request below limit", meta: both, res: `"requests":{"vpc.amazonaws.com/efa":"1"},"limits":{"vpc.amazonaws.com/efa":"2"}`, want: "E025"},
		{name: "limit alone", meta: both, res: `"limits":{"nvidia.com/gpu":"8"}`},
		{name: "more GPUs than the type has", meta: both, spec: p5, res: `"limits":{"nvidia.com/gpu":"16"}`, want: "E026"},
		{name: "more EFA than the type has", meta: both, spec: p5, res: `"limits":{"vpc.amazonaws.com/efa":"33"}`, want: "E026"},
		{name: "more cores than the type has", meta: both, spec: p5, res: `"requests":{"cpu":"200"}`, want: "E026"},
		{name: "all cores", meta: both, spec: p5, res: `"requests":{"cpu":"190"}`, want: "W026", fix: "--vcpu 179"},
		{name: "all memory", meta: both, spec: p5, res: `"requests":{"memory":"2000Gi"}`, want: "W026", fix: "--memory 1890Gi"},
		{name: "not covered", meta: both, res: `"limits":{"aws.amazon.com/neuron":"1"}`, want: "E027", fix: "remove the request, or ask an administrator for quota"},
		{name: "nothing asked for", meta: both, want: "W041", fix: "--accelerators N"},
		{name: "devices of claims", meta: both, spec: `"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"two"}],`},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := lint.Job{Object: job(t, c.kind, c.meta, c.tmpl, c.spec, c.res), Namespace: "hyperpod-ns-x"}
			known(&j)
			if c.change != nil {
				c.change(&j)
			}
			var codes []string
			found := lint.Check(j)
			linttext.Fill(found, nil, errs.Suggestion.String)
			for _, f := range found {
				codes = append(codes, f.Code)
				if f.Message == "" || f.Source == "" || f.Level == "" || f.Try != "" && f.Advice != "" {
					t.Errorf("%+v", f)
				}
				if f.Try != "" && !option.MatchString(f.Try) {
					t.Errorf("%s: no option of start-job: %q", f.Code, f.Try)
				}
			}
			if got := strings.Join(codes, " "); got != c.want {
				t.Errorf("got %s, want %s: %+v", got, c.want, found)
			}
			if c.fix != "" && (len(found) == 0 || found[0].Try+found[0].Advice != c.fix) {
				t.Errorf("fix %+v", found)
			}
		})
	}
}

// TestOldGovernance: an old Kueue does not manage HyperPod's own jobs; others, and one
// whose version is not known, are believed to be managed.
func TestOldGovernance(t *testing.T) {
	own := map[string]any{"apiVersion": "sagemaker.amazonaws.com/v1", "kind": "HyperPodPyTorchJob", "metadata": map[string]any{"name": "j"}}
	for version, want := range map[string]bool{"v0.11.3": true, "v0.8.1": true, "v0.12.0": false, "v0.19.2": false, "v1.0.0": false, "": false} {
		has := func(o map[string]any) bool {
			return slices.ContainsFunc(lint.Check(lint.Job{Object: o, Kueue: version}), func(f lint.Finding) bool { return f.Code == lint.OldGovernance })
		}
		if has(own) != want || has(job(t, "", "", "", "", "")) {
			t.Errorf("%q", version)
		}
	}
}

func TestNoPods(t *testing.T) {
	o := job(t, "", "", "", "", "")
	o["spec"].(map[string]any)["pytorchReplicaSpecs"].(map[string]any)["Worker"].(map[string]any)["replicas"] = float64(0)
	if f := lint.Check(lint.Job{Object: o}); len(f) != 1 || f[0].Code != "W042" {
		t.Errorf("%+v", f)
	}
	if f := lint.Check(lint.Job{Object: map[string]any{}}); len(f) != 0 {
		t.Errorf("no object: %+v", f)
	}
}

// TestTable: the codes are well formed and stand once, and docs/lint.md is the table.
func TestTable(t *testing.T) {
	const path = "../../../docs/lint.md"
	const heading = "| code | level | rule | source |\n|---|---|---|---|\n"
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	above, below, ok := strings.Cut(string(have), heading)
	if !ok {
		t.Fatal("docs/lint.md has no table")
	}
	_, below, _ = strings.Cut(below, "\n\n")
	var b strings.Builder
	b.WriteString(above + heading)
	var seen []string
	for _, r := range lint.Rules() {
		if len(r.Code) != 4 || r.Code[0] != r.Level[0] || slices.Contains(seen, r.Code) || r.Title == "" || r.Source == "" {
			t.Errorf("%+v", r)
		}
		seen = append(seen, r.Code)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Code, r.Level, r.Title, r.Source)
	}
	b.WriteString("\n" + below)
	if *update {
		err = os.WriteFile(path, []byte(b.String()), 0o644)
	} else if string(have) != b.String() {
		t.Error("docs/lint.md is not the table (go test ./internal/governance/lint -update)")
	}
	if err != nil {
		t.Fatal(err)
	}
}
