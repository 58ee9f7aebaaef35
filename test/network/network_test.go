//go:build linux

// Package network holds that no command sends a packet to anything but the servers that it
// was given: there is no telemetry and no check for updates.
package network

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
)

// The roles of this program.
const (
	role       = "HYPERPOD_NETWORK_TEST"
	asHyperpod = "hyperpod"
	inside     = "inside"
)

func TestMain(m *testing.M) {
	if os.Getenv(role) == asHyperpod {
		os.Exit(cli.Main(os.Args[1:], "v0.0.0-test"))
	}
	os.Exit(m.Run())
}

// commands need the API server of $KUBECONFIG, AWS, or neither.
var commands = []string{
	"version",
	"--help",
	"completion bash",
	"list-templates",
	"list-instance-types",
	"validate-template pytorch",
	"start-job x --template smpv2-llama2 -n hyperpod-ns-interns --dry-run=client",
	"list-jobs --sandbox -A",
	"get-quota --sandbox",
	"list-jobs -A",
	"get-job vit-huge -n hyperpod-ns-researchers",
	"explain-job dino-giant -n hyperpod-ns-researchers",
	"get-log vit-huge -n hyperpod-ns-researchers --tail 1",
	"exec vit-huge -n hyperpod-ns-researchers -- hostname",
	"get-quota",
	"get-queue",
	"simulate --remove-team interns",
	"governance audit",
	"governance export",
	"save-snapshot $DIR/cluster.json --force",
	"start-job new --template smpv2-llama2 -n hyperpod-ns-interns",
	"wait-job vit-huge -n hyperpod-ns-researchers --for running",
	"cancel-job new -n hyperpod-ns-interns --yes",
	"get-clusters",
	"connect-cluster ml-prod --kubeconfig $DIR/other",
	"list-cluster-nodes ml-prod",
	"get-token ml-prod-eks --region us-west-2",
}

// TestNoConnections runs the commands in a network of their own, in which every address is
// on the loopback interface. The kernel counts connections that are begun, and datagrams:
// no name may be looked up, and each connection must be one that the servers accepted.
func TestNoConnections(t *testing.T) {
	if os.Getenv(role) == inside {
		runInside(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can make a network namespace")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("iproute2 is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestNoConnections$", "-test.v")
	cmd.Env = append(os.Environ(), role+"="+inside)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(err.Error(), "operation not permitted") {
		t.Skip("this machine allows no network namespaces")
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("%v\n%s", err, out)
		return
	}
	fmt.Printf("network: %d commands\n", len(commands))
}

func runInside(t *testing.T) {
	ip := func(line string) {
		t.Helper()
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	ip("link set lo up")
	ip("route add local default dev lo")
	before := counted(t)
	c, err := net.Dial("udp", "203.0.113.1:53")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if c, err := net.Dial("tcp", "203.0.113.1:443"); err == nil {
		c.Close()
		t.Fatal("somebody answers for another host")
	}
	if now := counted(t); now.datagrams == before.datagrams || now.connections == before.connections {
		t.Fatal("a connection to another host is not counted")
	}

	dir := t.TempDir()
	box, err := sandbox.Create(t.Context(), filepath.Join(dir, "box"+sandbox.Extension), sandbox.DefaultScenario, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var accepted atomic.Int64
	serve := func(s *httptest.Server, start func()) *httptest.Server {
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.Listener = counting{s.Listener, &accepted}
		start()
		return s
	}
	plain := httptest.NewUnstartedServer(box)
	serve(plain, plain.Start)
	defer plain.Close()
	defer plain.CloseClientConnections()
	account := fake.New(fake.Options{})
	api := httptest.NewUnstartedServer(account.Guard("ml-prod-eks", box))
	serve(api, api.StartTLS)
	defer api.Close()
	defer api.CloseClientConnections()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	account.AddCluster(fake.Spec{Name: "ml-prod", EKS: account.AddEKS(fake.EKS{Name: "ml-prod-eks", Server: api.URL, CA: ca}),
		Groups: []fake.GroupSpec{{Name: "workers", InstanceType: "ml.g5.12xlarge", Nodes: []fake.NodeSpec{{ID: "i-0aaaaaaaaaaaaaaa1"}}}}})
	endpoint := httptest.NewUnstartedServer(account)
	serve(endpoint, endpoint.Start)
	defer endpoint.Close()

	config := filepath.Join(dir, "config")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: t\nclusters: [{name: t, cluster: {server: %q}}]\ncontexts: [{name: t, context: {cluster: t, user: t}}]\nusers: [{name: t, user: {}}]\n", plain.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range commands {
		before, had := counted(t), accepted.Load()
		cmd := exec.CommandContext(t.Context(), self, strings.Fields(strings.ReplaceAll(line, "$DIR", dir))...)
		cmd.WaitDelay = time.Second
		cmd.Env = []string{role + "=" + asHyperpod, "HOME=" + dir, "KUBECONFIG=" + config, "PATH=" + os.Getenv("PATH"), "USER=ada", "TZ=UTC",
			"AWS_ENDPOINT_URL=" + endpoint.URL, "AWS_ACCESS_KEY_ID=" + fake.AccessKey, "AWS_SECRET_ACCESS_KEY=" + fake.SecretKey, "AWS_REGION=us-west-2"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%.1000s", line, err, out)
		}
		now := counted(t)
		if now.datagrams != before.datagrams {
			t.Errorf("%s sent %d datagrams: it looked up a name", line, now.datagrams-before.datagrams)
		}
		// A connection is accepted after it was begun, perhaps after the command has ended.
		begun := now.connections - before.connections
		for end := time.Now().Add(5 * time.Second); accepted.Load()-had != begun && time.Now().Before(end); {
			runtime.Gosched()
		}
		if got := accepted.Load() - had; got != begun {
			t.Errorf("%s began %d connections, and the servers that it was given accepted %d", line, begun, got)
		}
	}
}

// counting counts the connections that a server accepts.
type counting struct {
	net.Listener
	n *atomic.Int64
}

func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.n.Add(1)
	}
	return c, err
}

// counts are what the kernel counts in a network.
type counts struct{ connections, datagrams int64 }

func counted(t *testing.T) (out counts) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		head, seen := names[words[0]]
		if !seen {
			names[words[0]] = words
			continue
		}
		for i, name := range head {
			var to *int64
			switch words[0] + name {
			case "Tcp:ActiveOpens":
				to = &out.connections
			case "Udp:OutDatagrams":
				to = &out.datagrams
			default:
				continue
			}
			if *to, err = strconv.ParseInt(words[i], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}
