package jobs

import (
	"path"
	"regexp"
)

var preemption = regexp.MustCompile(`^Preempted to accommodate a workload \(UID: [^)]*\) due to ([^;]*)(?:; preemptor path: ([^;]*))?.*$`)

// Plain rewrites Kueue's sentence about a preemption, which speaks of UIDs and
// paths, in words; other messages are returned as they are.
func Plain(message string) string {
	m := preemption.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	text := "made way for a job"
	if m[2] != "" {
		text += " of " + path.Base(m[2])
	}
	return text + " (" + m[1] + ")"
}
