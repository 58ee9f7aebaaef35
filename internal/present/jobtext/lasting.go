package jobtext

import (
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
)

// Lasting says since when a job is in a state: "x has been running for 2h", "x failed 3m ago". It leaves the time out if it is not
// known. age words a duration.
func Lasting(name string, s jobs.State, since, now time.Time, age func(time.Duration) string) string {
	word := strings.ToLower(string(s))
	switch {
	case s.Finished() && since.IsZero():
		return name + " " + word
	case s.Finished():
		return name + " " + word + " " + age(now.Sub(since)) + " ago"
	case since.IsZero():
		return name + " is " + word
	}
	return name + " has been " + word + " for " + age(now.Sub(since))
}
