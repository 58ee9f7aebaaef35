package fault_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// TestBehindAWS runs commands for clusters whose API server has every fault, while AWS has none.
func TestBehindAWS(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "base"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	matrix{title: "faults behind AWS", prefix: "behind AWS: ", lines: behindAWS, oneOf: 6,
		each: func(t *testing.T, line string, kind string, seed uint64) (int, *fault.ChaosProxy) {
			chaos := fault.NewChaos(box, kind, seed)
			return try(t, line, chaos, func(url string) []string {
				s := fake.New(fake.Options{})
				s.AddCluster(fake.Spec{Name: "ml-prod", EKS: s.AddEKS(fake.EKS{Name: "ml-prod-eks", Server: url}),
					Groups: []fake.GroupSpec{{Name: "workers", InstanceType: "ml.g5.12xlarge", Nodes: []fake.NodeSpec{{ID: "i-0aaaaaaaaaaaaaaa1"}}}}})
				account := httptest.NewServer(s)
				t.Cleanup(account.Close)
				return credentials(account.URL)
			}), chaos
		}}.run(t)
}

// TestForward runs port-forward behind every fault of the API server. It forwards, or ends with an error in time; a
// connection through it ends; Ctrl-C ends it.
func TestForward(t *testing.T) {
	box, err := sandbox.Create(context.Background(), filepath.Join(t.TempDir(), "base"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	matrix{title: "faults of port-forward", lines: []string{"port-forward"}, oneOf: 3, repeat: 2,
		each: func(t *testing.T, _, kind string, seed uint64) (int, *fault.ChaosProxy) {
			chaos := fault.NewChaos(box, kind, seed)
			return forward(t, chaos), chaos
		}}.run(t)
}

var forwarded = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) to port 8080 of pod [a-z0-9-]+\n$`)

// forward runs port-forward, uses a connection, ends it, and returns the exit code.
func forward(t *testing.T, chaos *fault.ChaosProxy) int {
	_, dir, environment := serve(t, chaos)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "port-forward", "vit-huge", ":8080", "-n", "hyperpod-ns-researchers", "--request-timeout=2s")
	cmd.Env = environment
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	report := func(format string, a ...any) {
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
		report("it did not end in %s", deadline)
		return -1
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	switch {
	case begun == nil && (line != "" || !slices.Contains([]int{1, 4, 5, 124}, code) || !strings.Contains(stderr.String(), "Error: ")):
		report("exit code %d, stdout %q", code, line)
	case begun != nil && !slices.Contains([]int{0, 1, 130}, code):
		report("exit code %d after Ctrl-C", code)
	case begun != nil && len(rest) > 0 && rest[len(rest)-1] != '\n':
		report("half a line: %q", rest)
	}
	reportCrash(stderr.String(), report)
	reportLeftovers(t, dir, report)
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
