// Package counts holds what commands cost in things that can be counted: requests, bytes of the answers, allocations, and
// the work before main. Times depend on the machine and are measured by bench; counts are the same everywhere.
package counts

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/test/fixture"
)

var update = flag.Bool("update", false, "write counts.json")

// counts is what one command costs.
type counts struct {
	// Requests to the API server, once the served versions are known, and the size of the answers without compression.
	Requests, AnswerKB int
	// Allocations of the command and their size, the test's server included.
	Allocations, AllocatedKB int
}

// slack is how much more than in the file a command may allocate: the order of goroutines changes a thousandth, another version of Go more.
const slack = 1.05

// file is counts.json.
type file struct {
	Commands map[string]counts
	// Start is what the initialization of all packages allocates, in every run of the program.
	Start struct{ Allocations, AllocatedKB int }
}

func TestCounts(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	jobs := filepath.Join(t.TempDir(), "job.json")
	data, err := json.Marshal(fixture.Job("counted", 4, 1, ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(jobs, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, want := file{Commands: map[string]counts{}}, file{}
	for _, c := range []struct {
		name   string
		server *fixture.Server
		args   []string
		exit   errs.Exit
	}{
		{"list-jobs -A, 1,000 jobs", fixture.Jobs(1000), []string{"list-jobs", "-A", "-o", "table"}, errs.OK},
		{"get-quota, 100 queues", fixture.Queues(100), []string{"get-quota", "-o", "table"}, errs.OK},
		{"get-queue, 20 queues, 1,200 workloads", fixture.Teams(20, ""), []string{"get-queue", "-o", "table"}, errs.OK},
		{"start-job --dry-run, 20 queues, 1,200 workloads", fixture.Teams(20, ""), []string{"start-job", "-f", jobs, "-n", "team-03", "--dry-run", "-o", "json"}, errs.Pending},
		{"explain-job, 1,000 jobs", fixture.Jobs(1000), []string{"explain-job", "train-00042", "-n", "team-02", "-o", "json"}, errs.OK},
	} {
		got.Commands[c.name] = count(t, c.server, c.args, c.exit)
	}
	got.Start.Allocations, got.Start.AllocatedKB = start(t)

	const path = "counts.json"
	if *update {
		data, err := json.MarshalIndent(got, "", " ")
		if err == nil {
			err = os.WriteFile(path, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err = os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Commands) != len(want.Commands) {
		t.Errorf("%d commands, %s has %d: run go test ./test/counts -update", len(got.Commands), path, len(want.Commands))
	}
	for name, now := range got.Commands {
		was := want.Commands[name]
		if now.Requests != was.Requests || now.AnswerKB != was.AnswerKB {
			t.Errorf("%s: %d requests and %d KB of answers, want %d and %d", name, now.Requests, now.AnswerKB, was.Requests, was.AnswerKB)
		}
		within(t, name+": allocations", now.Allocations, was.Allocations)
		within(t, name+": KB allocated", now.AllocatedKB, was.AllocatedKB)
	}
	within(t, "start: allocations", got.Start.Allocations, want.Start.Allocations)
	within(t, "start: KB allocated", got.Start.AllocatedKB, want.Start.AllocatedKB)
}

func within(t *testing.T, what string, now, was int) {
	t.Helper()
	t.Logf("%s: %d (%d in the file)", what, now, was)
	if float64(now) > float64(was)*slack {
		t.Errorf("%s: %d, more than %.2f of the %d in counts.json. If this is worth it, run go test ./test/counts -update", what, now, slack, was)
	}
}

// counted is how often a command is counted. The least counts: requests that overlap need more buffers at a time, until
// the pools have enough.
const counted = 3

// count runs a command once to learn the served versions, and some times more to count.
func count(t *testing.T, api http.Handler, args []string, exit errs.Exit) counts {
	t.Helper()
	counter := &fixture.Counter{API: api}
	server := httptest.NewServer(counter)
	defer server.Close()
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: c, cluster: {server: %q}}]\n"+
		"contexts: [{name: a, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n", server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "KUBECONFIG": kubeconfig}
	run := func() {
		var stdout, stderr bytes.Buffer
		f := &factory.Factory{IO: &output.IO{In: &bytes.Buffer{}, Out: &stdout, Err: &stderr}, Env: func(name string) string { return env[name] },
			Now: func() time.Time { return fixture.Noon }, Version: "v0.0.0-counts"}
		if code := cli.Run(context.Background(), f, args); code != exit {
			t.Fatalf("%v: exit code %d, want %d: %s", args, code, exit, stderr.String())
		}
	}
	// Without a collector, the pools that the first run fills stay filled.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	run()
	var least counts
	for n := range counted {
		counter.Reset()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		now := counts{int(counter.Requests.Load()), int(counter.Bytes.Load()) / 1000, int(after.Mallocs - before.Mallocs), int(after.TotalAlloc-before.TotalAlloc) / 1000}
		if n > 0 {
			now.Allocations, now.AllocatedKB = min(now.Allocations, least.Allocations), min(now.AllocatedKB, least.AllocatedKB)
		}
		least = now
	}
	return least
}

// initialized is a line of GODEBUG=inittrace=1.
var initialized = regexp.MustCompile(`(?m)^init \S+ @.* (\d+) bytes, (\d+) allocs$`)

// start runs this test's program, which has all packages of the command line, without a test.
func start(t *testing.T) (allocations, kb int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := initialized.FindAllSubmatch(out, -1)
	if len(lines) < 100 {
		t.Fatalf("only %d packages are initialized: %s", len(lines), out)
	}
	for _, l := range lines {
		bytes, _ := strconv.Atoi(string(l[1])) // \d+
		n, _ := strconv.Atoi(string(l[2]))
		allocations, kb = allocations+n, kb+bytes
	}
	return allocations, kb / 1000
}
