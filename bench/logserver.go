package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// logServer is as much of an API server as following a job's logs takes: one job,
// its pods, and a log of each that grows at a rate and then ends.
type logServer struct {
	pods   int
	rate   int // lines a second of all pods together
	perPod int // lines of each pod
	// firstByte is when the first line was sent, in Unix nanoseconds.
	firstByte atomic.Int64
	sending   sync.WaitGroup
	over      chan struct{} // closed when every log was sent
}

func newLogServer(pods, rate int, d time.Duration) *logServer {
	s := &logServer{pods: pods, rate: rate, perPod: int(float64(rate)*d.Seconds()) / pods, over: make(chan struct{})}
	s.sending.Add(pods)
	go func() { s.sending.Wait(); close(s.over) }()
	return s
}

const (
	logNamespace = "bench"
	logSelector  = "training.kubeflow.org/job-name=bench"
)

type object = map[string]any

func (s *logServer) job(done bool) object {
	o := object{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
		"metadata": object{"name": "bench", "namespace": logNamespace, "uid": "bench", "resourceVersion": "1", "creationTimestamp": "2026-01-02T03:00:00Z"},
		"spec": object{"pytorchReplicaSpecs": object{"Worker": object{"replicas": s.pods, "template": object{
			"spec": object{"containers": []any{object{"name": "pytorch"}}}}}}},
		"status": object{"conditions": []any{object{"type": "Running", "status": "True"}}}}
	if done {
		o["status"] = object{"conditions": []any{object{"type": "Succeeded", "status": "True"}}}
	}
	return o
}

func (s *logServer) pod(i int, done bool) object {
	state, phase := object{"running": object{"startedAt": "2026-01-02T03:00:10Z"}}, "Running"
	id := fmt.Sprintf("containerd://%d", i)
	if done {
		state = object{"terminated": object{"exitCode": 0, "reason": "Completed", "containerID": id, "finishedAt": "2026-01-02T04:00:00Z"}}
		phase = "Succeeded"
	}
	return object{"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": fmt.Sprintf("bench-worker-%d", i), "namespace": logNamespace, "uid": fmt.Sprintf("uid-%d", i), "resourceVersion": "1",
			"creationTimestamp": "2026-01-02T03:00:00Z", "labels": object{"training.kubeflow.org/job-name": "bench",
				"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": fmt.Sprint(i)}},
		"spec": object{"nodeName": "node", "containers": []any{object{"name": "pytorch", "image": "i"}}},
		"status": object{"phase": phase, "containerStatuses": []any{object{"name": "pytorch", "containerID": id, "restartCount": 0, "image": "i", "imageID": "",
			"ready": !done, "state": state, "lastState": object{}}}}}
}

func (s *logServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	w.Header().Set("Content-Type", "application/json")
	switch last := parts[len(parts)-1]; {
	case r.URL.Path == "/apis/kubeflow.org":
		fmt.Fprint(w, `{"kind":"APIGroup","apiVersion":"v1","name":"kubeflow.org","versions":[{"groupVersion":"kubeflow.org/v1","version":"v1"}]}`)
	case last == "log":
		s.log(w, r)
	case last == "pods", last == "pytorchjobs":
		s.list(w, r, last == "pods")
	case last == "bench" && len(parts) > 4:
		_ = json.NewEncoder(w).Encode(s.job(false))
	case r.URL.Path == "/api/v1/namespaces/"+logNamespace:
		_ = json.NewEncoder(w).Encode(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": logNamespace}})
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not here"}`)
	}
}

// list lists and watches. The only changes are the ends.
func (s *logServer) list(w http.ResponseWriter, r *http.Request, pods bool) {
	all := func(done bool) []object {
		if !pods {
			return []object{s.job(done)}
		}
		var out []object
		for i := range s.pods {
			out = append(out, s.pod(i, done))
		}
		return out
	}
	if r.URL.Query().Get("watch") == "" {
		kind := object{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJobList"}
		if pods {
			kind = object{"apiVersion": "v1", "kind": "PodList"}
		}
		kind["metadata"], kind["items"] = object{"resourceVersion": "1"}, all(false)
		_ = json.NewEncoder(w).Encode(kind)
		return
	}
	if v := r.URL.Query().Get("resourceVersion"); v == "" || v == "0" {
		for _, o := range all(false) {
			_ = json.NewEncoder(w).Encode(object{"type": "ADDED", "object": o})
		}
	}
	w.(http.Flusher).Flush()
	select {
	case <-s.over:
	case <-r.Context().Done():
		return
	}
	for _, o := range all(true) {
		o["metadata"].(object)["resourceVersion"] = "2"
		_ = json.NewEncoder(w).Encode(object{"type": "MODIFIED", "object": o})
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// log sends a pod's lines as they fall due, some at a time as containers write.
func (s *logServer) log(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	if r.URL.Query().Get("follow") != "true" {
		return // the rest of a log that ended: none
	}
	begun := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var b []byte
	for n := 0; n < s.perPod; {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
		due := min(s.perPod, int(time.Since(begun).Seconds()*float64(s.rate)/float64(s.pods)))
		b = b[:0]
		for ; n < due; n++ {
			b = time.Now().UTC().AppendFormat(b, "2006-01-02T15:04:05.000000000Z07:00")
			b = fmt.Appendf(b, " epoch 3 step %d loss 2.3471 throughput 18234 tokens/s grad_norm 0.734 lr 3.0e-04 mem 71.2GiB\n", n)
		}
		if len(b) > 0 {
			s.firstByte.CompareAndSwap(0, time.Now().UnixNano())
			_, _ = w.Write(b)
			w.(http.Flusher).Flush()
		}
	}
	s.sending.Done()
	select {
	case <-s.over:
	case <-r.Context().Done():
	}
}
