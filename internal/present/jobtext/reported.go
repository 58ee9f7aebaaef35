package jobtext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Reported returns how far a job is by its own report ("40 % done, about 10m left"), "" for a
// job that reports nothing.
func Reported(j state.Job) string {
	var parts []string
	if j.Progress != nil {
		parts = append(parts, fmt.Sprintf("%d %% done", *j.Progress))
	}
	if j.Remaining != nil {
		parts = append(parts, "about "+words.Age(*j.Remaining)+" left")
	}
	return strings.Join(parts, ", ")
}
