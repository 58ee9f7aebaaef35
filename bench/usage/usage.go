// Package usage is what a process took.
package usage

import (
	"os"
	"time"
)

// Usage is what a process took: the time from its start to its end, its processor time, and the most memory that it
// held, in MB (0 where the system does not say it).
type Usage struct {
	Wall, CPU time.Duration
	RSSMB     float64
}

// Of is the usage of a process that has ended.
func Of(p *os.ProcessState, wall time.Duration) Usage {
	return Usage{Wall: wall, CPU: p.UserTime() + p.SystemTime(), RSSMB: rssMB(p)}
}
