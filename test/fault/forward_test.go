package fault_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	fake "github.com/hyperpod-cli/hyperpod/test/aws"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// behindAWS are commands that read AWS and then the API server of a cluster.
var behindAWS = []string{
	"get-clusters -o json",
	"get-clusters -n hyperpod-ns-ml-engineers --group -o json",
	"list-cluster-nodes ml-prod -o json",
	"connect-cluster ml-prod --kubeconfig $DIR/written -n hyperpod-ns-ml-engineers -o name",
	"reboot-cluster-nodes ml-prod i-0aaaaaaaaaaaaaaa1 --yes -o json",
	"delete-cluster ml-prod --yes",
	"governance plan -f ../../examples/teams.yaml --cluster-name ml-prod -o json",
}

// chosen reports whether a run belongs to the short form: one of n.
func chosen(name string, n uint32) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return (*seeds > 0 || h.Sum32()%n == 0 || *only != "") && strings.Contains(name, *only)
}

// TestBehindAWS runs commands for clusters whose API server has every fault, while AWS has none.
func TestBehindAWS(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "base"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	runs, struck, codesSeen, begun := 0, 0, map[int]int{}, time.Now()
	t.Run("runs", func(t *testing.T) {
		for _, line := range behindAWS {
			for _, f := range fault.Chaos() {
				for seed := range max(*seeds, 1) {
					name := fmt.Sprintf("behind AWS: %s, %s, seed %d", line, f, seed)
					if !chosen(name, 6) {
						continue
					}
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						chaos := fault.NewChaos(box, f, uint64(seed))
						code := try(t, line, chaos, func(url string) []string {
							s := fake.New(fake.Options{})
							s.AddCluster(fake.Spec{Name: "ml-prod", EKS: s.AddEKS(fake.EKS{Name: "ml-prod-eks", Server: url}),
								Groups: []fake.GroupSpec{{Name: "workers", InstanceType: "ml.g5.12xlarge", Nodes: []fake.NodeSpec{{ID: "i-0aaaaaaaaaaaaaaa1"}}}}})
							account := httptest.NewServer(s)
							t.Cleanup(account.Close)
							return []string{"AWS_ENDPOINT_URL=" + account.URL, "AWS_ACCESS_KEY_ID=" + fake.AccessKey, "AWS_SECRET_ACCESS_KEY=" + fake.SecretKey, "AWS_REGION=us-west-2"}
						})
						mu.Lock()
						defer mu.Unlock()
						runs++
						codesSeen[code]++
						if chaos.Struck() > 0 {
							struck++
						}
					})
				}
			}
		}
	})
	fmt.Printf("faults behind AWS: %d runs of %d commands behind %d faults, %d struck, exit codes %v, %s\n",
		runs, len(behindAWS), len(fault.Chaos()), struck, codesSeen, time.Since(begun).Round(time.Second))
}

// TestForward runs port-forward behind every fault of the API server. It forwards, or ends with an error in time; a
// connection through it ends; Ctrl-C ends it.
func TestForward(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "base"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	runs, struck, codesSeen, begun := 0, 0, map[int]int{}, time.Now()
	t.Run("runs", func(t *testing.T) {
		for _, f := range fault.Chaos() {
			for seed := range max(*seeds, 1) * 2 {
				name := fmt.Sprintf("port-forward, %s, seed %d", f, seed)
				if !chosen(name, 3) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					chaos := fault.NewChaos(box, f, uint64(seed))
					code := forward(t, chaos)
					mu.Lock()
					defer mu.Unlock()
					runs++
					codesSeen[code]++
					if chaos.Struck() > 0 {
						struck++
					}
				})
			}
		}
	})
	fmt.Printf("faults of port-forward: %d runs behind %d faults, %d struck, exit codes %v, %s\n", runs, len(fault.Chaos()), struck, codesSeen, time.Since(begun).Round(time.Second))
}

var forwarded = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) to port 8080 of pod [a-z0-9-]+\n$`)

// forward runs port-forward, uses a connection, ends it, and returns the exit code.
func forward(t *testing.T, chaos *fault.ChaosProxy) int {
	server := httptest.NewUnstartedServer(chaos)
	server.Config.ErrorLog = nil
	server.Start()
	defer server.Close()
	defer server.CloseClientConnections()
	dir := t.TempDir()
	config := filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: t\nclusters: [{name: t, cluster: {server: %q}}]\ncontexts: [{name: t, context: {cluster: t, user: t}}]\nusers: [{name: t, user: {}}]\n", server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "port-forward", "vit-huge", ":8080", "-n", "hyperpod-ns-researchers", "--request-timeout=2s")
	cmd.Env = []string{asHyperpod + "=" + filepath.Join(dir, "status"), "HOME=" + dir, "KUBECONFIG=" + config, "TZ=UTC", "USER=ada"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := func(format string, a ...any) {
		t.Helper()
		t.Errorf(format+"\nrequests that it struck: %v\nstderr: %.1500s", append(a, chaos.Hits(), stderr.String())...)
	}
	lines := bufio.NewReader(out)
	line, _ := lines.ReadString('\n')
	begun := forwarded.FindStringSubmatch(line)
	if begun != nil {
		if why := throughForward(begun[1]); why != nil {
			t.Errorf("a connection did not end: %v", why)
		}
		_ = cmd.Process.Signal(os.Interrupt)
	}
	rest, _ := io.ReadAll(lines)
	err = cmd.Wait()
	code := 0
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		said("it did not end in %s", deadline)
		return -1
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	switch {
	case begun == nil && (line != "" || !slices.Contains([]int{1, 4, 5, 124}, code) || !strings.Contains(stderr.String(), "Error: ")):
		said("exit code %d, stdout %q", code, line)
	case begun != nil && !slices.Contains([]int{0, 1, 130}, code):
		said("exit code %d after Ctrl-C", code)
	case begun != nil && len(rest) > 0 && rest[len(rest)-1] != '\n':
		said("half a line: %q", rest)
	}
	for _, word := range []string{"panic", "goroutine ", "Error: internal", "runtime error"} {
		if strings.Contains(stderr.String(), word) {
			said("%q on stderr", word)
		}
	}
	for _, file := range leftovers(t, dir) {
		said("the file %s is left", file)
	}
	return code
}

// throughForward sends a request through a forwarded port, and reads until the other end closes. Whether there is an
// answer depends on the fault; that the connection ends does not.
func throughForward(address string) error {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil // port-forward has ended
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	_, _ = io.WriteString(conn, "GET / HTTP/1.0\r\nConnection: close\r\n\r\n")
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
	_, err = io.Copy(io.Discard, conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return err
	}
	return nil
}
