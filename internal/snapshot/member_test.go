package snapshot_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/inputs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

// managed is a cluster with the names of task governance, seen with the permissions of
// its team chart: of the team ml the own namespace without its local queues, and
// the own ClusterQueue and namespace by name. Its queue is known by its usual name
// alone: no job was ever admitted.
func managed(idle bool) *fixture.Server {
	queue := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"hyperpod-ns-%-clusterqueue"},"spec":{"cohortName":"shared-pool","namespaceSelector":{},"resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"8","borrowingLimit":"4"}]}]}],"preemption":{"reclaimWithinCohort":"Any"}},"status":{"flavorsReservation":[{"name":"a100","resources":[{"name":"nvidia.com/gpu","total":"0"}]}]}}`
	s := fixture.New(fixture.Flavor("a100"), fixture.Rules(fixture.FairSharing), fixture.Class("high", 90))
	for _, team := range []string{"ml", "nlp"} {
		for _, text := range []string{queue,
			`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"hyperpod-ns-%","labels":{"kueue.x-k8s.io/managed":"true"}}}`,
			`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"hyperpod-ns-%-localqueue","namespace":"hyperpod-ns-%"},"spec":{"clusterQueue":"hyperpod-ns-%-clusterqueue"}}`,
			`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"shared-pool"}}`} {
			if team == "ml" || !strings.Contains(text, `"Cohort"`) {
				s.Add(json.RawMessage(strings.ReplaceAll(text, "%", team)))
			}
		}
	}
	if !idle {
		w := string(fixture.Work("hyperpod-ns-ml", "run", 6, 0, time.Hour, true).(json.RawMessage))
		s.Add(json.RawMessage(strings.NewReplacer(`"clusterQueue":"hyperpod-ns-ml"`, `"clusterQueue":"hyperpod-ns-ml-clusterqueue"`, `"queueName":"queue"`, `"queueName":"hyperpod-ns-ml-localqueue"`).Replace(w)))
	}
	s.Forbid = func(verb, plural, namespace, name string) bool {
		switch plural {
		case "resourceflavors", "workloadpriorityclasses":
			return false
		case "clusterqueues":
			return name != "hyperpod-ns-ml-clusterqueue"
		case "namespaces":
			return name != "hyperpod-ns-ml"
		case "localqueues":
			return true
		}
		return namespace != "hyperpod-ns-ml"
	}
	return s
}

// TestMemberSameAnswer: what a member's snapshot is asked is answered as the member
// was by the cluster.
func TestMemberSameAnswer(t *testing.T) {
	own := func(context.Context) ([]string, error) { return []string{"hyperpod-ns-ml"}, nil }
	answer := func(c *kube.Client, gpus int) *check.Verdict {
		in, err := inputs.Load(context.Background(), c, inputs.Options{Namespaces: own}, fixture.Noon)
		if err != nil {
			t.Fatal(err)
		}
		checker, err := check.New(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		var job map[string]any
		if err := json.Unmarshal(fixture.Job("j", 1, gpus, "", "kueue.x-k8s.io/queue-name", "hyperpod-ns-ml-localqueue").(json.RawMessage), &job); err != nil {
			t.Fatal(err)
		}
		v, err := checker.Check(context.Background(), check.Request{Object: job, Namespace: "hyperpod-ns-ml", Remedies: true})
		if err != nil {
			t.Fatal(err)
		}
		verdict.Fill(v, errs.Suggestion.String)
		return v
	}
	for _, idle := range []bool{true, false} {
		for _, found := range []bool{true, false} {
			live := managed(idle).Client()
			s := capture(t, live, snapshot.Options{ContextNamespace: "hyperpod-ns-ml", Namespaces: func(ctx context.Context) ([]string, error) {
				if found {
					return own(ctx)
				}
				_, err := state.ListNamespaces(ctx, live, kube.ListOptions{}) // forbidden
				return nil, err
			}})
			file := client(open(t, save(t, s, "s.json")))
			for gpus, want := range map[int]check.Outcome{1: check.Admitted, 10: check.Unknown, 40: check.Never} {
				if gpus == 10 && !idle {
					want = check.Waits // with the 6 it has that is beyond its borrowing limit
				}
				a, b := answer(live, gpus), answer(file, gpus)
				text := func(v *check.Verdict) string {
					return verdict.Text(v, 80, func(d time.Duration) string { return d.String() })
				}
				if a.Verdict != want || text(a) != text(b) || want == check.Waits && !strings.Contains(a.Summary, "4 more nvidia.com/gpu") {
					t.Errorf("idle %t, found %t, %d GPUs, want %s: live\n%s\nsnapshot\n%s", idle, found, gpus, want, text(a), text(b))
				}
			}
		}
	}
}

// TestNotInFile: a kind that a plain file lacks is reported as not in the file: neither
// as a missing permission, nor as an object that does not exist.
func TestNotInFile(t *testing.T) {
	queue := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"queue","namespace":"t"},"spec":{"clusterQueue":"t"}}`
	cq := string(fixture.Team("t", "", 8, "", "")[2].(json.RawMessage))
	flavor := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"a100"},"spec":{%s}}`
	plain := strings.Replace(flavor, "%s", "", 1)
	topological := strings.Replace(flavor, "%s", `"nodeLabels":{"x":"y"},"topologyName":"racks"`, 1)
	checked := strings.Replace(cq, `"spec":{`, `"spec":{"admissionChecksStrategy":{"admissionChecks":[{"name":"budget"}]},`, 1)
	for text, want := range map[string][]string{
		queue:                                  {"ClusterQueue t of queue queue is unknown: clusterqueues are not in the file", "the file has no clusterqueues, nodes, pods"},
		queue + "\n" + cq:                      {"the flavors of t are unknown: resourceflavors are not in the file", "the file has no nodes, pods, resourceflavors"},
		queue + "\n" + cq + "\n" + topological: {"the topologies of t are unknown: topologies are not in the file", "the file has no nodes, pods, topologies"},
		queue + "\n" + checked + "\n" + plain:  {"the admission checks of t are unknown: admissionchecks are not in the file", "the file has no admissionchecks, nodes, pods"},
	} {
		in := load(t, client(open(t, write(t, []byte(text)))))
		checker, err := check.New(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		var job map[string]any
		if err := json.Unmarshal(fixture.Job("j", 1, 1, "").(json.RawMessage), &job); err != nil {
			t.Fatal(err)
		}
		v, err := checker.Check(context.Background(), check.Request{Object: job, Namespace: "t"})
		if err != nil {
			t.Fatal(err)
		}
		verdict.Fill(v, errs.Suggestion.String)
		page := verdict.Text(v, 200, func(d time.Duration) string { return d.String() })
		if v.Verdict != check.Unknown || v.Reason != check.NotReadable || strings.Contains(page, "permission") || strings.Contains(page, "exist") || strings.Contains(page, "missing") {
			t.Errorf("%s", page)
		}
		for _, words := range want {
			if !strings.Contains(page, words) {
				t.Errorf("no %q in\n%s", words, page)
			}
		}
	}
}

