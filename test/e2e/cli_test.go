// Package e2e runs the built binary against the real control plane: the API
// server, Kueue and the operators are the judges, kubectl is the witness.
package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/test/cluster"
	"github.com/hyperpod-cli/hyperpod/test/live"
)

// binary is the command under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	// A type that the product's table does not have.
	cluster.InstanceTypes["ml.p9.48xlarge"] = cluster.InstanceType{VCPU: 100, MemoryGiB: 1000, GPU: 4, EFA: 2}
	dir, err := os.MkdirTemp("", "hyperpod-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "hyperpod")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "../../cmd/hyperpod")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		return 1
	}
	return m.Run()
}

// user is somebody with a kubeconfig.
type user struct {
	t          *testing.T
	kubeconfig string
	home       string
}

func newUser(t *testing.T, kubeconfig string) user {
	return user{t, kubeconfig, t.TempDir()}
}

// in is the same user in a subtest.
func (u user) in(t *testing.T) user { u.t = t; return u }

type result struct {
	stdout, stderr string
	code           int
}

// command returns the command line with a home of its own.
func (u user) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(u.t.Context(), binary, args...)
	cmd.Env = []string{"HOME=" + u.home, "KUBECONFIG=" + u.kubeconfig, "PATH=" + os.Getenv("PATH"), "USER=ada"}
	return cmd
}

// run runs the command line.
func (u user) run(args ...string) result {
	u.t.Helper()
	cmd := u.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// ok runs a command that has to succeed and returns its stdout.
func (u user) ok(args ...string) string {
	u.t.Helper()
	r := u.run(args...)
	if r.code != 0 {
		u.t.Fatalf("hyperpod %v: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

type listed struct {
	Jobs []struct {
		Name, Namespace, CreationTime, State string
		Priority                             *string
	} `json:"jobs"`
}

func (u user) list(args ...string) listed {
	u.t.Helper()
	var l listed
	out := u.ok(append([]string{"list-jobs"}, args...)...)
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		u.t.Fatalf("%v in:\n%s", err, out)
	}
	return l
}

// applyScenario applies a sandbox scenario's objects to the bed.
func applyScenario(t *testing.T, bed *cluster.Bed, name string, withJobs bool) {
	t.Helper()
	if err := live.ApplyScenario(t.Context(), bed, name, withJobs); err != nil {
		t.Fatal(err)
	}
}

// same compares two YAML documents by value.
func same(t *testing.T, what, a, b string) {
	t.Helper()
	var x, y any
	if err := yaml.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(x, y) {
		t.Errorf("%s differ:\n%s\n---\n%s", what, a, b)
	}
}
