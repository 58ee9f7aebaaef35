package slurm

import (
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// Estimate is Slurm's answer to when a script would start.
type Estimate struct {
	Start     time.Time
	Nodes     string
	Partition string
}

// estimate is the line that sbatch --test-only prints on stderr.
var estimate = pattern.Lazy(`to start at (\S+) using \d+ processors on nodes (\S+) in partition (\S+)`)

// ParseEstimate reads that line.
func ParseEstimate(text string) (Estimate, bool) {
	m := estimate().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Estimate{}, false
	}
	e := Estimate{Start: moment(m[1]), Nodes: m[2], Partition: m[3]}
	return e, !e.Start.IsZero()
}
