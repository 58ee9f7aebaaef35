package cluster

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// These tests need no cluster.

func TestQuotaOfTeam(t *testing.T) {
	quota := func(team Team) string {
		text, err := json.Marshal(team.flavors())
		must(t, err)
		return string(text)
	}
	john := JohnAndSmith()[0]
	for _, want := range []string{
		`{"borrowingLimit":"6","name":"nvidia.com/gpu","nominalQuota":"12"}`,
		`{"borrowingLimit":"288Gi","name":"memory","nominalQuota":"576Gi"}`,
		`{"borrowingLimit":"0","name":"aws.amazon.com/neurondevice","nominalQuota":"0"}`,
		`{"borrowingLimit":"1","name":"vpc.amazonaws.com/efa","nominalQuota":"3"}`, // rounded down
	} {
		if got := quota(john); !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	john.Sharing = Lend
	if got := quota(john); !strings.Contains(got, `{"borrowingLimit":"0","name":"nvidia.com/gpu","nominalQuota":"12"}`) {
		t.Errorf("a lender should borrow nothing: %s", got)
	}
}

func TestNodesAreDistinctAndComplete(t *testing.T) {
	names := map[string]bool{}
	for _, node := range Nodes("ml.p5.48xlarge", 40) {
		names[field(node, "metadata", "name")] = true
		if got := field(node, "status", "capacity", efaResource); got != "32" {
			t.Fatalf("efa capacity %q", got)
		}
		if got := field(node, "metadata", "labels", "sagemaker.amazonaws.com/node-health-status"); got != "Schedulable" {
			t.Fatalf("health %q", got)
		}
	}
	if len(names) != 40 {
		t.Errorf("%d names for 40 nodes", len(names))
	}
}

func TestKueueConfig(t *testing.T) {
	for version, sharing := range map[string]string{"v1beta1": "enable: true", "v1beta2": "preemptionStrategies:"} {
		shipped := Object{
			"apiVersion":     "config.kueue.x-k8s.io/" + version,
			"leaderElection": Object{"leaderElect": true},
			"integrations":   Object{"frameworks": []any{"batch/job", "kubeflow.org/tfjob"}},
		}
		text, err := kueueConfig(shipped, Options{})
		must(t, err)
		for _, want := range []string{"leaderElect: false", "- kubeflow.org/pytorchjob", sharing} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q in\n%s", version, want, text)
			}
		}
		if n := strings.Count(string(text), "kubeflow.org/tfjob"); n != 1 {
			t.Errorf("%s: tfjob is there %d times", version, n)
		}
	}
	if _, err := kueueConfig(Object{}, Options{}); err == nil {
		t.Error("a configuration without the expected parts should be refused")
	}
}

func TestPinnedModules(t *testing.T) {
	b, err := newBuilder(t.Context(), t.Output())
	must(t, err)
	seen := map[string]Component{}
	for _, c := range slices.Concat(Components(), Optional()) {
		dir, err := b.folder(c)
		if err != nil {
			t.Errorf("%s: %v", c, err)
		}
		if other, twice := seen[dir]; twice {
			t.Errorf("%s and %s share %s", c, other, dir)
		}
		seen[dir] = c
	}
}

func TestRelayPassesHalfCloses(t *testing.T) {
	echo := listener(t)
	go func() {
		conn, err := echo.Accept()
		if err != nil {
			return
		}
		// Answers only once the client has ended its half.
		var text []byte
		buffer := make([]byte, 64)
		for {
			n, err := conn.Read(buffer)
			text = append(text, buffer[:n]...)
			if err != nil {
				break
			}
		}
		conn.Write([]byte(strings.ToUpper(string(text))))
		conn.Close()
	}()
	thread, err := newThread(false)
	must(t, err)
	defer thread.close()
	front := listener(t)
	go relay(front, thread.dial, echo.Addr().String())
	conn, err := net.Dial("tcp", front.Addr().String())
	must(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("hello"))
	must(t, err)
	must(t, conn.(*net.TCPConn).CloseWrite())
	answer := make([]byte, 5)
	if n, err := conn.Read(answer); string(answer[:n]) != "HELLO" {
		t.Errorf("%q, %v", answer[:n], err)
	}
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func TestDropDescriptions(t *testing.T) {
	crd := Object{"spec": Object{"versions": []any{Object{"schema": Object{"description": "long", "properties": Object{
		"description": Object{"type": "string", "description": "longer"},
	}}}}}}
	dropDescriptions(crd)
	text, err := json.Marshal(crd)
	must(t, err)
	if want := `{"spec":{"versions":[{"schema":{"properties":{"description":{"type":"string"}}}}]}}`; string(text) != want {
		t.Errorf("left is %s", text)
	}
}

// The cache keeps the states that were used last.
func TestForgetStates(t *testing.T) {
	cache := t.TempDir()
	for i := range 6 {
		dir := filepath.Join(cache, fmt.Sprint("state-", i))
		must(t, os.MkdirAll(filepath.Join(dir, "member"), 0o700))
		used := time.Unix(int64(100-i), 0)
		must(t, os.Chtimes(dir, used, used))
	}
	must(t, os.WriteFile(filepath.Join(cache, "state.lock"), nil, 0o600))
	must(t, forgetStates(cache))
	left, err := os.ReadDir(cache)
	must(t, err)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "state-0 state-1 state-2 state-3 state.lock" {
		t.Errorf("left: %s", got)
	}
}
