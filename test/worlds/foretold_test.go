package worlds

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// foretold is what a simulation of a step says: the jobs that hold quota after it, and those that hold it now. A pod group
// is one job. It is nil where a simulation says nothing: Kueue is undecided, or simulate has no such change.
func (w *world) foretold(ctx context.Context, s step) (before, after map[string]bool, err error) {
	w.loops = false
	args, err := w.changes(ctx, s)
	if args == nil || err != nil {
		return nil, nil, err
	}
	code, stdout, stderr := w.run(ctx, administrator, append([]string{"simulate", "-o", "json"}, args...)...)
	var r struct {
		Settled, Tie bool
		Between      *struct{}
		NotModelled  []string
		Jobs         []struct {
			Namespace, Name string
			Before, After   *struct{ State string }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != errs.OK && (code != errs.No || r.Settled) { // No: the policy never converges
		return nil, nil, fmt.Errorf("simulate %s: exit code %d: %s", strings.Join(args, " "), code, stderr)
	}
	w.loops = !r.Settled
	if !r.Settled || r.Tie || r.Between != nil || len(r.NotModelled) > 0 {
		w.seen["simulation undecided"]++
		return nil, nil, nil
	}
	hold := []string{"Admitted", "QuotaReserved", "WaitsForNodes"}
	before, after = map[string]bool{}, map[string]bool{}
	for _, j := range r.Jobs {
		if j.Before != nil && slices.Contains(hold, j.Before.State) {
			before[j.Namespace+"/"+j.Name] = true
		}
		if j.After != nil && slices.Contains(hold, j.After.State) {
			after[j.Namespace+"/"+j.Name] = true
		}
	}
	return before, after, nil
}

// changes are the flags of simulate for a step, nil for none.
func (w *world) changes(ctx context.Context, s step) ([]string, error) {
	file := filepath.Join(w.dir, "change.yaml")
	switch s.verb() {
	case "start-job":
		code, stdout, _ := w.run(ctx, administrator, append(slices.Clone(s.args), "--dry-run=client", "-o", "yaml")...)
		if code != errs.OK || slices.ContainsFunc(s.keys(), func(key string) bool { return w.present[key] }) {
			return nil, nil
		}
		return []string{"--add-job", file}, os.WriteFile(file, []byte(stdout), 0o600)
	case "cancel-job":
		if !slices.ContainsFunc(s.keys(), func(key string) bool { return !w.present[key] }) && w.queued(ctx, s.unit()) {
			return []string{"--remove-job", s.unit()}, nil
		}
	case "patch-job priority":
		if w.queued(ctx, s.unit()) {
			return []string{"--priority", s.unit() + "=" + s.args[slices.Index(s.args, "--priority")+1]}, nil
		}
	case "":
		if s.queue != "" {
			changed, err := w.preview(ctx, s)
			if err != nil || changed == "" {
				return nil, err
			}
			return []string{"-f", file}, os.WriteFile(file, []byte(changed), 0o600)
		}
	}
	return nil, nil
}

// queued reports that the simulation knows a job: it has not ended.
func (w *world) queued(ctx context.Context, unit string) bool {
	list, err := w.jobs(ctx)
	return err == nil && slices.ContainsFunc(list, func(j jobRow) bool {
		return (j.key() == unit || j.key() == unit+"-0") && j.State != "Succeeded" && j.State != "Failed"
	})
}

// asForetold reports jobs that hold quota against what a simulation said, or hold none.
func (w *world) asForetold(ctx context.Context, before, after map[string]bool) error {
	if after == nil {
		return nil
	}
	held, err := w.held(ctx)
	if err != nil || held == nil {
		return err
	}
	w.seen["simulation"]++
	if !maps.Equal(before, after) {
		w.seen["simulation that moves jobs"]++
	}
	if !maps.Equal(held, after) {
		return fmt.Errorf("quota is held by %v; a simulation foretold %v (before: %v)", names(held), names(after), names(before))
	}
	return nil
}

func names(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
