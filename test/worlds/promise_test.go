package worlds

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// promise is what a dry run says of the next start.
type promise struct {
	Verdict string
	Quota   struct {
		Outcome     string
		Tie         bool
		PreemptedBy string
	}
}

// promised is the dry run of a start, as an administrator sees it. A user who may read less
// must hear the same, or that it is unknown.
func (w *world) promised(ctx context.Context, s step) (promise, error) {
	said := func(user string) (p promise) {
		code, stdout, _ := w.run(ctx, user, append(slices.Clone(s.args), "--dry-run", "-o", "json")...)
		if code == errs.Usage || json.Unmarshal([]byte(stdout), &p) != nil {
			return promise{}
		}
		return p
	}
	all, own := said(administrator), said(s.user)
	if s.forbidden {
		if own.Verdict == "Admitted" || own.Verdict == "Waits" {
			return all, fmt.Errorf("the dry run of %s, who has no permission, says %s", s.user, own.Verdict)
		}
		return all, nil
	}
	if own.Verdict != all.Verdict && own.Verdict != "Unknown" && own.Verdict != "" {
		return all, fmt.Errorf("the dry run of %s says %s, that of an administrator %s", s.user, own.Verdict, all.Verdict)
	}
	return all, nil
}

// kept reports a job that does not do what its dry run said.
func (w *world) kept(ctx context.Context, s step, p promise) error {
	w.seen["dry run "+p.Verdict+" "+p.Quota.Outcome]++
	if p.Quota.Tie || w.loops {
		return nil
	}
	list, err := w.jobs(ctx, "--verbose")
	if err != nil {
		return err
	}
	whole := 0
	for _, key := range s.keys() {
		at := slices.IndexFunc(list, func(j jobRow) bool { return j.key() == key })
		if at < 0 {
			return fmt.Errorf("job %s was started and is not listed", key)
		}
		state := list[at].State
		started := slices.Contains([]string{"Starting", "Running"}, state)
		if list[at].whole() {
			whole++
		}
		switch p.Verdict {
		case "Admitted":
			if started == (p.Quota.PreemptedBy != "") {
				return fmt.Errorf("the dry run of %s said Admitted, preempted by %q; it is %s", key, p.Quota.PreemptedBy, state)
			}
		case "Waits", "Never":
			// A job with quota whose pods find no node waits, too. The answer for several objects does not tell.
			if started && !strings.HasPrefix(cmp.Or(p.Quota.Outcome, "Admitted"), "Admitted") {
				return fmt.Errorf("the dry run of %s said %s, of its quota %s; it is %s", key, p.Verdict, p.Quota.Outcome, state)
			}
		}
	}
	if whole == len(s.jobs) && (p.Verdict == "Waits" || p.Verdict == "Never") {
		return fmt.Errorf("the dry run of %s said %s; all its pods run", s.unit(), p.Verdict)
	}
	return nil
}
