package explain

import (
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
)

// typed turns advice in terms of start-job's flags into commands for the job that
// exists: it cannot be started once more with another flag.
func (q *Question) typed(v *check.Verdict) {
	for i := range v.Submission {
		v.Submission[i].Try = q.command(v.Submission[i].Try)
	}
	for i := range v.Lint {
		v.Lint[i].Try = q.command(v.Lint[i].Try)
	}
}

// command is a flag as the command that makes the change; other advice stays.
func (q *Question) command(try string) string {
	flag, value, ok := strings.Cut(try, " ")
	if !ok || strings.Contains(value, " ") {
		return try
	}
	word, of := value, ""
	if strings.Contains(value, "|") {
		word, of = strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(flag, "--"), "-name")), " ("+strings.ReplaceAll(value, "|", ", ")+")"
	}
	end := " -n " + q.Job.Namespace + q.Flags + of
	switch flag {
	case "--priority":
		return "hyperpod patch-job priority " + q.Job.Name + " --priority " + word + end
	case "--queue-name":
		return "hyperpod start-job --from " + q.Job.Name + " --replace --queue-name " + word + end
	}
	return try
}
