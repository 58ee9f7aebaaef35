package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
)

const (
	teams       = 20
	jobsPerTeam = 100
	gpusPerTeam = 25
)

// lists compares list-jobs -A on 2,000 jobs with a bare parallel download of the
// same lists, and with the peers.
func (b *bench) lists(ctx context.Context) error {
	if err := cluster.Supported(); err != nil {
		return err
	}
	bed, err := cluster.Start(ctx, cluster.Options{
		TrainingOperator: cluster.Tuning{Threads: 10, QPS: 500}, Log: os.Stderr,
	})
	if err != nil {
		return err
	}
	defer bed.Stop()
	if err := fill(ctx, bed); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env := append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig, "HOME="+b.dir, "KUBECACHEDIR="+b.dir+"/kube", "XDG_CACHE_HOME="+b.dir)
	pytorch, workloads := "/apis/kubeflow.org/v1/pytorchjobs", "/apis/kueue.x-k8s.io/v1beta2/workloads"
	title := fmt.Sprintf("list-jobs -A, %d jobs", teams*jobsPerTeam)
	all := []contender{
		{"bare parallel download of the two lists", []string{self, "-bare", bed.Kubeconfig, pytorch, workloads}},
		{"hyperpod list-jobs -A", []string{b.hyperpod, "list-jobs", "-A"}},
		{"kubectl get pytorchjobs -A", []string{b.kubectl, "get", "pytorchjobs", "-A"}},
		{"the two lists, not compressed", []string{self, "-plain", "-bare", bed.Kubeconfig, pytorch, workloads}},
		{"the two lists, as old as the server likes", []string{self, "-bare", bed.Kubeconfig, pytorch + "?resourceVersion=0", workloads + "?resourceVersion=0"}},
		{"workloads alone", []string{self, "-bare", bed.Kubeconfig, workloads}},
	}
	medians, err := b.compare(ctx, title, env, all, goal{1, 0, 1.3}, goal{1, 2, 0.9}, goal{3, 0, 0}, goal{4, 0, 0}, goal{5, 0, 0})
	if err != nil {
		return err
	}
	return b.throttled(ctx, title, env, all, medians, goal{1, 6, 0.1}, goal{0, 6, 0})
}

// fill makes the teams, the nodes and the jobs, and waits until Kueue has a
// Workload for each.
func fill(ctx context.Context, bed *cluster.Bed) error {
	var all []cluster.Team
	for i := range teams {
		all = append(all, cluster.Team{
			Name: fmt.Sprintf("team%02d", i), Weight: 1, BorrowPercent: 50,
			Quota: []cluster.Quota{{InstanceType: "ml.g5.12xlarge", Count: (gpusPerTeam + 3) / 4}},
		})
	}
	if err := bed.ApplyTeams(ctx, all); err != nil {
		return err
	}
	if err := bed.ApplyNodes(ctx, cluster.Nodes("ml.g5.12xlarge", 125)); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "creating", teams*jobsPerTeam, "jobs")
	var group sync.WaitGroup
	failures := make(chan error, teams)
	for _, team := range all {
		group.Add(1)
		go func() {
			defer group.Done()
			for n := range jobsPerTeam {
				path := "/apis/kubeflow.org/v1/namespaces/" + team.Namespace() + "/pytorchjobs"
				if _, err := bed.Request(ctx, http.MethodPost, path, "application/json", job(team, n)); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return err
	}
	return patiently(ctx, bed, "a Workload for every job", func(ctx context.Context) error { return allQueued(ctx, bed) })
}

func allQueued(ctx context.Context, bed *cluster.Bed) error {
	var list struct {
		Items []struct{} `json:"items"`
	}
	if err := bed.Get(ctx, "/apis/kueue.x-k8s.io/v1beta2/workloads", &list); err != nil {
		return err
	}
	if len(list.Items) < teams*jobsPerTeam {
		return fmt.Errorf("%d so far", len(list.Items))
	}
	return nil
}

func job(team cluster.Team, n int) []byte {
	env := []any{}
	for _, k := range []string{"NCCL_DEBUG", "FI_PROVIDER", "NCCL_SOCKET_IFNAME", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "CUDA_DEVICE_MAX_CONNECTIONS", "LOGLEVEL"} {
		env = append(env, map[string]any{"name": k, "value": "1"})
	}
	labels := map[string]any{"kueue.x-k8s.io/queue-name": team.LocalQueue()}
	object := map[string]any{
		"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
		"metadata": map[string]any{"name": fmt.Sprintf("train-%03d", n), "labels": labels},
		"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{
			"replicas": 1, "restartPolicy": "OnFailure",
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{
					"containers": []any{map[string]any{
						"name": "pytorch", "image": "example.com/train:1", "command": []any{"torchrun", "train.py"}, "env": env,
						"resources":    map[string]any{"limits": map[string]any{"nvidia.com/gpu": 1}},
						"volumeMounts": []any{map[string]any{"name": "shm", "mountPath": "/dev/shm"}, map[string]any{"name": "logs", "mountPath": "/var/log/aws/clusters"}},
					}},
					"volumes": []any{
						map[string]any{"name": "shm", "emptyDir": map[string]any{"medium": "Memory"}},
						map[string]any{"name": "logs", "hostPath": map[string]any{"path": "/var/log/aws/clusters", "type": "DirectoryOrCreate"}},
					},
					"affinity": map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
						"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{map[string]any{
							"key": "sagemaker.amazonaws.com/node-health-status", "operator": "In", "values": []any{"Schedulable"}}}}}}}},
				},
			},
		}}},
	}
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // a literal that cannot be encoded: seen in the first run
	}
	return data
}

// download fetches lists in parallel, with gzip unless plain, and throws them away:
// the floor for any client.
func download(ctx context.Context, kubeconfig string, plain bool, paths []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	failures := make(chan error, len(paths))
	for _, p := range paths {
		go func() {
			failures <- func() error {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+p, nil)
				if err != nil {
					return err
				}
				req.Header.Set("User-Agent", "bench/1")
				if plain {
					req.Header.Set("Accept-Encoding", "identity")
				}
				resp, err := client.Do(req)
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				var start bytes.Buffer
				if resp.StatusCode != http.StatusOK {
					io.CopyN(&start, resp.Body, 200)
					return fmt.Errorf("%s: %s: %s", p, resp.Status, start.String())
				}
				_, err = io.Copy(io.Discard, resp.Body)
				return err
			}()
		}()
	}
	for range paths {
		if err := <-failures; err != nil {
			return err
		}
	}
	return nil
}
