package fault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

var (
	seeds = flag.Int("seeds", 0, "runs of each command with each fault; 0: about 450 of them once, as in CI")
	only  = flag.String("case", "", "run the cases that contain this text")
)

// asHyperpod makes this program the command line; its value is the file for the status of
// the process at its end.
const asHyperpod = "HYPERPOD_FAULT_SUITE"

func TestMain(m *testing.M) {
	if status := os.Getenv(asHyperpod); status != "" {
		code := cli.Main(os.Args[1:], "v0.0.0-test")
		if left := goroutines(); left != "" {
			_ = os.WriteFile(status+".goroutines", []byte(left), 0o600)
		}
		if text, err := os.ReadFile("/proc/self/status"); err == nil { // rusage counts the parent's memory too
			_ = os.WriteFile(status, text, 0o600)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// goroutines returns the stacks of goroutines of this program that have not ended 5 seconds after its main function.
func goroutines() (text string) {
	for range 100 {
		stacks := make([]byte, 4<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		var left []string
		for _, one := range strings.Split(string(stacks), "\n\n")[1:] { // the first is this one
			if strings.Contains(one, "hyperpod-cli/hyperpod/") && !strings.Contains(one, "cli.interruptible.func") { // that one waits for signals
				left = append(left, one)
			}
		}
		if len(left) == 0 {
			return ""
		}
		text = strings.Join(left, "\n\n")
		time.Sleep(50 * time.Millisecond)
	}
	return text
}

const (
	// deadline is what a command may take: its own limits are 2 s for a request and 4 s for
	// a wait. The rest is for a machine under load.
	deadline = 45 * time.Second
	memory   = 300 << 10 // KiB
)

// suite are the commands. Those that write get a sandbox of their own for each run.
var suite = []struct {
	args   string
	writes bool
}{
	{"list-jobs -A -o json", false},
	{"list-jobs -n hyperpod-ns-researchers --verbose -o json", false},
	{"list-jobs -A -o name", false},
	{"get-job vit-huge -n hyperpod-ns-researchers -o json", false},
	{"get-job vit-huge -n hyperpod-ns-researchers -o table", false},
	{"explain-job dino-giant -n hyperpod-ns-researchers -o json", false},
	{"list-pods vit-huge -n hyperpod-ns-researchers -o json", false},
	{"get-log vit-huge -n hyperpod-ns-researchers --tail 2 -o json", false},
	{"wait-job dino-giant -n hyperpod-ns-researchers --for running --timeout 4s -o json", false},
	{"wait-job dino-giant vit-huge -n hyperpod-ns-researchers --for running --timeout 4s -o json", false},
	{"get-quota -o json", false},
	{"get-queue --no-eta -o json", false},
	{"simulate --remove-team interns -o json", false},
	{"governance audit -o json", false},
	{"governance rbac interns -o json", false},
	{"governance export -o json", false},
	{"governance plan -f ../../examples/teams.yaml -o json", false},
	{"list-templates -n hyperpod-ns-interns -o json", false},
	{"start-job new --template smpv2-llama2 -n hyperpod-ns-interns --dry-run -o json", false},
	{"save-snapshot $DIR/cluster.json -o json", false},
	{"exec vit-huge -n hyperpod-ns-researchers -- hostname", false},
	{"exec vit-huge -n hyperpod-ns-researchers -- sh -c env", false},
	{"copy-file vit-huge:/etc/hostname $DIR/copied -n hyperpod-ns-researchers", false},
	{"copy-file ../../examples/teams.yaml vit-huge:/tmp/teams.yaml -n hyperpod-ns-researchers", true},
	{"start-job new --template smpv2-llama2 -n hyperpod-ns-interns -o json", true},
	{"start-job new --template smpv2-llama2 -n hyperpod-ns-interns", true},
	{"cancel-job vit-huge -n hyperpod-ns-researchers --yes -o json", true},
	{"patch-job suspend vit-huge -n hyperpod-ns-researchers -o json", true},
	{"patch-job unsuspend vit-huge -n hyperpod-ns-researchers -o json", true},
	{"patch-job priority dino-giant -n hyperpod-ns-researchers --priority training -o json", true},
	{"create-template mine --from pytorch --team -n hyperpod-ns-interns -o name", true},
	{"cancel-job vit-huge dino-giant -n hyperpod-ns-researchers --yes --wait --timeout 4s", true},
	{"start-job -f testdata/several.yaml -n hyperpod-ns-interns", true},
	{"start-job -f testdata/several.yaml -n hyperpod-ns-interns --dry-run -o json", false},
	{"start-job -f testdata/podgroup.yaml -n hyperpod-ns-interns", true},
	{"start-job new --template smpv2-llama2 -n hyperpod-ns-interns --upload testdata/code --upload-pvc shared --priority inference --timeout 6s", true},
	{"governance apply -f ../../examples/teams.yaml --yes --backup none --timeout 4s", true},
	{"governance rbac interns --apply --yes", true},
	{"governance rbac interns --verify -o json", false},
	{"start-job new --from vit-huge -n hyperpod-ns-researchers", true},
	{"start-job new --template smpv2-llama2 -n hyperpod-ns-interns --sweep seed=1..3", true},
	{"copy-file testdata/code vit-huge:/tmp/code -n hyperpod-ns-researchers", true},
	{"get-queue researchers -o json", false},
	{"governance check -f ../../examples/teams.yaml --live -o json", false},
	{"get-usage -A -o json", false},
	{"report -n hyperpod-ns-researchers -o json", false},
	{"doctor -o json", false},
	{"dashboard", false},
	{"get-template team/mine -n hyperpod-ns-interns -o json", false},
	{"list-instance-types -o json", false},
	{"delete-template mine --yes -n hyperpod-ns-interns", false},
}

// codes are the exit codes that a command with a valid command line may have.
var codes = []int{0, 1, 3, 4, 5, 8, 124}

// TestSuite runs every command behind every fault. Each run ends in time, with a code of
// the contract, with a whole document or none on stdout, and with an error that says what
// failed; nothing is created twice.
func TestSuite(t *testing.T) {
	file := enterprise(t)
	box := open(t, file)
	writes := map[string]bool{}
	var lines []string
	for _, c := range suite {
		lines = append(lines, c.args)
		writes[c.args] = c.writes
	}
	matrix{title: "faults", lines: lines, oneOf: 5,
		each: func(t *testing.T, line string, kind string, seed uint64) (int, *fault.ChaosProxy) {
			server := box
			if writes[line] {
				server = open(t, file)
			}
			chaos := fault.NewChaos(server, kind, seed)
			return try(t, line, chaos, nil), chaos
		}}.run(t)
}

// enterprise returns the file of a sandbox with jobs, teams and a volume claim.
func enterprise(t *testing.T) []byte {
	t.Helper()
	base := filepath.Join(t.TempDir(), "base"+sandbox.Extension)
	box, err := sandbox.Create(context.Background(), base, "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claim := httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/hyperpod-ns-interns/persistentvolumeclaims",
		strings.NewReader(`{"metadata":{"name":"shared"},"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}}`))
	answer := httptest.NewRecorder()
	if box.ServeHTTP(answer, claim); answer.Code != http.StatusCreated {
		t.Fatal(answer.Body)
	}
	file, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// open opens a copy of a sandbox.
func open(t *testing.T, file []byte) *sandbox.Sandbox {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own"+sandbox.Extension)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := sandbox.Open(path, sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// try runs a command behind a fault and returns its exit code.
// environ are variables that lead to the server instead of a kubeconfig.
func try(t *testing.T, line string, chaos *fault.ChaosProxy, environ func(url string) []string) int {
	server, dir, environment := serve(t, chaos)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Fields(strings.ReplaceAll(line, "$DIR", dir))
	args = slices.Insert(args, 1, "--request-timeout=2s")
	if args[0] == "governance" || args[0] == "patch-job" {
		args[1], args[2] = args[2], args[1]
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = environment
	if environ != nil {
		cmd.Env = append(cmd.Env, environ(server.URL)...)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	report := func(format string, a ...any) {
		t.Helper()
		t.Errorf(format+"\nrequests that it struck: %v\nstdout: %.400s\nstderr: %.1500s", append(a, chaos.Hits(), stdout.String(), stderr.String())...)
	}
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
	if !slices.Contains(codes, code) {
		report("exit code %d", code)
	}
	undecided := strings.Contains(stdout.String(), `"Verdict": "Unknown"`) // the document has the reason
	if slices.Contains([]int{1, 4, 5}, code) && !strings.Contains(stderr.String(), "Error: ") && !undecided {
		report("exit code %d without an error", code)
	}
	reportCrash(stderr.String(), report)
	if strings.Contains(line, "-o json") {
		for d := json.NewDecoder(bytes.NewReader(stdout.Bytes())); ; {
			var v any
			if err := d.Decode(&v); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				report("stdout is half a document: %v", err)
				break
			}
		}
	}
	if code == 0 && stdout.Len() == 0 {
		report("success without a result")
	}
	reportLeftovers(t, dir, report)
	if n := chaos.Count("POST", "SageMaker.CreateCluster"); n > 1 {
		report("%d clusters were created", n)
	}
	want := 0
	if strings.HasPrefix(line, "start-job") && !strings.Contains(line, "--dry-run") {
		want = 1
		if strings.Contains(line, "several.yaml") {
			want = 2
		}
		if strings.Contains(line, "--sweep") {
			want = 3
		}
	}
	created, removed := chaos.Count("POST", "/pytorchjobs"), chaos.Count("DELETE", "/pytorchjobs/new")+chaos.Count("DELETE", "/pytorchjobs/one")+chaos.Count("DELETE", "/pytorchjobs/two")
	if pods := chaos.Count("POST", "/hyperpod-ns-interns/pods"); pods > 2 {
		report("%d pods were created", pods)
	}
	if created-removed > want {
		report("%d jobs were created", created)
	} else if want > 0 && !strings.Contains(line, "testdata/podgroup") {
		switch {
		case code == 0 && created-removed != want:
			report("success, and %d jobs were created", created)
		case code != 0 && created-removed > 0 && !strings.Contains(line, "--wait") && !strings.Contains(line, "--sweep") && !strings.Contains(stderr.String(), "cannot tell whether"):
			report("a job was created, and the error does not report it")
		}
	}
	return code
}

// reportCrash reports words of a crash in what a command printed.
func reportCrash(printed string, report func(string, ...any)) {
	for _, word := range []string{"panic", "goroutine ", "Error: internal", "internal error", "runtime error"} {
		if strings.Contains(printed, word) {
			report("it printed %q", word)
		}
	}
}

// reportLeftovers reports what a command left in its home folder, goroutines that it left, and memory beyond the limit.
func reportLeftovers(t *testing.T, dir string, report func(string, ...any)) {
	t.Helper()
	if text, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
		_, peak, _ := strings.Cut(string(text), "VmHWM:")
		var kib int
		if _, err := fmt.Sscan(peak, &kib); err == nil && kib > memory {
			report("%d MiB of memory", kib>>10)
		}
	}
	for _, file := range leftovers(t, dir) {
		report("the file %s is left", file)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "status.goroutines")); err == nil {
		report("goroutines are left: %.4000s", text)
	}
}

// leftovers are the temporary files and locks below a folder. A lock that the kernel holds
// for a process may stay as an empty file.
func leftovers(t *testing.T, dir string) (out []string) {
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".tmp") {
			out = append(out, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return out
}
