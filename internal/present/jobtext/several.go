package jobtext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// namedJobs is the number of jobs up to which a line on several names those that have not come so far.
const namedJobs = 3

// ProgressOfAll returns a line on how far several jobs have come: "4 of 10 jobs are finished:
// 3 Running, 3 Pending". It names the last ones.
func ProgressOfAll(all []wait.Ended, goal wait.Goal) string {
	reached, rest := 0, []wait.Ended{}
	for _, e := range all {
		if e.Decided && e.Outcome == "" {
			reached++
			continue
		}
		rest = append(rest, e)
	}
	text := fmt.Sprintf("%d of %s %s", reached, words.Count(len(all), "job is", "jobs are"), goal)
	if len(rest) == 0 {
		return text
	}
	if len(rest) <= namedJobs {
		var parts []string
		for _, e := range rest {
			parts = append(parts, strings.TrimSpace(e.Name+" "+string(e.State())))
		}
		return text + ": " + strings.Join(parts, ", ")
	}
	if states := states(rest); states != "" {
		text += ": " + states
	}
	return text
}

// StatesOfAll returns the result of a wait for several jobs: "10 jobs: 9 Succeeded, 1 Running".
func StatesOfAll(all []wait.Ended, goal wait.Goal) string {
	text := words.Count(len(all), "job", "jobs")
	if goal == wait.Deleted {
		return text + ": " + words.Verb(len(all), "deleted", "all deleted")
	}
	return text + ": " + states(all)
}

// states counts jobs by their states, in the order of a job's life.
func states(all []wait.Ended) string {
	count := map[jobs.State]int{}
	gone := 0
	for _, e := range all {
		if e.Outcome == wait.Gone {
			gone++
			continue
		}
		count[e.State()]++
	}
	var parts []string
	for _, s := range jobs.States() {
		if n := count[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if gone > 0 {
		parts = append(parts, fmt.Sprintf("%d deleted", gone))
	}
	return strings.Join(parts, ", ")
}
