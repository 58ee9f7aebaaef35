package control

import (
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// podsReady is a condition that Kueue's job controllers maintain on a workload.
const podsReady = "PodsReady"

// roleCount counts the pods of a role.
type roleCount struct{ wanted, running, succeeded, failed int64 }

// tally counts a job's pods by role and phase.
type tally struct {
	roles map[string]roleCount
	order []string // the roles, in the job's order
	all   roleCount
}

func (s *sim) tally(j job) tally {
	t := tally{roles: map[string]roleCount{}}
	for _, p := range j.kind.Parts(j.m()) {
		if _, seen := t.roles[p.Name]; !seen {
			t.order = append(t.order, p.Name)
		}
		c := t.roles[p.Name]
		c.wanted += p.Replicas
		t.roles[p.Name] = c
		t.all.wanted += p.Replicas
	}
	pods := s.podsOf(j)
	if j.kind.Itself {
		pods = []*store.Object{j.o}
	}
	for _, p := range pods {
		role := object.Text(p.Map(), "metadata", "annotations", roleAnnotation)
		if j.kind.Itself {
			role = t.order[0]
		}
		c := t.roles[role]
		for _, n := range []*roleCount{&c, &t.all} {
			switch object.Text(p.Map(), "status", "phase") {
			case "Running":
				n.running++
			case "Succeeded":
				n.succeeded++
			case "Failed":
				n.failed++
			}
		}
		t.roles[role] = c
	}
	return t
}

// ready reports whether every pod runs.
func (t tally) ready() bool { return t.all.wanted > 0 && t.all.running >= t.all.wanted }

// writeStatus updates the status of every unfinished job, and of its workload, from the
// job's pods.
func (s *sim) writeStatus() error {
	return s.eachGroup(func(j job) error {
		w := s.workloadOf(j)
		if finished(j) {
			if j.kind.Itself { // its kubelet ended it
				return s.finishWorkload(j, outcome(j), "Pod "+j.o.Name+" "+outcome(j))
			}
			return nil
		}
		t := s.tally(j)
		if !j.kind.Itself {
			m := j.o.Copy()
			s.jobStatus(j, m, t)
			if _, err := s.put(j.kind.FullName(), m); err != nil {
				return err
			}
		}
		if w != nil {
			return s.podsReadyStatus(w, t)
		}
		return nil
	}, s.groupStatus)
}

// podsReadyStatus updates the PodsReady condition of a workload (Kueue's
// waitForPodsReady, on by default).
func (s *sim) podsReadyStatus(w *store.Object, t tally) error {
	c := map[string]any{"type": podsReady, "status": "False", "reason": "WaitForStart", "message": "Not all pods are ready or succeeded"}
	if object.True(w.Map(), "Admitted") && t.ready() {
		c["status"], c["reason"], c["message"] = "True", "Started", "All pods reached readiness and the workload is running"
	}
	if have := object.Condition(w.Map(), podsReady); have != nil && have["status"] == c["status"] && have["reason"] == c["reason"] {
		return nil
	}
	m := w.Copy()
	generation, _ := object.Int(m, "metadata", "generation")
	c["observedGeneration"] = generation
	setCondition(object.Child(m, "status"), c, s.now)
	o, err := s.put(kinds.Workload.FullName(), m)
	if err == nil && s.loaded[w.Key] == w.RV && !s.podsFirst {
		s.loaded[w.Key] = o.RV // the scheduler does not read PodsReady then
	}
	return err
}

// jobStatus writes a job's status like the kind's operator.
func (s *sim) jobStatus(j job, m map[string]any, t tally) {
	switch j.kind.Style {
	case kinds.Batch:
		s.batchStatus(j, m, t)
	case kinds.RayRun:
		s.rayJobStatus(j, m, t)
	case kinds.RayNodes:
		s.rayClusterStatus(j, m, t)
	case kinds.JobGroups:
		s.jobSetStatus(j, m, t)
	case kinds.Described:
		s.describedStatus(j, m, t)
	default:
		s.trainingStatus(j, m, t)
	}
}

// finishStatus writes the end of a job into its status and returns the operator's
// message.
func (s *sim) finishStatus(j job, m map[string]any, result string) string {
	t := s.tally(j)
	switch j.kind.Style {
	case kinds.Batch:
		return s.batchFinished(m, t, result)
	case kinds.RayRun:
		return s.rayJobFinished(j, m, result)
	case kinds.RayNodes:
		return s.rayClusterFinished(m)
	case kinds.JobGroups:
		return s.jobSetFinished(j, m, t, result)
	case kinds.Described:
		return s.describedFinished(m, j, result)
	}
	return s.trainingFinished(j, m, t, result)
}

// setCondition sets a condition. lastTransitionTime changes only with the condition's
// status.
func setCondition(status map[string]any, c map[string]any, now time.Time) {
	list := object.List(status, "conditions")
	out := make([]any, 0, len(list)+1)
	c["lastTransitionTime"] = object.Stamp(now)
	placed := false
	for _, old := range list {
		if object.Text(old, "type") != c["type"] {
			out = append(out, old)
			continue
		}
		if placed = true; object.At(old, "status") == c["status"] {
			c["lastTransitionTime"] = object.At(old, "lastTransitionTime")
		}
		out = append(out, c)
	}
	if !placed {
		out = append(out, c)
	}
	status["conditions"] = out
}
