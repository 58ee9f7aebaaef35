// Package worlds drives random commands of several users against a sandbox and checks what
// must hold after each: a model-based test. A failing sequence is shrunk and printed as a
// script.
package worlds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// scenario is the sandbox of a world; its five teams share one cohort, but for one.
const scenario = "enterprise"

var (
	teams      = []string{"data-platform", "inference", "interns", "ml-engineers", "researchers"}
	users      = []string{"ada", "grace", "linus"}
	priorities = []string{"training", "experiment", "fine-tuning", "inference"}
	types      = []string{"ml.p5.48xlarge", "ml.p4d.24xlarge"}
)

// step is a command of a user, or a change of a queue as kubectl makes it.
type step struct {
	user string
	args []string
	// queue and patch are a change of a ClusterQueue.
	queue, patch string
}

// String is the step as a line of a script.
func (s step) String() string {
	if s.queue != "" {
		return fmt.Sprintf("kubectl patch clusterqueue %s --type json -p '%s'", s.queue, s.patch)
	}
	return "USER=" + s.user + " hyperpod " + strings.Join(s.args, " ")
}

// randomSteps makes a world. Names repeat, so that commands meet jobs that exist, that
// ended, and that never were.
func randomSteps(r *rand.Rand, n int) []step {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	job := func() string { return fmt.Sprintf("j%d", r.IntN(8)) }
	var out []step
	for range n {
		s := step{user: pick(users)}
		team := pick(teams)
		where := []string{"-n", "hyperpod-ns-" + team}
		switch k := r.IntN(20); {
		case k < 8:
			s.args = append([]string{"start-job", "--template", "pytorch", "--name", job(), "--image", "a", "--command", "b", "--instance-type", pick(types),
				"--node-count", fmt.Sprint(1 + r.IntN(3)), "--accelerators", pick([]string{"1", "4", "8"}), "--priority", pick(priorities)}, where...)
		case k < 11:
			s.args = append([]string{"cancel-job", job(), "--yes"}, where...)
		case k < 13:
			s.args = append([]string{"patch-job", pick([]string{"suspend", "unsuspend"}), job()}, where...)
		case k < 15:
			s.args = append([]string{"patch-job", "priority", job(), "--priority", pick(priorities)}, where...)
		case k < 18:
			s.args = []string{"sandbox", "advance", pick([]string{"1m", "20m", "3h"})}
		default:
			s.queue = "hyperpod-ns-" + team + "-clusterqueue"
			s.patch = fmt.Sprintf(`[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/%d/nominalQuota","value":"%d"}]`, r.IntN(3), 8*r.IntN(5))
		}
		out = append(out, s)
	}
	return out
}

// world is a sandbox and what is known of its jobs.
type world struct {
	dir string
	now time.Time
	// present are the jobs that must be listed; namespace/name.
	present map[string]bool
	// reserved is quota that was reserved after the last step, by queue and flavor.
	reserved map[string]int64
}

func newWorld(dir string) *world {
	return &world{dir: dir, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), present: map[string]bool{}, reserved: map[string]int64{}}
}

