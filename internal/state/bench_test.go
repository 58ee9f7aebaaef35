package state

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube/slim"
)

// managed is a metadata.managedFields of about n bytes: sets of field names, as
// a server-side apply leaves them.
func managed(n int) string {
	var b strings.Builder
	b.WriteString(`[{"apiVersion":"kubeflow.org/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{}},"f:labels":{".":{},"f:app":{}}},"f:spec":{".":{}`)
	for i := 0; b.Len() < n-100; i++ {
		fmt.Fprintf(&b, `,"f:containers%d":{"k:{\"name\":\"pytorch\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"A_%d\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{}}}`, i, i)
	}
	b.WriteString(`}},"manager":"hyperpod","operation":"Update","time":"2026-11-20T10:00:00Z"}]`)
	return b.String()
}

// templateJSON is a pod template of the size and shape that training jobs have.
const templateJSON = `{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"hyperpod-ns-team-localqueue","kueue.x-k8s.io/priority-class":"training-priority"}},"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"sagemaker.amazonaws.com/node-health-status","operator":"In","values":["Schedulable"]}]}]}}},"containers":[{"name":"pytorch","image":"registry.example/train:1","command":["torchrun","--nproc_per_node=8","/opt/train.py"],"env":[{"name":"LOGLEVEL","value":"INFO"},{"name":"NCCL_DEBUG","value":"WARN"},{"name":"FI_PROVIDER","value":"efa"},{"name":"FI_EFA_USE_DEVICE_RDMA","value":"1"},{"name":"TORCH_NCCL_ASYNC_ERROR_HANDLING","value":"1"},{"name":"PYTHONUNBUFFERED","value":"1"}],"resources":{"limits":{"nvidia.com/gpu":"1"},"requests":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}},"volumeMounts":[{"mountPath":"/dev/shm","name":"shm"},{"mountPath":"/data","name":"data"}]}],"volumes":[{"hostPath":{"path":"/dev/shm","type":"Directory"},"name":"shm"},{"name":"data","persistentVolumeClaim":{"claimName":"fsx"}}]}}`

func pytorchJSON(i int) string {
	return fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"annotations":{"note":"none"},"creationTimestamp":"2026-11-20T10:00:00Z","generation":2,"labels":{"kueue.x-k8s.io/queue-name":"hyperpod-ns-team-localqueue","kueue.x-k8s.io/priority-class":"training-priority","app":"job-%[1]d"},"managedFields":%[2]s,"name":"job-%[1]d","namespace":"hyperpod-ns-team%[3]d","resourceVersion":"%[1]d","uid":"5c1e7a70-0000-4000-8000-%012[1]d"},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":1,"restartPolicy":"Never","template":%[4]s}},"runPolicy":{"cleanPodPolicy":"None","suspend":false}},"status":{"conditions":[{"lastTransitionTime":"2026-11-20T10:00:00Z","lastUpdateTime":"2026-11-20T10:00:00Z","message":"PyTorchJob job-%[1]d is created.","reason":"PyTorchJobCreated","status":"True","type":"Created"},{"lastTransitionTime":"2026-11-20T10:00:09Z","lastUpdateTime":"2026-11-20T10:00:09Z","message":"PyTorchJob hyperpod-ns-team/job-%[1]d is running.","reason":"PyTorchJobRunning","status":"True","type":"Running"}],"replicaStatuses":{"Worker":{"active":1,"selector":"training.kubeflow.org/job-name=job-%[1]d"}},"startTime":"2026-11-20T10:00:05Z"}}`, i, managed(2250), i%20, templateJSON)
}

func workloadJSON(i int) string {
	return fmt.Sprintf(`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"creationTimestamp":"2026-11-20T10:00:00Z","finalizers":["kueue.x-k8s.io/resource-in-use"],"generation":1,"labels":{"kueue.x-k8s.io/job-uid":"5c1e7a70-0000-4000-8000-%012[1]d"},"managedFields":%[2]s,"name":"pytorchjob-job-%[1]d-abcde","namespace":"hyperpod-ns-team%[3]d","ownerReferences":[{"apiVersion":"kubeflow.org/v1","blockOwnerDeletion":true,"controller":true,"kind":"PyTorchJob","name":"job-%[1]d","uid":"5c1e7a70-0000-4000-8000-%012[1]d"}],"resourceVersion":"%[1]d","uid":"6c1e7a70-0000-4000-8000-%012[1]d"},"spec":{"active":true,"podSets":[{"count":1,"name":"worker","template":%[4]s}],"priority":40,"priorityClassRef":{"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"training-priority"},"queueName":"hyperpod-ns-team-localqueue"},"status":{"admission":{"clusterQueue":"hyperpod-ns-team-clusterqueue","podSetAssignments":[{"count":1,"flavors":{"cpu":"ml.p5.48xlarge","memory":"ml.p5.48xlarge","nvidia.com/gpu":"ml.p5.48xlarge"},"name":"worker","resourceUsage":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}}]},"conditions":[{"lastTransitionTime":"2026-11-20T10:00:01Z","message":"Quota reserved in ClusterQueue hyperpod-ns-team-clusterqueue","observedGeneration":1,"reason":"QuotaReserved","status":"True","type":"QuotaReserved"},{"lastTransitionTime":"2026-11-20T10:00:01Z","message":"The workload is admitted","observedGeneration":1,"reason":"Admitted","status":"True","type":"Admitted"}]}}`, i, managed(2600), i%20, templateJSON)
}

