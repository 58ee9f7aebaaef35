// Package slurm turns what Slurm's commands print into values, and a submission into an
// sbatch script. It runs nothing: package slurm/client does.
package slurm

import (
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
)

// states is what each state of Slurm means here: the base states and flags of JOB STATE
// CODES in squeue's and sacct's manuals (slurm.schedmd.com/job_state_codes.html). A test
// compares the names with those that the installed squeue and sacct accept.
var states = map[string]jobs.State{
	"PENDING":       jobs.Pending,
	"REQUEUE_FED":   jobs.Pending,
	"CONFIGURING":   jobs.Starting,
	"POWER_UP_NODE": jobs.Starting,
	"EXPEDITING":    jobs.Pending,

	"RUNNING":    jobs.Running,
	"COMPLETING": jobs.Running, // its processes are ending; how it ended is not known yet
	"RESIZING":   jobs.Running,
	"SIGNALING":  jobs.Running,
	"STAGE_OUT":  jobs.Running,
	"UPDATE_DB":  jobs.Running,

	"REQUEUED": jobs.Restarting,

	"SUSPENDED":     jobs.Suspended,
	"STOPPED":       jobs.Suspended,
	"REQUEUE_HOLD":  jobs.Suspended,
	"SPECIAL_EXIT":  jobs.Suspended, // requeued and held
	"RESV_DEL_HOLD": jobs.Suspended,

	"COMPLETED": jobs.Succeeded,

	"BOOT_FAIL":     jobs.Failed,
	"CANCELLED":     jobs.Failed,
	"DEADLINE":      jobs.Failed,
	"FAILED":        jobs.Failed,
	"LAUNCH_FAILED": jobs.Failed,
	"NODE_FAIL":     jobs.Failed,
	"OUT_OF_MEMORY": jobs.Failed,
	// PREEMPTED is an end: a preempted job that waits again is PENDING.
	"PREEMPTED":     jobs.Failed,
	"RECONFIG_FAIL": jobs.Failed,
	"REVOKED":       jobs.Failed,
	"TIMEOUT":       jobs.Failed,
}

// held are the reasons of pending jobs that a person has to release.
var held = []string{"JobHeldUser", "JobHeldAdmin", "launch_failed_requeued_held", "job_requeued_in_held_state"}

// StateOf returns the state of a job from Slurm's state and reason. ok is false for a
// state that nobody knows yet; such a job counts as running, because it is in the queue.
func StateOf(state, reason string) (s jobs.State, ok bool) {
	s, ok = states[BareState(state)]
	switch {
	case !ok:
		return jobs.Running, false
	case s == jobs.Pending && slices.Contains(held, reason):
		return jobs.Suspended, true
	}
	return s, true
}

// BareState returns the state without what sacct adds to it: "CANCELLED by 1000",
// "CANCELLED+".
func BareState(state string) string {
	state, _, _ = strings.Cut(strings.TrimSuffix(state, "+"), " ")
	return strings.ToUpper(state)
}
