// Package worlds drives random commands of several users against a sandbox, or against the real
// control plane, and checks what must hold after each: a model-based test. A failing sequence is shrunk and printed as a
// script.
package worlds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// scenario is the sandbox of a world; its five teams share one cohort, but for one.
const scenario = "enterprise"

// place is where a world is: a sandbox, or the real control plane.
type place interface {
	// fresh makes the place as it was at first; files go to dir.
	fresh(ctx context.Context, dir string) error
	// steps makes a random sequence.
	steps(r *rand.Rand, n int) []step
	// env is the environment of a user's commands.
	env(user string) map[string]string
	now() time.Time
	// tick lets the time between two steps pass.
	tick()
	// change makes the change of an administrator.
	change(ctx context.Context, s step) error
	// preview is the queue as a step would change it, in YAML; "" where the place has no answer.
	preview(ctx context.Context, s step) (string, error)
	// held are the jobs that hold quota as namespace/name, a pod group as one; nil where that cannot be read.
	held(ctx context.Context) (map[string]bool, error)
	// removed reports that a job went without a command: its pods had no owner to make them again.
	removed(ctx context.Context, namespace, name string) (bool, error)
	// settle waits until nothing in the world changes by itself.
	settle(ctx context.Context, w *world) error
	// preamble is the first line of a script.
	preamble() string
}

// world is a place and what is known of its jobs.
type world struct {
	place
	dir string
	// present are the jobs that must be listed; namespace/name.
	present map[string]bool
	// reserved is quota that was reserved after the last step, by queue and flavor.
	reserved map[string]int64
	// loops: after the step the policy never converges, as a simulation says. What a job does then depends on the moment.
	loops bool
	// seen counts what happened: commands by exit code, verdicts, states.
	seen map[string]int
}

func newWorld(ctx context.Context, p place, dir string, seen map[string]int) (*world, error) {
	if err := p.fresh(ctx, dir); err != nil {
		return nil, err
	}
	w := &world{place: p, dir: dir, present: map[string]bool{}, reserved: map[string]int64{}, seen: seen}
	return w, w.begin(ctx)
}

// run runs a command of a user and returns what it printed.
func (w *world) run(ctx context.Context, user string, args ...string) (errs.Exit, string, string) {
	var stdout, stderr bytes.Buffer
	env, now := w.env(user), w.now()
	f := &factory.Factory{IO: &output.IO{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, Env: func(name string) string { return env[name] },
		Now: func() time.Time { return now }, Version: "v0.0.0-test"}
	code := cli.Run(ctx, f, args)
	return code, stdout.String(), stderr.String()
}

// read runs a command that must print a document.
func (w *world) read(ctx context.Context, to any, args ...string) error {
	code, stdout, stderr := w.run(ctx, administrator, args...)
	if code != errs.OK {
		return fmt.Errorf("%s: exit code %d: %s", strings.Join(args, " "), code, stderr)
	}
	return json.Unmarshal([]byte(stdout), to)
}

// usual are the exit codes of commands about jobs that may be absent or in another state.
var usual = []errs.Exit{errs.OK, errs.Failure, errs.Usage, errs.No, errs.NotFound, errs.Pending}

// do carries out a step and checks the world after it.
func (w *world) do(ctx context.Context, s step) error {
	w.tick()
	before, after, err := w.foretold(ctx, s)
	if err != nil {
		return err
	}
	if s.kubectl != nil {
		if err := errors.Join(w.change(ctx, s), w.settle(ctx, w)); err != nil {
			return err
		}
		return errors.Join(w.asForetold(ctx, before, after), w.check(ctx))
	}
	var promised promise
	if s.verb() == "start-job" {
		if promised, err = w.promised(ctx, s); err != nil {
			return err
		}
	}
	code, _, stderr := w.run(ctx, s.user, s.args...)
	if s.forbidden && code != errs.Denied {
		return fmt.Errorf("exit code %d without permission: %s", code, stderr)
	}
	// Who may not read all kinds cannot be told that a job does not exist.
	absent := code == errs.Denied && !slices.ContainsFunc(s.keys(), func(key string) bool { return w.present[key] }) && strings.Contains(stderr, "cannot tell whether")
	denied := code == errs.Denied && s.lacks != "" && strings.Contains(stderr, s.lacks)
	if !s.forbidden && !absent && !denied && !slices.Contains(usual, code) || strings.Contains(stderr, "Error: internal") {
		return fmt.Errorf("exit code %d: %s", code, stderr)
	}
	w.seen[fmt.Sprint(s.verb(), " ", code)]++
	for _, key := range s.keys() {
		switch {
		case s.verb() == "start-job" && code == errs.OK:
			w.present[key] = true
		case s.verb() == "cancel-job" && code == errs.OK:
			delete(w.present, key)
		}
	}
	if err := w.settle(ctx, w); err != nil {
		return err
	}
	if s.verb() == "start-job" && code == errs.OK {
		if err := w.kept(ctx, s, promised); err != nil {
			return err
		}
	}
	if code == errs.OK {
		if err := w.asForetold(ctx, before, after); err != nil {
			return err
		}
	}
	return w.check(ctx)
}

// TestWorlds runs random worlds; the number of worlds and steps comes from the environment
// (`make worlds`).
func TestWorlds(t *testing.T) {
	worlds, steps, first := setting(t, "HYPERPOD_WORLDS", 1), setting(t, "HYPERPOD_STEPS", 12), setting(t, "HYPERPOD_SEED", 1)
	checked := playAll(t, &practice{}, worlds, steps, first)
	fmt.Printf("worlds: %d steps, checked after each, from seed %d on\n", checked, first)
}

// playAll plays worlds one after another, and returns the number of steps of those in which all holds.
func playAll(t *testing.T, p place, worlds, steps, first int) (checked int) {
	seen := map[string]int{}
	defer func() { t.Log(seen) }()
	for seed := first; seed < first+worlds; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			all := p.steps(rand.New(rand.NewPCG(uint64(seed), 20)), steps)
			at, err := play(t.Context(), p, t.TempDir(), all, seen)
			if err == nil {
				checked += len(all)
				return
			}
			t.Error(err)
			if at < 0 {
				return
			}
			least := shrink(t, p, all[:at+1])
			var script strings.Builder
			fmt.Fprintln(&script, p.preamble())
			for _, s := range least {
				fmt.Fprintln(&script, s)
			}
			t.Log("as a script:\n" + script.String())
		})
	}
	return checked
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
// hold, -1 if the world could not begin. It counts in seen what happened.
func play(ctx context.Context, p place, dir string, all []step, seen map[string]int) (int, error) {
	w, err := newWorld(ctx, p, dir, seen)
	if err != nil {
		return -1, err
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
func shrink(t *testing.T, p place, all []step) []step {
	end := time.Now().Add(2 * time.Minute)
	for size := max(len(all)/2, 1); ; size = max(size/2, 1) {
		smaller := false
		for at := 0; at+size <= len(all) && time.Now().Before(end); {
			without := slices.Concat(all[:at], all[at+size:])
			if last, err := play(t.Context(), p, t.TempDir(), without, map[string]int{}); err != nil && last >= 0 {
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
