package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

const (
	quotaQueues = 200
	perPool     = 20 // queues in a cohort
)

// quota compares get-quota on 200 queues and 5,000 workloads (or fewer: -workloads) with a bare parallel
// download of the lists it reads, and what it shows of queues alone with the
// peers, who show no more than that.
func (b *bench) quota(ctx context.Context) error {
	if err := cluster.Supported(); err != nil {
		return err
	}
	bed, err := cluster.Start(ctx, cluster.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer bed.Stop()
	if err := fillQueues(ctx, bed, quotaQueues, b.workloads); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env := append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig, "HOME="+b.dir, "KUBECACHEDIR="+b.dir+"/kube", "XDG_CACHE_HOME="+b.dir)
	const kueue = "/apis/kueue.x-k8s.io/v1beta2/"
	lists := []string{self, "-bare", bed.Kubeconfig, kueue + "clusterqueues", kueue + "cohorts", kueue + "localqueues", kueue + "resourceflavors", kueue + "workloads", "/api/v1/nodes"}
	title := fmt.Sprintf("%d queues, %d workloads", quotaQueues, b.workloads)
	bare := contender{"bare parallel download of the six lists", lists}
	quota := contender{"hyperpod get-quota", []string{b.hyperpod, "get-quota", "-o", "wide"}}
	queue := contender{"hyperpod get-queue", []string{b.hyperpod, "get-queue", "-o", "table"}}
	all := []contender{bare, quota, queue}
	medians, err := b.compare(ctx, title, env, all, goal{1, 0, 1.3}, goal{2, 0, 1.3})
	if err != nil {
		return err
	}
	if err := b.throttled(ctx, title, env, all, medians, goal{1, 3, 1}, goal{2, 3, 1}); err != nil {
		return err
	}
	_, err = b.compare(ctx, title+", what the queues say alone", env, []contender{
		{"kueuectl list clusterqueue", []string{b.kueuectl, "list", "clusterqueue"}},
		withJQ(b.kubectl),
		{"hyperpod get-quota --from-status", []string{b.hyperpod, "get-quota", "--from-status", "-o", "wide"}},
		quota,
		{"bare download of the workloads that wait", []string{self, "-bare", bed.Kubeconfig, kueue + "workloads?fieldSelector=status.admission.clusterQueue%3D"}},
	}, goal{2, 0, 1}, goal{2, 1, 1}, goal{3, 0, 0}, goal{3, 1, 0}, goal{4, 0, 0}, goal{4, 3, 0})
	return err
}

// throttled adds kueuectl list workload -A to what was compared. It asks for things one by one,
// at a rate that it sets itself, whatever the machine: one run is enough.
func (b *bench) throttled(ctx context.Context, title string, env []string, all []contender, medians []time.Duration, goals ...goal) error {
	theirs := contender{"kueuectl list workload -A", []string{b.kueuectl, "list", "workload", "-A"}}
	took, err := b.once(ctx, env, theirs.args)
	if err != nil {
		return err
	}
	fmt.Printf("%-44s %8.1f %8s %8.1f %8.0f (one run)\n", theirs.name, ms(took.Wall), "", ms(took.CPU), took.RSSMB)
	b.part.Figures = append(b.part.Figures, figure{title, theirs.name, ms(took.Wall), ms(took.Wall), ms(took.CPU), took.RSSMB})
	all, medians = append(slices.Clone(all), theirs), append(slices.Clone(medians), took.Wall)
	for _, g := range goals {
		b.judge(g, all, medians)
	}
	return nil
}

// withJQ is what people write to see quota with kubectl; without jq, kubectl alone.
func withJQ(kubectl string) contender {
	get := contender{"kubectl get clusterqueues -o json", []string{kubectl, "get", "clusterqueues", "-o", "json"}}
	if _, err := exec.LookPath("jq"); err != nil {
		return get
	}
	const table = `.items[] | . as $q | .status.flavorsReservation[]? | .name as $f | .resources[] | [$q.metadata.name, $f, .name, .total, .borrowed] | @tsv`
	return contender{get.name + " | jq", []string{"sh", "-c", `"$0" get clusterqueues -o json | jq -r "$1"`, kubectl, table}}
}