// TestLacking: a file that mentions or counts objects of a kind, and has none of
// them, lacks the kind; a queue that counts nothing and a file of jobs alone lack none.
func TestLacking(t *testing.T) {
	const head = "apiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {name: a, namespace: t}\n"
	for doc, want := range map[string]string{
		head + "kind: ClusterQueue\nspec: {resourceGroups: []}\nstatus: {pendingWorkloads: 0, reservingWorkloads: 0}\n":                                                                                           "",
		head + "kind: ClusterQueue\nspec: {resourceGroups: []}\nstatus: {pendingWorkloads: 1}\n":                                                                                                                  "workloads",
		head + "kind: ClusterQueue\nspec: {resourceGroups: []}\nstatus: {reservingWorkloads: 1}\n":                                                                                                                "workloads",
		head + "kind: Workload\nspec: {queueName: q, podSets: []}\n":                                                                                                                                              "localqueues",
		head + "kind: Workload\nspec: {queueName: q, podSets: []}\nstatus: {admission: {clusterQueue: c}}\n":                                                                                                      "clusterqueues localqueues",
		head + "kind: ClusterQueue\nspec: {resourceGroups: [], admissionChecksStrategy: {admissionChecks: [{name: budget}]}}\n":                                                                                   "admissionchecks",
		head + "kind: ClusterQueue\nspec: {resourceGroups: [], admissionChecksStrategy: {admissionChecks: []}}\n":                                                                                                 "",
		head + "kind: ResourceFlavor\nspec: {nodeLabels: {x: z}, topologyName: racks}\n":                                                                                                                          "topologies",
		head + "kind: ResourceFlavor\nspec: {nodeLabels: {x: z}}\n":                                                                                                                                               "",
		head + "kind: Workload\nspec: {queueName: q, podSets: [], priorityClassRef: {group: kueue.x-k8s.io, kind: WorkloadPriorityClass, name: high}}\n":                                                          "localqueues workloadpriorityclasses",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {kueue.x-k8s.io/priority-class: high}}\nspec: {template: {spec: {containers: [], restartPolicy: Never}}}\n":                                 "workloadpriorityclasses",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {containers: [], restartPolicy: Never}}}\n":                                                                                "",
		strings.Replace(head, "{name: a,", "{ownerReferences: [{apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: j, uid: u}], name: a,", 1) + "kind: Workload\nspec: {queueName: q, podSets: []}\n":           "localqueues pytorchjobs",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, ownerReferences: [{apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: j, uid: u}]}\nspec: {containers: []}\n---\n" + head + "kind: ResourceFlavor\n":    "pytorchjobs",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u}]}\nspec: {containers: []}\n---\n" + head + "kind: ResourceFlavor\n":                  "",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: {template: {spec: {containers: [], restartPolicy: Never}}}\n---\n" + head + "kind: ResourceFlavor\n": "workloads",
	} {
		var got []string
		for _, m := range open(t, write(t, []byte(doc))).Lacks() {
			if name, _, _ := strings.Cut(m.Resource, "."); name != "nodes" && name != "pods" {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("lacks %v, want %s:\n%s", got, want, doc)
		}
	}
}

// TestLackingEverything: a file without queues, workloads and jobs lacks all of them.
func TestLackingEverything(t *testing.T) {
	lacks := map[string]bool{}
	for _, m := range open(t, write(t, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: t}\n"))).Lacks() {
		lacks[m.Resource] = true
	}
	want := []kinds.Resource{kinds.ClusterQueue, kinds.LocalQueue, kinds.Workload}
	for _, k := range kinds.Jobs() {
		want = append(want, k.Resource)
	}
	for _, r := range want {
		if !lacks[r.FullName()] {
			t.Errorf("%s is not reported as missing", r.FullName())
		}
	}
}
