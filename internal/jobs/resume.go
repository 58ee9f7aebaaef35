package jobs

import (
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// Resume is what is known of a job's automatic resumption after faults.
type Resume struct {
	// On: HyperPod resumes the job on a healthy node.
	On bool
	// Most is how often, Used how often it was as far as is recorded.
	Most, Used int
}

// resumeOf reads a job's retries: as its own status counts them, else the
// restarts that the operator reported, else those of its containers.
func resumeOf(j state.Job, events []state.Event, pods []state.Pod) Resume {
	r := Resume{On: j.Annotations[kinds.AutoResumeAnnotation] == "true", Used: j.Restarts}
	r.Most, _ = strconv.Atoi(j.Annotations[kinds.MaxRetryAnnotation])
	if how := j.Kind.Launch().Restart; how.Resumes && len(how.Retries) > 0 {
		r.On = true // the operator's nature; the limit is in the spec
		r.Most = j.MaxRetries
	}
	reported := 0
	for _, e := range events {
		if e.ObjectUID == j.UID && strings.HasSuffix(e.Reason, "JobRestarting") {
			reported += e.Count
		}
	}
	most := 0
	for _, p := range pods {
		most = max(most, p.Restarts) // a try restarts the pods together
	}
	r.Used = max(r.Used, reported, most)
	return r
}