// fillQueues makes the queues, in cohorts, and the workloads, without jobs, and
// waits until Kueue has counted them all.
func fillQueues(ctx context.Context, bed *cluster.Bed, queues, workloads int) error {
	if err := bed.ApplyNodes(ctx, cluster.Nodes("ml.g5.12xlarge", 125)); err != nil {
		return err
	}
	if err := bed.Apply(ctx, []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"bench"}}`)); err != nil {
		return err
	}
	const wide, namespaced = "/apis/kueue.x-k8s.io/v1beta2/", "/apis/kueue.x-k8s.io/v1beta2/namespaces/bench/"
	if err := post(ctx, bed, wide+"resourceflavors", kueueObject("ResourceFlavor", "gpu", "", map[string]any{})); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "creating", queues, "queues and", workloads, "workloads")
	err := inParallel(queues, func(i int) error {
		name := fmt.Sprintf("hyperpod-ns-team%03d-clusterqueue", i)
		err := post(ctx, bed, wide+"clusterqueues", clusterQueue(name, fmt.Sprintf("pool-%d", i/perPool)))
		if err == nil {
			err = post(ctx, bed, namespaced+"localqueues", localQueue(fmt.Sprintf("team%03d", i), name))
		}
		for n := 0; err == nil && n < workloads/queues; n++ {
			requests := map[string]any{"cpu": "8", "memory": "1", "nvidia.com/gpu": "8"}
			err = post(ctx, bed, namespaced+"workloads", kueueObject("Workload", fmt.Sprintf("team%03d-w%d", i, n), "bench", map[string]any{
				"queueName": fmt.Sprintf("team%03d", i), "priority": n,
				"podSets": []any{map[string]any{"name": "main", "count": 2, "template": map[string]any{"spec": map[string]any{"restartPolicy": "Never",
					"containers": []any{map[string]any{"name": "c", "image": "none", "resources": map[string]any{"requests": requests}}}}}}},
			}))
		}
		return err
	})
	if err != nil {
		return err
	}
	want := workloads / queues * queues
	return patiently(ctx, bed, "Kueue to count every workload", func(ctx context.Context) error {
		now, err := count(ctx, bed)
		if err == nil && now.admitted+now.waiting < want {
			err = fmt.Errorf("%d so far", now.admitted+now.waiting)
		}
		return err
	})
}

// patiently waits longer than the bed waits for one thing: Kueue takes its time for so many.
func patiently(ctx context.Context, bed *cluster.Bed, what string, check func(context.Context) error) error {
	const limit = 10 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %s", limit))
	defer cancel()
	return bed.WaitFor(ctx, what, check)
}

func kueueObject(kind, name, namespace string, spec map[string]any) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec}
}

// clusterQueue has 100 of every resource, and may borrow half as much in its cohort, if it has one.
func clusterQueue(name, cohort string) map[string]any {
	resources := []string{"cpu", "memory", "nvidia.com/gpu", "aws.amazon.com/neurondevice", "vpc.amazonaws.com/efa"}
	var quotas []any
	for _, r := range resources {
		quota := map[string]any{"name": r, "nominalQuota": "100"}
		if cohort != "" {
			quota["borrowingLimit"] = "50"
		}
		quotas = append(quotas, quota)
	}
	spec := map[string]any{"namespaceSelector": map[string]any{},
		"resourceGroups": []any{map[string]any{"coveredResources": resources, "flavors": []any{map[string]any{"name": "gpu", "resources": quotas}}}}}
	if cohort != "" {
		spec["cohortName"] = cohort
	}
	return kueueObject("ClusterQueue", name, "", spec)
}

func localQueue(name, clusterQueue string) map[string]any {
	return kueueObject("LocalQueue", name, "bench", map[string]any{"clusterQueue": clusterQueue})
}

// counted is what the statuses of the queues say of all workloads together.
type counted struct{ admitted, waiting int }

func count(ctx context.Context, bed *cluster.Bed) (counted, error) {
	var list struct {
		Items []struct {
			Status struct{ PendingWorkloads, ReservingWorkloads int }
		}
	}
	if err := bed.Get(ctx, "/apis/kueue.x-k8s.io/v1beta2/clusterqueues", &list); err != nil {
		return counted{}, err
	}
	var n counted
	for _, q := range list.Items {
		n.admitted += q.Status.ReservingWorkloads
		n.waiting += q.Status.PendingWorkloads
	}
	return n, nil
}

func post(ctx context.Context, bed *cluster.Bed, path string, object map[string]any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	_, err = bed.Request(ctx, http.MethodPost, path, "application/json", data)
	return err
}

// inParallel calls f for 0 to n-1, eight at a time, and returns the first error.
func inParallel(n int, f func(i int) error) error {
	var wg sync.WaitGroup
	failures := make(chan error, n)
	limit := make(chan struct{}, 8)
	for i := range n {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			if err := f(i); err != nil {
				failures <- err
			}
		})
	}
	wg.Wait()
	close(failures)
	return <-failures
}
