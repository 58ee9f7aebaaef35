package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

// TestRecordStatuses writes what a real control plane says of jobs in every
// scene of their life to internal/jobs/testdata, where the status function is
// tested on it. It runs only when asked to:
//
//	HYPERPOD_RECORD=all go test ./test/e2e -run TestRecordStatuses -timeout 60m
//
// or with the kinds to record, separated by commas. The operators of JobSet and Ray
// are built for it. That of HyperPodPyTorchJob is not published: its scenes cannot
// be recorded.
func TestRecordStatuses(t *testing.T) {
	wanted := os.Getenv("HYPERPOD_RECORD")
	if wanted == "" {
		t.Skip("HYPERPOD_RECORD is not set")
	}
	var record []kinds.Job
	options := cluster.Options{RayJobStatus: rayStatus}
	operators := map[string]cluster.Component{kinds.JobSet.Kind: cluster.JobSet, kinds.RayJob.Kind: cluster.KubeRay, kinds.RayCluster.Kind: cluster.KubeRay}
	for _, k := range kinds.Jobs() {
		if k.Kind == kinds.HyperPodPyTorchJob.Kind || wanted != "all" && !slices.Contains(strings.Split(wanted, ","), k.Kind) {
			continue
		}
		record = append(record, k)
		if c, ok := operators[k.Kind]; ok && !slices.Contains(options.More, c) {
			options.More = append(options.More, c)
		}
	}
	if _, err := cluster.Build(t.Context(), t.Output(), options.More...); err != nil {
		t.Fatal(err)
	}
	bed := cluster.ForTest(t, options)
	if err := bed.ApplyNodes(t.Context(), cluster.Nodes("ml.g5.12xlarge", 4)); err != nil {
		t.Fatal(err)
	}
	if err := bed.ApplyTeams(t.Context(), cluster.JohnAndSmith()); err != nil {
		t.Fatal(err)
	}
	for _, k := range record {
		t.Run(k.Kind, func(t *testing.T) { (&recorder{t: t, bed: bed, kind: k}).life() })
	}
}

// rayStatus is what Ray says of a job: its operator takes the name into the
// submission id.
func rayStatus(id string) string {
	for name, status := range map[string]string{"done-": "SUCCEEDED", "bad-": "FAILED"} {
		if strings.HasPrefix(id, name) {
			return status
		}
	}
	return "RUNNING"
}

const (
	recordTeam  = "smith" // 4 GPUs of its own, 4 more by borrowing
	recordLow   = "training-priority"
	recordHigh  = "inference-priority"
	recordAtAll = 90 * time.Second
)

type recorder struct {
	t    *testing.T
	bed  *cluster.Bed
	kind kinds.Job
	out  bytes.Buffer
}

// life takes a kind that an operator runs through every scene.
func (r *recorder) life() {
	a, high, behind := r.job("a", 2, 4, recordLow), r.batch("high"), r.job("behind", 2, 4, recordLow)
	r.apply(a)
	r.record("running", "a", r.is("Running"))
	r.apply(high)
	r.record("preempted", "a", r.evicted)
	r.apply(behind)
	r.record("pending behind others", "behind", r.queued) // Kueue says nothing of a job like one that does not fit
	r.remove("batch", "jobs", "high")
	r.record("running again", "a", r.is("Running"))
	r.removeJob("behind")
	r.activate("a", false)
	r.record("deactivated", "a", r.evicted)
	r.activate("a", true)
	r.record("activated again", "a", r.is("Running"))
	r.removeJob("a")

	if r.kind.Kind != kinds.RayCluster.Kind { // a cluster has no end
		r.apply(annotated(r.job("done", 1, 1, recordLow), "testbed/complete-after", "1s"))
		r.record("succeeded", "done", r.is("Succeeded", "Complete", "Completed"))
		r.apply(annotated(r.job("bad", 1, 1, recordLow), "testbed/fail-after", "1s"))
		r.record("failed", "bad", r.is("Failed"))
		r.removeJob("done")
		r.removeJob("bad")
	}

	r.apply(labelled(r.job("free", 1, 1, ""), ""))
	r.record("running without a queue", "free", r.is("Running"))
	r.removeJob("free")
	held := labelled(r.job("held", 1, 1, ""), "")
	kinds.Set(held, true, r.kind.SuspendPath...)
	r.apply(held)
	r.record("suspended without a queue", "held", r.is("Suspended"))
	r.removeJob("held")

	r.apply(r.job("huge", 4, 4, recordLow))
	r.record("larger than its queue", "huge", r.waits)
	r.removeJob("huge")
	r.apply(labelled(r.job("lost", 1, 1, ""), "no-such-queue"))
	r.record("unknown queue", "lost", r.waits)
	r.removeJob("lost")
	stuck := r.job("stuck", 1, 1, recordLow)
	for _, part := range r.kind.Parts(stuck) {
		spec := part.Template["spec"].(map[string]any)
		spec["nodeSelector"] = map[string]any{"no-such": "label"}
	}
	r.apply(stuck)
	r.record("no node fits", "stuck", r.unschedulable)
	r.removeJob("stuck")
	r.save()
}

