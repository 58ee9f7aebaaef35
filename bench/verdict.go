package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

const (
	verdictPerQueue = 60 // workloads; the quota admits about one in ten
	verdictTimeout  = 2 * time.Minute
)

// question is a job of pods of 4 GPUs, what the dry run of it ends with, and the status
// of the QuotaReserved condition that Kueue must then write.
type question struct {
	what   string
	queue  string
	pods   int
	exit   int
	status string
}

var questions = []question{
	{"a job that starts", "spare", 1, 0, "True"},
	{"a job that waits", "team000", 4, 8, "False"},
	{"a job that never runs", "team000", 50, 3, "False"},
}

// verdict compares asking before (start-job --dry-run, the whole process) with asking by
// submitting (start-job of the same job, until its Workload has a QuotaReserved condition
// that says something), in turn on one server. Both must say the same.
func (b *bench) verdict(ctx context.Context, queues int) error {
	if err := cluster.Supported(); err != nil {
		return err
	}
	// Kueue is told to look at every workload and to write its reasons: as it ships, a
	// workload like one that waits already is parked without a word, and there is nothing to wait for.
	bed, err := cluster.Start(ctx, cluster.Options{Log: os.Stderr,
		KueueFeatureGates: map[string]bool{"UnadmittedWorkloadsObservability": true, "SchedulingEquivalenceHashing": false}})
	if err != nil {
		return err
	}
	defer bed.Stop()
	workloads := queues * verdictPerQueue
	if err := fillQueues(ctx, bed, queues, workloads); err != nil {
		return err
	}
	if err := spareQueue(ctx, bed); err != nil {
		return err
	}
	if err := atRest(ctx, bed); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bare := append([]string{self, "-bare", bed.Kubeconfig}, dryRunLists()...)
	env := append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig, "HOME="+b.dir, "XDG_STATE_HOME="+b.dir, "XDG_CACHE_HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir)
	fmt.Printf("\nthe verdict, %d queues, %d workloads (medians of %d runs each, in turn%s): what start-job --dry-run takes of start-job and the wait for Kueue's condition\n",
		queues, workloads, b.runs, load())
	fmt.Printf("%-24s %18s %18s %7s %18s   %s\n", "", "submitted, ms", "--dry-run, ms", "ratio", "bare download, ms", "Kueue says")
	for _, q := range questions {
		var asked, submitted, downloaded []time.Duration
		reason := ""
		for round := range b.runs + 1 {
			name := fmt.Sprintf("bench-%d-%d", q.pods, round)
			manifest := filepath.Join(b.dir, name+".json")
			if err := os.WriteFile(manifest, q.job(name), 0o600); err != nil {
				return err
			}
			before, err := q.ask(ctx, env, []string{b.hyperpod, "start-job", "-f", manifest, "-n", "bench", "--dry-run", "-o", "json"})
			if err != nil {
				return fmt.Errorf("%s: %w", q.what, err)
			}
			start := time.Now()
			if _, err := exec.CommandContext(ctx, bare[0], bare[1:]...).Output(); err != nil {
				return fmt.Errorf("bare download: %w", err)
			}
			lists := time.Since(start)
			after, answer, err := q.submit(ctx, bed, env, name, []string{b.hyperpod, "start-job", "-f", manifest, "-n", "bench", "--quiet"})
			if err != nil {
				return fmt.Errorf("%s: %w", q.what, err)
			}
			if round == 0 {
				continue // warm-up
			}
			asked, submitted, downloaded, reason = append(asked, before), append(submitted, after), append(downloaded, lists), answer
		}
		b.part.Ratios = append(b.part.Ratios, ratioOf{"start-job --dry-run, 600 workloads, " + q.what, "submitting it and waiting for Kueue's condition",
			float64(median(asked)) / float64(median(submitted)), 1},
			ratioOf{"bare parallel download of its lists, " + q.what, "submitting it and waiting for Kueue's condition", float64(median(downloaded)) / float64(median(submitted)), 0})
		fmt.Printf("%-24s %18.1f %18.1f %7.2f %18.1f   %s %s\n", q.what, ms(median(submitted)), ms(median(asked)),
			float64(median(asked))/float64(median(submitted)), ms(median(downloaded)), q.status, reason)
	}
	return nil
}

// dryRunLists are the lists that a dry run reads: every client that decides by them waits for them.
func dryRunLists() []string {
	out := []string{"/apis/node.k8s.io/v1/runtimeclasses", "/apis/scheduling.k8s.io/v1/priorityclasses"}
	for _, plural := range []string{"namespaces", "nodes", "pods", "limitranges"} {
		out = append(out, "/api/v1/"+plural)
	}
	for _, plural := range []string{"workloads", "clusterqueues", "localqueues", "cohorts", "resourceflavors", "topologies", "admissionchecks", "workloadpriorityclasses"} {
		out = append(out, "/apis/kueue.x-k8s.io/v1beta2/"+plural)
	}
	return out
}

