package logs

import (
	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// sourceOf returns the present run of a container, and whether it has begun and
// has ended.
func sourceOf(p pick.Pod, container string) (s Source, begun, over bool) {
	s = Source{Pod: p.Name, UID: p.UID, Node: p.NodeName, Container: container, Role: p.Role, Rank: p.Rank}
	for _, c := range p.Containers {
		if c.Name != container {
			continue
		}
		s.Run, s.ContainerID = c.Restarts, c.ID
		over = c.Terminated != "" || c.Waiting != "" && c.LastTerminated != ""
		begun = over || c.StartedAt != nil
	}
	return s, begun, over || p.Phase == "Succeeded" || p.Phase == "Failed"
}

// waits returns why a container has not started, as far as is known.
func waits(p pick.Pod, container string) jobs.PodTrouble {
	for _, c := range p.Containers {
		if c.Name == container && c.Waiting != "" {
			return jobs.PodTrouble{Reason: c.Waiting, Message: c.Message}
		}
	}
	if c, ok := state.Find(p.Conditions, "PodScheduled"); ok && c.Status == "False" {
		return jobs.PodTrouble{Reason: c.Reason, Message: c.Message}
	}
	return jobs.PodTrouble{Reason: p.Reason}
}
