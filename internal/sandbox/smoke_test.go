package sandbox

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"net"
	"context"
	"time"
	"fmt"
	"os"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func dump(t *testing.T, s *Sandbox) {
	for _, k := range kinds.Jobs() {
		for _, o := range s.store.List(k.FullName(), "") {
			var cs []string
			for _, c := range object.List(o.Map(), "status", "conditions") {
				cs = append(cs, object.Text(c, "type")+"="+object.Text(c, "status"))
			}
			t.Log(k.Kind, o.Name, cs, object.Text(o.Map(), "status", "jobStatus"), object.Text(o.Map(), "status", "state"))
		}
	}
	for _, o := range s.store.List("workloads.kueue.x-k8s.io", "") {
		var cs []string
		for _, c := range object.List(o.Map(), "status", "conditions") {
			cs = append(cs, object.Text(c, "type")+"="+object.Text(c, "status"))
		}
		t.Log(o.Name, cs)
	}
	for _, o := range s.store.List("clusterqueues.kueue.x-k8s.io", "") {
		line := o.Name
		for _, f := range object.List(o.Map(), "status", "flavorsUsage") {
			for _, r := range object.List(f, "resources") {
				if object.Text(r, "name") == "nvidia.com/gpu" {
					line += fmt.Sprintf(" %s total %s borrowed %s", object.Text(f, "name"), object.Text(r, "total"), object.Text(r, "borrowed"))
				}
			}
		}
		t.Log(line, object.At(o.Map(), "status", "pendingWorkloads"))
	}
	for _, o := range s.store.List("pods", "") {
		t.Log(o.Namespace, o.Name, object.Text(o.Map(), "status", "phase"), object.Text(o.Map(), "spec", "nodeName"))
	}
	for _, o := range s.store.List("events", "") {
		t.Log(object.Text(o.Map(), "lastTimestamp"), object.Text(o.Map(), "involvedObject", "kind"), object.Text(o.Map(), "involvedObject", "name"), object.Text(o.Map(), "reason"), object.Text(o.Map(), "message"))
	}
}

func TestSmoke(t *testing.T) {
	sc := os.Getenv("SC")
	if sc == "" { sc = "enterprise" }
	p := filepath.Join(t.TempDir(), "x.json")
	t0 := time.Now()
	s, err := Create(p, sc, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("create", time.Since(t0))
	dump(t, s)
	do := func(method, path, body string) string {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		s.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, w.Header(), w.Body.String())
	}
	st, _ := os.Stat(p)
	t.Log("size", st.Size())
	for range 3 {
	t0 = time.Now()
	s, err = Open(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t1 := time.Now()
	t.Log(do("POST", "/apis/kubeflow.org/v1/namespaces/hyperpod-ns-ml-engineers/pytorchjobs", `{"metadata":{"generateName":"ab-","labels":{"kueue.x-k8s.io/queue-name":"hyperpod-ns-ml-engineers-localqueue"}},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"a","image":"i","resources":{"requests":{"nvidia.com/gpu":"8","cpu":"170","memory":"1800Gi"},"limits":{"nvidia.com/gpu":"8"}}}]}}}}}}`))
	t.Log("open", t1.Sub(t0), "create", time.Since(t1))
	}
	t0 = time.Now()
	s.Advance(2*time.Hour+ 30*time.Minute)
	t.Log("advance", time.Since(t0))
	t0 = time.Now()
	s.Advance(1000*time.Hour)
	t.Log("advance", time.Since(t0))
	dump(t, s)
}

func TestServeByHand(t *testing.T) {
	addr := os.Getenv("SANDBOX_SERVE")
	if addr == "" {
		t.Skip()
	}
	p := filepath.Join(t.TempDir(), "x.json")
	if os.Getenv("SANDBOX_FILE") != "" { p = os.Getenv("SANDBOX_FILE") }
	s, err := Open(p, Options{})
	if err != nil {
		s, err = Create(p, "enterprise", Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, c := context.WithTimeout(context.Background(), 2*time.Hour)
	defer c()
	t.Log(s.Serve(ctx, ln))
}