// run runs a command of a user and returns what it printed.
func (w *world) run(ctx context.Context, user string, args ...string) (errs.Exit, string, string) {
	var stdout, stderr bytes.Buffer
	env := map[string]string{"HOME": w.dir, "USER": user, "TZ": "UTC", "HYPERPOD_SANDBOX": scenario}
	now := w.now
	f := &factory.Factory{IO: &output.IO{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, Env: func(name string) string { return env[name] },
		Now: func() time.Time { return now }, Version: "v0.0.0-test"}
	code := cli.Run(ctx, f, args)
	return code, stdout.String(), stderr.String()
}

// read runs a command that must print a document.
func (w *world) read(ctx context.Context, to any, args ...string) error {
	code, stdout, stderr := w.run(ctx, users[0], args...)
	if code != errs.OK {
		return fmt.Errorf("%s: exit code %d: %s", strings.Join(args, " "), code, stderr)
	}
	return json.Unmarshal([]byte(stdout), to)
}

// usual are the exit codes of commands about jobs that may be absent or in another state.
var usual = []errs.Exit{errs.OK, errs.Failure, errs.Usage, errs.No, errs.NotFound, errs.Pending}

// do carries out a step and checks the world after it.
func (w *world) do(ctx context.Context, s step) error {
	w.now = w.now.Add(time.Minute)
	if s.queue != "" {
		if err := w.patch(s); err != nil {
			return err
		}
		return w.check(ctx)
	}
	var promised string
	if s.args[0] == "start-job" {
		var verdict struct{ Verdict string }
		code, stdout, _ := w.run(ctx, s.user, append(slices.Clone(s.args), "--dry-run", "-o", "json")...)
		if json.Unmarshal([]byte(stdout), &verdict) == nil && code != errs.Usage {
			promised = verdict.Verdict
		}
	}
	code, _, stderr := w.run(ctx, s.user, s.args...)
	if !slices.Contains(usual, code) || strings.Contains(stderr, "Error: internal") {
		return fmt.Errorf("exit code %d: %s", code, stderr)
	}
	var key string
	if at := slices.Index(s.args, "-n"); at > 0 {
		name := s.args[1]
		if s.args[0] == "start-job" {
			name = s.args[slices.Index(s.args, "--name")+1]
		}
		key = s.args[at+1] + "/" + name
	}
	switch {
	case s.args[0] == "start-job" && code == errs.OK:
		w.present[key] = true
	case s.args[0] == "cancel-job" && code == errs.OK:
		delete(w.present, key)
	}
	if s.args[0] == "start-job" && code == errs.OK && promised != "" {
		if err := w.kept(ctx, key, promised); err != nil {
			return err
		}
	}
	return w.check(ctx)
}

// patch changes a queue.
func (w *world) patch(s step) error {
	path := filepath.Join(w.dir, ".local", "state", "hyperpod", "sandboxes", scenario+sandbox.Extension)
	box, err := sandbox.Open(path, sandbox.Options{Now: func() time.Time { return w.now }})
	if err != nil {
		return err
	}
	req := httptest.NewRequest("PATCH", kinds.ClusterQueue.Path("", s.queue), strings.NewReader(s.patch))
	req.Header.Set("Content-Type", "application/json-patch+json")
	answer := httptest.NewRecorder()
	box.ServeHTTP(answer, req)
	if answer.Code >= 500 {
		return fmt.Errorf("HTTP %d: %s", answer.Code, answer.Body)
	}
	return nil
}

// TestWorlds runs random worlds; the number of worlds and steps comes from the environment
// (`make worlds`).
func TestWorlds(t *testing.T) {
	worlds, steps, first := setting(t, "HYPERPOD_WORLDS", 1), setting(t, "HYPERPOD_STEPS", 12), setting(t, "HYPERPOD_SEED", 1)
	var checked atomic.Int64
	defer func() { fmt.Printf("worlds: %d steps, checked after each, from seed %d on\n", checked.Load(), first) }()
	for seed := first; seed < first+worlds; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			all := randomSteps(rand.New(rand.NewPCG(uint64(seed), 20)), steps)
			at, err := play(t.Context(), t.TempDir(), all)
			if err == nil {
				checked.Add(int64(len(all)))
				return
			}
			least := shrink(t, all[:at+1])
			var script strings.Builder
			fmt.Fprintf(&script, "export HYPERPOD_SANDBOX=%s\n", scenario)
			for _, s := range least {
				fmt.Fprintln(&script, s)
			}
			t.Errorf("%v\nas a script:\n%s", err, script.String())
		})
	}
}

func setting(t *testing.T, name string, otherwise int) int {
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	var n int
	if _, err := fmt.Sscan(value, &n); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// play runs a sequence in a new world, and returns the step after which something does not
// hold.
func play(ctx context.Context, dir string, all []step) (int, error) {
	w := newWorld(dir)
	if err := w.begin(ctx); err != nil {
		return 0, err
	}
	for i, s := range all {
		if err := w.do(ctx, s); err != nil {
			return i, fmt.Errorf("after step %d, %s: %w", i+1, s, err)
		}
	}
	if err := w.watched(ctx); err != nil {
		return len(all) - 1, err
	}
	return 0, nil
}

// shrink leaves out what a failure does not need, for at most two minutes.
func shrink(t *testing.T, all []step) []step {
	end := time.Now().Add(2 * time.Minute)
	for size := max(len(all)/2, 1); ; size = max(size/2, 1) {
		smaller := false
		for at := 0; at+size <= len(all) && time.Now().Before(end); {
			without := slices.Concat(all[:at], all[at+size:])
			if last, err := play(t.Context(), t.TempDir(), without); err != nil {
				all, smaller = without[:last+1], true
			} else {
				at += size
			}
		}
		if size == 1 && !smaller || time.Now().After(end) {
			return all
		}
	}
}
