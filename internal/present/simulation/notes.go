// Package simulation words the reports of package simulate.
package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/governance/fit"
	"github.com/hyperpod-cli/hyperpod/internal/governance/simulate"
	"github.com/hyperpod-cli/hyperpod/internal/present/notetext"
	"github.com/hyperpod-cli/hyperpod/internal/present/quotatext"
	"github.com/hyperpod-cli/hyperpod/internal/present/verdict"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Fill sets the messages of a report's problems and notes, and of jobs that wait for nodes.
func Fill(r *simulate.Report) {
	for i := range r.Jobs {
		for _, s := range []*simulate.JobState{r.Jobs[i].Before, r.Jobs[i].After} {
			if s != nil && s.State == simulate.WaitsForNodes {
				s.Message = nodes(s)
			}
		}
	}
	Problems(r.Problems)
	Notes(r.Notes)
}

// Problems sets the sentences of problems.
func Problems(list []simulate.Problem) {
	for i := range list {
		list[i].Message = quotatext.Problem(&list[i].Problem)
	}
}

// Notes sets the messages of notes.
func Notes(notes []simulate.Note) {
	for i := range notes {
		if notes[i].Message == "" {
			notes[i].Message = note(&notes[i])
		}
	}
}

// nodes returns why no node takes the pods of a job.
func nodes(s *simulate.JobState) string {
	for _, p := range s.Placements {
		if p.PodsPlaced >= p.Pods {
			continue
		}
		where := ""
		if s.Reason == fit.NodesTooSmall {
			where = verdict.OnEmptyNodes(p)
		}
		return verdict.PodsPlaced(p, p.PodSet, where)
	}
	return ""
}

// mostNames are the names that a sentence lists.
const mostNames = 5

// jobNames lists the first few jobs.
func jobNames(jobs []simulate.PodLoss) string {
	var names []string
	for _, j := range jobs {
		names = append(names, j.Job)
	}
	return words.Some(names, mostNames)
}

// later returns what happens until the time of the changes.
func later(n *simulate.Note) string {
	l := n.Later
	text := fmt.Sprintf("the changes are made at %s; until then %s and %s", n.At.UTC().Format(time.RFC3339),
		words.Count(len(l.Ended), "job ends", "jobs end"), words.Count(len(l.Started), "starts", "start"))
	if len(l.NoEnd) == 0 {
		return text
	}
	var jobs []simulate.PodLoss
	for _, j := range l.NoEnd {
		jobs = append(jobs, simulate.PodLoss{Job: j})
	}
	return fmt.Sprintf("%s; %s no known end and still %s (--assume-duration): %s", text,
		words.Count(len(jobs), "job has", "jobs have"), words.Verb(len(jobs), "runs", "run"), jobNames(jobs))
}

func note(n *simulate.Note) string {
	if n.Of != nil {
		return notetext.Note(*n.Of)
	}
	switch n.Code {
	case simulate.TiesUnknown:
		return "fair sharing can have several equal outcomes; this is one of them (a large cluster is simulated once)"
	case simulate.Unsettled:
		return "the policy never converges, even without the changes"
	case simulate.WeightsIgnored:
		return "weights have no effect: fair sharing is off (--set cluster.fair-sharing=on)"
	case simulate.BorrowPreemptionIgnored:
		return "preemption while borrowing has no effect: fair sharing is on"
	case simulate.LimitsCleared:
		return fmt.Sprintf("%s leaves its cohort: its borrowing and lending limits are removed", n.Team)
	case simulate.NodesAdded:
		return fmt.Sprintf("added %s like %s; nodes do not change quota", words.Count(n.Count, "node", "nodes"), n.Node)
	case simulate.NamespaceAssumed:
		return fmt.Sprintf("namespace %s does not exist; it is assumed to be created", n.Namespace)
	case simulate.DeletionWaits:
		return fmt.Sprintf("ClusterQueue %s stays, and admits nothing more, until %s", n.Team, words.Count(n.Count, "workload that holds its quota ends", "workloads that hold its quota end"))
	case simulate.EvictionsInProgress:
		return fmt.Sprintf("%s being evicted and %s quota until the pods end, assumed after %s (--eviction-takes): %s",
			words.Count(len(n.Jobs), "job is", "jobs are"), words.Verb(len(n.Jobs), "holds its", "hold their"), words.Age(n.Takes), jobNames(n.Jobs))
	case simulate.AtLater:
		return later(n)
	case simulate.NodeReplaced:
		return n.Job + " was placed on a removed node; Kueue looks for another node and evicts it if there is none"
	case simulate.PlacedOnRemovedNode:
		return n.Job + " was placed on removed nodes and is evicted"
	case simulate.PodsOnRemovedNodes:
		var jobs []string
		for _, l := range n.Jobs {
			jobs = append(jobs, fmt.Sprintf("%s (%s)", l.Job, words.Count(l.Pods, "pod", "pods")))
		}
		return "jobs that keep their quota and lose pods with the removed nodes: " + words.Some(jobs, mostNames)
	}
	return string(n.Code)
}

// mostProblems is the number of problems that have a line.
const mostProblems = 12

// ProblemLines returns a line for each problem that the changes bring; of many, for the first ones.
func ProblemLines(list []simulate.Problem) []string {
	var out []string
	for _, p := range list {
		if p.Change == simulate.Added {
			out = append(out, "PROBLEM: "+p.Message)
		}
	}
	if n := len(out) - mostProblems; n > 1 {
		out = append(out[:mostProblems], fmt.Sprintf("PROBLEM: %d more (-o json)", n))
	}
	return out
}

// QueuesHidden reports a simulation of jobs whose ClusterQueues the user has no permission to read.
func QueuesHidden(r *simulate.Report) bool {
	return slices.ContainsFunc(r.Jobs, func(j simulate.Job) bool {
		return j.Before != nil && j.Before.Reason == simulate.NotReadable || len(r.Teams) == 0 && j.After != nil && j.After.Reason == simulate.NotReadable
	})
}

// DependsOn says what a job whose state is Unknown depends on.
func DependsOn(s *simulate.JobState) string {
	if s.Reason == simulate.NotReadable {
		return "what you have no permission to read"
	}
	return strings.Join(s.NotModelled, ", ")
}