func listJSON(kind string, n int, item func(int) string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"apiVersion":"v1","items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	fmt.Fprintf(&b, `],"kind":"%sList","metadata":{"continue":"","resourceVersion":"4711"}}`+"\n", kind)
	return b.Bytes()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, 1) // the level of an API server
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

const benchItems = 2000

// BenchmarkDecode compares ways to decode the same list into the same structs.
func BenchmarkDecode(b *testing.B) {
	b.Run("PyTorchJob", func(b *testing.B) { decoders[wireJob](b, listJSON("PyTorchJob", benchItems, pytorchJSON)) })
	b.Run("Workload", func(b *testing.B) { decoders[wireWorkload](b, listJSON("Workload", benchItems, workloadJSON)) })
	b.Run("WorkloadFull", func(b *testing.B) { decoders[wireWorkloadFull](b, listJSON("Workload", benchItems, workloadJSON)) })
}

func decoders[T any](b *testing.B, data []byte) {
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	type list struct {
		Items []T `json:"items"`
	}
	run("encoding/json", func() error { return json.Unmarshal(data, new(list)) })
	run("sigs.k8s.io/json", func() error { return kjson.UnmarshalCaseSensitivePreserveInts(data, new(list)) })
	run("slim", func() error {
		_, err := slim.List(bytes.NewReader(data), func(*T) {})
		return err
	})
	run("slim, names only", func() error {
		type named struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		_, err := slim.List(bytes.NewReader(data), func(*named) {})
		return err
	})
	zipped := gzipped(data)
	run("gunzip only", func() error {
		r, err := gzip.NewReader(bytes.NewReader(zipped))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, r)
		return err
	})
}

// bigCluster serves 2,000 jobs and their workloads, gzipped.
func bigCluster(t testing.TB) *httptest.Server {
	lists := map[string][]byte{
		kinds.PyTorchJob.Path("", ""): gzipped(listJSON("PyTorchJob", benchItems, pytorchJSON)),
		kinds.Workload.Path("", ""):   gzipped(listJSON("Workload", benchItems, workloadJSON)),
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if group, ok := strings.CutPrefix(r.URL.Path, "/apis/"); ok && !strings.Contains(group, "/") {
			v := map[string]string{"kubeflow.org": "v1", kinds.KueueGroup: "v1beta2"}[group]
			fmt.Fprintf(w, `{"versions":[{"version":%q}],"preferredVersion":{"version":%q}}`, v, v)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(lists[r.URL.Path])
	}))
	t.Cleanup(srv.Close)
	return srv
}

var bigWant = Want{Jobs: []kinds.Job{kinds.PyTorchJob}, Workloads: true}

// A load of 20 MB of JSON must not cost more memory than what is kept of it and
// a few buffers: reading a list as a whole, or decoding all of it, shows here.
func TestLoadIsFrugal(t *testing.T) {
	c := liveClient(t, bigCluster(t))
	load := func() {
		s, err := Load(t.Context(), c, bigWant, now)
		if err != nil || len(s.Jobs) != benchItems || len(s.Workloads) != benchItems {
			t.Fatal(err)
		}
	}
	load() // connections and versions
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	load()
	runtime.ReadMemStats(&after)
	bytes, objects := after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	if bytes > 34<<20 || objects > 230_000 {
		t.Errorf("%d MiB in %d allocations", bytes>>20, objects)
	}
}

// BenchmarkLoad loads 2,000 jobs and their workloads over loopback, as
// list-jobs -A does; "download" is the same with nothing but gunzipping.
func BenchmarkLoad(b *testing.B) {
	srv := bigCluster(b)
	c := liveClient(b, srv)
	b.Run("Load", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := Load(b.Context(), c, bigWant, time.Time{})
			if err != nil || len(s.Jobs) != benchItems || len(s.Workloads) != benchItems {
				b.Fatal(err)
			}
		}
	})
	b.Run("download", func(b *testing.B) {
		b.ReportAllocs()
		paths := []string{kinds.PyTorchJob.Path("", ""), kinds.Workload.Path("", "")}
		for b.Loop() {
			done := make(chan error, len(paths))
			for _, path := range paths {
				go func() {
					resp, err := srv.Client().Get(srv.URL + path)
					if err == nil {
						_, err = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
					done <- err
				}()
			}
			for range paths {
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