// scene is one line of a recording.
type scene struct {
	Scene     string
	Now       time.Time
	Job       map[string]any
	Workloads []map[string]any
	Pods      []map[string]any
	Events    []map[string]any
}

// record waits until the scene is as wanted and for a second more, in which
// everyone else catches up, and writes it down.
func (r *recorder) record(name, job string, wanted func(scene) error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), recordAtAll)
	defer cancel()
	var s scene
	settled := time.Time{}
	err := r.bed.WaitFor(ctx, "scene "+name, func(ctx context.Context) (err error) {
		if s, err = r.look(ctx, job); err != nil {
			return err
		}
		if err := wanted(s); err != nil {
			settled = time.Time{}
			return err
		}
		if settled.IsZero() {
			settled = time.Now()
		}
		if time.Since(settled) < time.Second {
			return errors.New("settling")
		}
		return nil
	})
	if err != nil {
		r.t.Errorf("%s %s: %v", r.kind.Kind, name, err)
		return
	}
	s.Scene = name
	for _, objects := range [][]map[string]any{{s.Job}, s.Workloads, s.Pods, s.Events} {
		for _, o := range objects {
			slim(o)
		}
	}
	line, err := json.Marshal(s)
	if err != nil {
		r.t.Fatal(err)
	}
	r.out.Write(append(line, '\n'))
}

func (r *recorder) look(ctx context.Context, name string) (s scene, err error) {
	s.Now = time.Now().UTC().Truncate(time.Second)
	ns := cluster.Namespace(recordTeam)
	if err := r.bed.Get(ctx, r.kind.Path(ns, name), &s.Job); err != nil {
		return s, err
	}
	uid := kinds.Text(s.Job, "metadata", "uid")
	list := func(path string, keep func(map[string]any) bool) []map[string]any {
		var l struct{ Items []map[string]any }
		if e := r.bed.Get(ctx, path, &l); e != nil {
			err = e
		}
		var out []map[string]any
		for _, o := range l.Items {
			if keep(o) {
				out = append(out, o)
			}
		}
		return out
	}
	uids := map[string]bool{uid: true}
	s.Workloads = list(kinds.Workload.Path(ns, ""), func(o map[string]any) bool {
		mine := kinds.Text(o, "metadata", "labels", kinds.JobUIDLabel) == uid || r.owns(o, name)
		if mine {
			uids[kinds.Text(o, "metadata", "uid")] = true
		}
		return mine
	})
	s.Pods = list(kinds.Pod.Path(ns, ""), func(o map[string]any) bool {
		submitter := r.kind.Kind == kinds.RayJob.Kind && kinds.Text(o, "metadata", "labels", kinds.BatchJob.PodLabel) == name
		return submitter || r.kind.Itself && kinds.Text(o, "metadata", "name") == name || r.selects(s.Job, o)
	})
	s.Events = list(kinds.Event.Path(ns, ""), func(o map[string]any) bool { return uids[kinds.Text(o, "involvedObject", "uid")] })
	return s, err
}

// selects reports whether a pod has the labels of the job's pods.
func (r *recorder) selects(job, pod map[string]any) bool {
	selector, err := labels.Parse(r.kind.PodSelector(job))
	own := labels.Set{}
	all, _ := kinds.At(pod, "metadata", "labels").(map[string]any)
	for key, v := range all {
		own[key], _ = v.(string)
	}
	return err == nil && !selector.Empty() && selector.Matches(own)
}

// owns reports whether a workload is that of a pod of the job.
func (r *recorder) owns(workload map[string]any, name string) bool {
	owners, _ := kinds.At(workload, "metadata", "ownerReferences").([]any)
	return r.kind.OnePod && slices.ContainsFunc(owners, func(o any) bool { return r.kind.Names(name, kinds.Text(o, "name")) })
}

// is waits for a condition of the job that holds, or for what stands for it where
// the kind has no such condition.
func (r *recorder) is(types ...string) func(scene) error {
	return func(s scene) error {
		for _, c := range types {
			if holds(s.Job, c) || r.says(s.Job, c) {
				return nil
			}
		}
		return fmt.Errorf("status is %v", s.Job["status"])
	}
}

// says reads the status of kinds that tell by numbers and phases.
func (r *recorder) says(job map[string]any, what string) bool {
	number := func(path ...string) float64 {
		n, _ := kinds.At(job, append([]string{"status"}, path...)...).(float64)
		return n
	}
	phase := kinds.Text(job, "status", "jobDeploymentStatus")
	switch r.kind.Kind + " " + what {
	case "Job Running":
		return number("ready") > 0
	case "JobSet Running":
		ready := 0.0
		list, _ := kinds.At(job, "status", "replicatedJobsStatus").([]any)
		for _, j := range list {
			n, _ := kinds.At(j.(map[string]any), "ready").(float64)
			ready += n
		}
		return ready > 0 && ready == float64(r.kind.Parts(job)[0].Replicas)
	case "RayCluster Running":
		return kinds.Text(job, "status", "state") == "ready" && number("readyWorkerReplicas") == number("desiredWorkerReplicas")
	case "RayCluster Suspended":
		return holds(job, "RayClusterSuspended")
	case "RayJob Running":
		return phase == "Running" && kinds.Text(job, "status", "jobStatus") == "RUNNING"
	case "RayJob Complete", "RayJob Failed", "RayJob Suspended":
		return phase == what
	}
	return false
}

