package explain

import (
	"context"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/governance/lint"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// typed turns advice in terms of start-job's flags into commands for the job that
// exists: it cannot be started once more with another flag.
func (q *Question) typed(ctx context.Context, v *check.Verdict) {
	for i := range v.Submission {
		v.Submission[i].Try = q.command(ctx, v.Submission[i].Try)
	}
	for i := range v.Lint {
		v.Lint[i].Try = q.command(ctx, v.Lint[i].Try)
	}
}

// may reports whether the user may do something in the job's namespace, or that this
// is not known.
func (q *Question) may(ctx context.Context, verb string, k kinds.Resource) bool {
	return q.May == nil || q.May(ctx, verb, k, q.Job.Namespace)
}

// mayChange is may for what patch-job does: it replaces what may not be patched.
func (q *Question) mayChange(ctx context.Context, k kinds.Resource) bool {
	return q.may(ctx, "patch", k) || q.may(ctx, "update", k)
}

// command is a flag as the command that makes the change, "" where the user has no
// right to it; other advice stays.
func (q *Question) command(ctx context.Context, try string) string {
	option, remark, _ := strings.Cut(try, lint.Remark)
	flag, word, ok := strings.Cut(option, " ")
	if !ok || strings.Contains(word, " ") {
		return try
	}
	end := " -n " + q.Job.Namespace + q.Flags
	if remark != "" {
		end += lint.Remark + remark
	}
	switch flag {
	case "--priority":
		if !q.mayChange(ctx, q.Job.Kind.Resource) {
			return ""
		}
		return "hyperpod patch-job priority " + q.Job.Name + " --priority " + word + end
	case "--queue-name":
		if !q.may(ctx, "delete", q.Job.Kind.Resource) || !q.may(ctx, "create", q.Job.Kind.Resource) {
			return ""
		}
		return "hyperpod start-job --from " + q.Job.Name + " --replace --queue-name " + word + end
	}
	return try
}
