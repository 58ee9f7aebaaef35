// Package slurmtext words what Slurm says of jobs and nodes, and why a command of it failed.
package slurmtext

import (
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/slurm"
)

// reasons are Slurm's reasons in words (slurm.schedmd.com/job_reason_codes.html), for jobs
// that wait and for jobs that failed.
var reasons = map[string]string{
	"AccountNotAllowed":        "the partition does not allow its account",
	"BadConstraints":           "no nodes meet its constraints",
	"BeginTime":                "its earliest start time is in the future",
	"Cleaning":                 "Slurm cleans up after its last run",
	"Dependency":               "it waits for another job",
	"DependencyNeverSatisfied": "the job that it depends on did not end as required: it can never start",
	"InactiveLimit":            "it exceeded the partition's limit for inactivity",
	"InvalidAccount":           "its account is invalid",
	"InvalidQOS":               "its QOS is invalid",
	"JobArrayTaskLimit":        "its array has reached its limit of running tasks",
	"JobHeldAdmin":             "an administrator holds it",
	"JobHeldUser":              "a user holds it",
	"JobLaunchFailure":         "Slurm could not launch it",
	"Licenses":                 "it waits for a license",
	"MaxRequeue":               "it reached the maximum number of requeues",
	"NodeDown":                 "a node that it requires is down",
	"NonZeroExitCode":          "its script ended with an exit code other than 0",
	"OutOfMemory":              "it used more memory than it requested",
	"PartitionDown":            "its partition starts no jobs (state DOWN)",
	"PartitionInactive":        "its partition accepts no jobs (state INACTIVE)",
	"PartitionNodeLimit":       "it requests more nodes than its partition allows, or than are up",
	"PartitionTimeLimit":       "its time limit is longer than its partition allows",
	"Priority":                 "jobs with a higher priority are ahead of it",
	"Prolog":                   "the prolog on its nodes is running",
	"QOSNotAllowed":            "its account or partition does not allow its QOS",
	"QOSTimeLimit":             "it reached the time limit of its QOS",
	"QOSUsageThreshold":        "its QOS requires a higher share of fair use",
	"RaisedSignal":             "a signal ended it",
	"ReqNodeNotAvail":          "a node that it requires is not available",
	"Reservation":              "its reservation has not begun, or has no free nodes",
	"ReservationDeleted":       "its reservation was deleted",
	"Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions": "nodes that it requires are down, drained or reserved",
	"Resources":                   "it waits for free nodes",
	"SchedDefer":                  "it cannot start at once; it waits for the next scheduling cycle",
	"SystemFailure":               "a failure of Slurm, the file system or the network",
	"TimeLimit":                   "it reached its time limit",
	"launch_failed_requeued_held": "its launch failed; Slurm requeued it and holds it",
	"job_requeued_in_held_state":  "it was requeued and is held",
}

// ends are Slurm's states of jobs that failed.
var ends = map[string]string{
	"BOOT_FAIL":     "its nodes did not start",
	"CANCELLED":     "it was cancelled",
	"DEADLINE":      "it did not finish before its deadline",
	"FAILED":        "its script failed",
	"LAUNCH_FAILED": "Slurm could not launch it",
	"NODE_FAIL":     "one of its nodes failed",
	"OUT_OF_MEMORY": "it used more memory than it requested",
	"PREEMPTED":     "another job preempted it, and it was not requeued",
	"RECONFIG_FAIL": "its nodes could not be set up for it",
	"REVOKED":       "it runs on another cluster",
	"TIMEOUT":       "it reached its time limit",
}

// families are the reasons about limits, by how they begin, in the order of the search.
var families = []struct{ prefix, text string }{
	{"AssocGrp", "its account or user has reached a limit for all its jobs together"},
	{"AssocMax", "it requests more than its account or user is allowed per job, or at a time"},
	{"QOSGrp", "its QOS has reached a limit for all its jobs together"},
	{"QOSMax", "it requests more than its QOS allows per job or user, or at a time"},
	{"QOSMin", "it requests less than its QOS requires"},
	{"Max", "it requests more than its QOS allows for its account"},
	{"ReqNodeNotAvail", "a node that it requires is not available"},
}

// Reason returns a reason of Slurm in words: its own text where it is a sentence already or
// nobody knows it, and "" for none.
func Reason(code string) string {
	if text, ok := reasons[code]; ok {
		return text
	}
	word, _, _ := strings.Cut(code, ",")
	for _, f := range families {
		if strings.HasPrefix(word, f.prefix) {
			return f.text + " (" + code + ")"
		}
	}
	return code
}

// Status returns the status of a job with its sentence.
func Status(j slurm.Job, s jobs.Status) jobs.Status {
	switch s.State {
	case jobs.Failed:
		s.Message = ends[s.Reason]
		switch {
		case s.Reason == "FAILED" && j.ExitCode > 0:
			s.Message = fmt.Sprintf("its script ended with exit code %d", j.ExitCode)
		case s.Reason == "FAILED" && j.Signal > 0:
			s.Message = fmt.Sprintf("signal %d ended its script", j.Signal)
		}
	case jobs.Pending, jobs.Suspended, jobs.Restarting:
		s.Message = Reason(j.Reason)
		switch {
		case s.Message == "" && s.State == jobs.Pending:
			s.Message = "Slurm has not considered it yet"
		case slurm.BareState(j.State) == "SUSPENDED" && j.Reason == "":
			s.Message = "its processes are suspended"
		}
		if j.Reason == "Dependency" && j.Dependency != "" {
			s.Message += " (" + j.Dependency + ")"
		}
	case jobs.Starting:
		s.Message = "its nodes are being set up"
	}
	return s
}
