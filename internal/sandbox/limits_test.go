package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// A ResourceQuota refuses pods beyond its amounts, of jobs and others. Pods of a job follow
// when there is room.
func TestResourceQuota(t *testing.T) {
	b := newBench(t, "john-smith")
	b.must(201, "POST", kinds.ResourceQuota.Path(smithNS, ""), `{"metadata":{"name":"q"},"spec":{"hard":{"requests.nvidia.com/gpu":"2","pods":"5","count/configmaps":"1"}}}`)
	used := func(name string) string {
		return object.Text(b.get(kinds.ResourceQuota, smithNS, "q"), "status", "used", name)
	}
	b.create(smithNS, pytorch("j", "smith", 2, 2, lasting("1h")))
	if p := b.podPhases(smithNS, "j"); len(p) != 1 || used("requests.nvidia.com/gpu") != "2" || used("pods") != "1" {
		t.Fatalf("pods %v, used %s GPUs and %s pods", p, used("requests.nvidia.com/gpu"), used("pods"))
	}
	if r := strings.Join(b.reasons(smithNS, "j"), " "); !strings.Contains(r, "FailedCreatePod") {
		t.Errorf("events %s", r)
	}
	a := b.send("POST", kinds.Pod.Path(smithNS, ""), `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"nvidia.com/gpu":1},"limits":{"nvidia.com/gpu":1}}}]}}`)
	if m := object.Text(a.object(t), "message"); a.code != 403 || m != `pods "p" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2` {
		t.Errorf("%d %s", a.code, m)
	}
	b.must(201, "POST", kinds.ConfigMap.Path(smithNS, ""), `{"metadata":{"name":"one"}}`)
	b.must(403, "POST", kinds.ConfigMap.Path(smithNS, ""), `{"metadata":{"name":"two"}}`)
	b.advance(2 * time.Hour)
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "j"); object.True(j, "Succeeded") {
		t.Error("the job ended without its second pod")
	}
	b.must(200, "PATCH", kinds.ResourceQuota.Path(smithNS, "q"), `{"spec":{"hard":{"requests.nvidia.com/gpu":"4"}}}`, mergePatch)
	if p := b.podPhases(smithNS, "j"); len(p) != 2 || used("requests.nvidia.com/gpu") != "4" {
		t.Errorf("pods %v, used %s", p, used("requests.nvidia.com/gpu"))
	}
	b.advance(2 * time.Hour)
	if u := used("requests.nvidia.com/gpu"); u != "0" {
		t.Errorf("after the job %s are used", u)
	}
	b.must(201, "POST", kinds.ResourceQuota.Path(johnNS, ""), `{"metadata":{"name":"cpu"},"spec":{"hard":{"requests.cpu":"9"}}}`)
	a = b.send("POST", kinds.Pod.Path(johnNS, ""), `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	if m := object.Text(a.object(t), "message"); a.code != 403 || m != `pods "p" is forbidden: failed quota: cpu: must specify requests.cpu for: c` {
		t.Errorf("%d %s", a.code, m)
	}
}

// A LimitRange gives containers its defaults and refuses values out of its range.
func TestLimitRange(t *testing.T) {
	b := newBench(t, "john-smith")
	b.must(201, "POST", kinds.LimitRange.Path(smithNS, ""), `{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"100m"},"default":{"memory":"1Gi"}}]}}`)
	p := b.must(201, "POST", kinds.Pod.Path(smithNS, ""), `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	r := object.Map(object.List(p, "spec", "containers")[0], "resources")
	if object.Text(r, "limits", "cpu") != "2" || object.Text(r, "requests", "memory") != "1Gi" || object.Text(r, "requests", "cpu") != "2" {
		t.Errorf("resources %v", r)
	}
	for cpu, says := range map[string]string{
		"3":   `pods "x" is forbidden: maximum cpu usage per Container is 2, but limit is 3`,
		"50m": `pods "x" is forbidden: minimum cpu usage per Container is 100m, but request is 50m`,
	} {
		a := b.send("POST", kinds.Pod.Path(smithNS, ""), `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"`+cpu+`"}}}]}}`)
		if m := object.Text(a.object(t), "message"); a.code != 403 || m != says {
			t.Errorf("%s: %d %s, want %s", cpu, a.code, m, says)
		}
	}
}

// The Pod Security level of a namespace refuses pods, of jobs too, in the words of an API server.
func TestPodSecurity(t *testing.T) {
	b := newBench(t, "john-smith")
	b.must(200, "PATCH", kinds.Namespace.Path("", smithNS), `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`, mergePatch)
	a := b.send("POST", kinds.Pod.Path(smithNS, ""), `{"metadata":{"name":"p"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`)
	if m := object.Text(a.object(t), "message"); a.code != 403 || m != `pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)` {
		t.Errorf("%d %s", a.code, m)
	}
	b.must(201, "POST", kinds.Pod.Path(smithNS, ""), `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	b.must(200, "PATCH", kinds.Namespace.Path("", smithNS), `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`, mergePatch)
	b.must(201, "POST", kinds.PyTorchJob.Path(smithNS, ""), mustJSON(t, pytorch("j", "smith", 1, 1)))
	if p := b.podPhases(smithNS, "j"); len(p) != 0 {
		t.Errorf("pods %v", p)
	}
	if r := strings.Join(b.reasons(smithNS, "j"), " "); !strings.Contains(r, "FailedCreatePod") {
		t.Errorf("events %s", r)
	}
	b.must(200, "PATCH", kinds.Namespace.Path("", smithNS), `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":null}}}`, mergePatch)
	if p := b.podPhases(smithNS, "j"); len(p) != 1 {
		t.Errorf("pods %v", p)
	}
}
