package jobtext

import (
	"fmt"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/wait"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Progress returns a line on how far a job has come, such as "x is Pending, 3rd of 7
// in its queue: ...".
func Progress(p wait.Progress) string { return p.Job.Name + " is " + Standing(p) }

// ShorterProgress returns shorter forms of the same line for narrow terminals, the
// longest first: they keep the state, the position and the reason.
func ShorterProgress(p wait.Progress) []string {
	brief := p
	brief.Status.Message = words.WithoutPodSet(p.Status.Message)
	return []string{Standing(p), Standing(brief)}
}

// Standing returns a job's state, its position in the queue, its pods and why.
func Standing(p wait.Progress) string {
	text := string(p.Status.State)
	if p.Position > 0 && p.Of > 1 {
		text += fmt.Sprintf(", %s of %d in its queue", words.Ordinal(p.Position), p.Of)
	}
	if p.Status.State == jobs.Starting && p.Status.Wanted > 0 {
		text += fmt.Sprintf(", %d of %d pods ready", p.Status.Ready, p.Status.Wanted)
	}
	return text + after(": ", Why(p.Status))
}