// job is the manifest of the job.
func (q question) job(name string) []byte {
	data, err := json.Marshal(map[string]any{
		"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"kueue.x-k8s.io/queue-name": q.queue}},
		"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{"replicas": q.pods, "restartPolicy": "Never",
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "example.com/train:1",
				"resources": map[string]any{"requests": gpus("4"), "limits": gpus("4")}}}}}}}},
	})
	if err != nil {
		panic(err) // a literal that cannot be encoded: seen in the first run
	}
	return data
}

func gpus(n string) map[string]any {
	return map[string]any{"cpu": "4", "memory": "1", "nvidia.com/gpu": n}
}

// ask runs the dry run and returns how long it took.
func (q question) ask(ctx context.Context, env, args []string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start)
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if code := cmd.ProcessState.ExitCode(); code != q.exit {
		return 0, fmt.Errorf("the dry run ends with %d, not %d: %s%s", code, q.exit, out, stderr.String())
	}
	return took, nil
}

// submit starts the job, watches for Kueue's word on it, and removes it again. The time is
// from the start of the process to that word, and the string the condition's reason.
func (q question) submit(ctx context.Context, bed *cluster.Bed, env []string, name string, args []string) (time.Duration, string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, verdictTimeout, fmt.Errorf("no condition within %s", verdictTimeout))
	defer cancel()
	watch, err := watchWorkloads(ctx, bed)
	if err != nil {
		return 0, "", err
	}
	defer watch.Close()
	start := time.Now()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, "", fmt.Errorf("%w: %s", err, out)
	}
	workload, c, err := untilSaid(watch, name)
	took := time.Since(start)
	if err != nil {
		return 0, "", errors.Join(err, context.Cause(ctx))
	}
	if c.Status != q.status {
		return 0, "", fmt.Errorf("Kueue says %s %s (%s), the dry run did not", c.Status, c.Reason, c.Message)
	}
	const namespaced = "/namespaces/bench/"
	if _, err := bed.Request(ctx, http.MethodDelete, "/apis/kubeflow.org/v1"+namespaced+"pytorchjobs/"+name, "", nil); err != nil {
		return 0, "", err
	}
	return took, c.Reason, bed.WaitForGone(ctx, "/apis/kueue.x-k8s.io/v1beta2"+namespaced+"workloads/"+workload)
}

type condition struct{ Type, Status, Reason, Message string }

// untilSaid reads a watch until the Workload of the job has a QuotaReserved condition that
// is more than "not looked at yet".
func untilSaid(watch io.Reader, job string) (workload string, c condition, err error) {
	for events := json.NewDecoder(watch); ; {
		var event struct {
			Object struct {
				Metadata struct {
					Name            string
					OwnerReferences []struct{ Name string }
				}
				Status struct{ Conditions []condition }
			}
		}
		if err := events.Decode(&event); err != nil {
			return "", condition{}, fmt.Errorf("the watch ended: %w", err)
		}
		meta := event.Object.Metadata
		if len(meta.OwnerReferences) == 0 || meta.OwnerReferences[0].Name != job {
			continue
		}
		for _, c := range event.Object.Status.Conditions {
			if c.Type == "QuotaReserved" && c.Reason != "PendingEvaluation" {
				return meta.Name, c, nil
			}
		}
	}
}

// watchWorkloads watches the Workloads from now on.
func watchWorkloads(ctx context.Context, bed *cluster.Bed) (io.ReadCloser, error) {
	const path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/bench/workloads"
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := bed.Get(ctx, path+"?limit=1", &list); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", bed.Kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		config.Host+path+"?watch=1&resourceVersion="+url.QueryEscape(list.Metadata.ResourceVersion), nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("watch of Workloads: %s", resp.Status)
	}
	return resp.Body, nil
}

// spareQueue makes a queue of its own with nothing in it.
func spareQueue(ctx context.Context, bed *cluster.Bed) error {
	if err := bed.ApplyObjects(ctx, clusterQueue("spare", "")); err != nil {
		return err
	}
	return bed.ApplyObjects(ctx, localQueue("spare", "spare"))
}

// atRest waits until Kueue admits no more of what fillQueues made: the numbers of the
// queues have stayed the same for some seconds.
func atRest(ctx context.Context, bed *cluster.Bed) error {
	const still = 5 * time.Second
	last, since := counted{}, time.Now()
	return patiently(ctx, bed, "Kueue to settle", func(ctx context.Context) error {
		now, err := count(ctx, bed)
		if err != nil {
			return err
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) < still {
			return fmt.Errorf("%d admitted, %d wait", now.admitted, now.waiting)
		}
		return nil
	})
}