func (r *recorder) evicted(s scene) error {
	if len(s.Pods) > 0 {
		return errors.New("it still has pods")
	}
	return s.workloadHolds("Evicted")
}

// waits: Kueue has looked at the job and said why it waits.
func (r *recorder) waits(s scene) error {
	for _, w := range s.Workloads {
		list, _ := kinds.At(w, "status", "conditions").([]any)
		for _, c := range list {
			if kinds.Text(c, "type") == "QuotaReserved" && kinds.Text(c, "status") == "False" {
				return nil
			}
		}
	}
	return errors.New("Kueue has not looked at it")
}

// queued: Kueue has made its workload.
func (r *recorder) queued(s scene) error {
	if len(s.Workloads) != 1 {
		return fmt.Errorf("%d workloads", len(s.Workloads))
	}
	return nil
}

func (r *recorder) unschedulable(s scene) error {
	for _, p := range s.Pods {
		list, _ := kinds.At(p, "status", "conditions").([]any)
		for _, c := range list {
			if kinds.Text(c, "type") == "PodScheduled" && kinds.Text(c, "status") == "False" {
				return nil
			}
		}
	}
	return errors.New("no pod was refused")
}

func (s scene) workloadHolds(condition string) error {
	for _, w := range s.Workloads {
		if holds(w, condition) {
			return nil
		}
	}
	return fmt.Errorf("no workload is %s", condition)
}

func holds(o map[string]any, condition string) bool {
	list, _ := kinds.At(o, "status", "conditions").([]any)
	for _, c := range list {
		if kinds.Text(c, "type") == condition && kinds.Text(c, "status") == "True" {
			return true
		}
	}
	return false
}

// slim drops what nobody reads.
func slim(o map[string]any) {
	meta, _ := o["metadata"].(map[string]any)
	for _, key := range []string{"managedFields", "finalizers", "resourceVersion", "generation"} {
		delete(meta, key)
	}
	if a, ok := meta["annotations"].(map[string]any); ok {
		delete(a, "kubectl.kubernetes.io/last-applied-configuration")
	}
	if o["involvedObject"] != nil {
		for _, key := range []string{"action", "reportingComponent", "reportingInstance", "source"} {
			delete(o, key)
		}
		for _, key := range []string{"name", "namespace", "uid", "creationTimestamp"} {
			delete(meta, key)
		}
		for _, key := range []string{"apiVersion", "namespace", "resourceVersion"} {
			delete(o["involvedObject"].(map[string]any), key)
		}
		return
	}
	if kinds.Text(o, "spec", "schedulerName") == "" {
		return
	}
	spec := o["spec"].(map[string]any) // of a pod
	for key := range spec {
		if key != "nodeName" && key != "containers" {
			delete(spec, key)
		}
	}
	list, _ := spec["containers"].([]any)
	for _, c := range list {
		for key := range c.(map[string]any) {
			if key != "name" && key != "resources" {
				delete(c.(map[string]any), key)
			}
		}
	}
}

func (r *recorder) apply(o map[string]any) {
	r.t.Helper()
	data, err := json.Marshal(o)
	if err == nil {
		_, err = r.bed.KubectlAs(r.t.Context(), r.bed.Kubeconfig, data, "create", "-n", cluster.Namespace(recordTeam), "-f", "-")
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *recorder) removeJob(name string) { r.remove(r.kind.Group, r.kind.Plural, name) }

func (r *recorder) remove(group, plural, name string) {
	r.t.Helper()
	if _, err := r.bed.Kubectl(r.t.Context(), "delete", plural+"."+group, name, "-n", cluster.Namespace(recordTeam)); err != nil {
		r.t.Error(err)
	}
}

// activate sets spec.active of a job's workload.
func (r *recorder) activate(job string, active bool) {
	r.t.Helper()
	s, err := r.look(r.t.Context(), job)
	if err != nil || len(s.Workloads) != 1 {
		r.t.Errorf("%d workloads, %v", len(s.Workloads), err)
		return
	}
	_, err = r.bed.Kubectl(r.t.Context(), "patch", "workloads.kueue.x-k8s.io", kinds.Text(s.Workloads[0], "metadata", "name"), "-n", cluster.Namespace(recordTeam),
		"--type=merge", "-p", fmt.Sprintf(`{"spec":{"active":%v}}`, active))
	if err != nil {
		r.t.Error(err)
	}
}

func (r *recorder) save() {
	path := filepath.Join("..", "..", "internal", "jobs", "testdata", strings.ToLower(r.kind.Kind)+".jsonl")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, r.out.Bytes(), 0o644)); err != nil {
		r.t.Error(err)
	}
}
