package control

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

const (
	// outcomeAnnotation holds how a job ends in a sandbox: "Failed"; any other value
	// means success.
	outcomeAnnotation = kinds.OwnPrefix + "sandbox-outcome"
	// maxExecTimeLabel is Kueue's label for the maximum run time of a job.
	maxExecTimeLabel = "kueue.x-k8s.io/max-exec-time-seconds"
)

// nextDue returns the time of the next event: a job or pod ends, or a finished job
// expires.
func (s *sim) nextDue() (time.Time, bool) {
	var next time.Time
	found := false
	consider := func(t time.Time, ok bool) {
		if ok && (!found || t.Before(next)) {
			next, found = t, true
		}
	}
	for _, j := range s.jobs() {
		consider(s.jobEnd(j))
		consider(expiry(j))
	}
	for _, p := range s.st.List(kinds.Pod.FullName(), "") {
		consider(s.podEnd(p))
	}
	return next, found
}

// jobEnd returns the expected end of a running job: its duration after the start of its
// last pod.
func (s *sim) jobEnd(j job) (time.Time, bool) {
	if j.suspended() || finished(j) || j.kind.Itself { // podEnd has those
		return time.Time{}, false
	}
	if j.shares() {
		return s.sharedRayEnd(j)
	}
	d, ok := s.duration(j)
	if !ok {
		return time.Time{}, false
	}
	pods := s.podsOf(j)
	var last time.Time
	for _, p := range pods {
		t, started := object.Time(p.Map(), "status", "startTime")
		if !started || object.Text(p.Map(), "status", "phase") != "Running" {
			return time.Time{}, false
		}
		if t.After(last) {
			last = t
		}
	}
	return last.Add(d), len(pods) > 0 && len(pods) >= len(plan(j, j.m())) // refused pods keep a job from its end
}

// duration returns how long a job runs. What serves and has no duration of its own
// runs until it is deleted.
func (s *sim) duration(j job) (time.Duration, bool) {
	if text := object.Text(j.m(), "metadata", "annotations", kinds.DurationAnnotation); text != "" {
		if d, err := time.ParseDuration(text); err == nil && d >= 0 {
			return d, true
		}
		if s.event(j.o, "Warning", "InvalidDuration", "annotation "+kinds.DurationAnnotation+" is not a duration such as 90m: "+strconv.Quote(text)) {
			s.warnf("%s: annotation %s is not a duration such as 90m: %q", j.what(), kinds.DurationAnnotation, text)
		}
	}
	for _, path := range [][]string{{"spec", "runPolicy", "activeDeadlineSeconds"}, {"spec", "activeDeadlineSeconds"}} {
		if n, ok := object.Int(j.m(), path...); ok && n > 0 {
			return time.Duration(n) * time.Second, true
		}
	}
	for _, p := range j.kind.Parts(j.m()) {
		if n, ok := object.Int(p.Template, "spec", "activeDeadlineSeconds"); ok && n > 0 {
			return time.Duration(n) * time.Second, true
		}
	}
	if n, err := strconv.Atoi(j.o.Labels[maxExecTimeLabel]); err == nil && n > 0 {
		return time.Duration(n) * time.Second, true
	}
	return s.cfg.Duration, !j.kind.Serves
}

// podEnd returns the expected end of a running pod without an owner. A pod with restart
// policy Always has none.
func (s *sim) podEnd(p *store.Object) (time.Time, bool) {
	start, ok := object.Time(p.Map(), "status", "startTime")
	if len(p.Owners) > 0 || !ok || object.Text(p.Map(), "status", "phase") != "Running" || object.Text(p.Map(), "spec", "restartPolicy") == "Always" {
		return time.Time{}, false
	}
	d := s.cfg.Duration
	if v, err := time.ParseDuration(object.Text(p.Map(), "metadata", "annotations", kinds.DurationAnnotation)); err == nil {
		d = v
	} else if n, ok := object.Int(p.Map(), "spec", "activeDeadlineSeconds"); ok && n > 0 {
		d = time.Duration(n) * time.Second
	}
	return start.Add(d), true
}

// expiry returns when a finished job is removed (ttlSecondsAfterFinished).
func expiry(j job) (time.Time, bool) {
	if !finished(j) {
		return time.Time{}, false
	}
	ttl, ok := object.Int(j.m(), "spec", "runPolicy", "ttlSecondsAfterFinished")
	if !ok {
		if ttl, ok = object.Int(j.m(), "spec", "ttlSecondsAfterFinished"); !ok {
			return time.Time{}, false
		}
	}
	end, ok := object.Time(j.m(), "status", "completionTime")
	if !ok {
		end, ok = object.Time(j.m(), "status", "endTime")
	}
	return end.Add(time.Duration(ttl) * time.Second), ok
}

// endDue finishes jobs and pods at their expected end, and removes expired jobs.
func (s *sim) endDue() error {
	over := func(t time.Time, ok bool) bool { return ok && !t.After(s.now) }
	for _, j := range s.jobs() {
		switch {
		case over(expiry(j)):
			s.st.Collect(j.kind.FullName(), j.o)
		case over(s.jobEnd(j)):
			if err := s.end(j); err != nil {
				return err
			}
		}
	}
	for _, p := range s.st.List(kinds.Pod.FullName(), "") {
		if over(s.podEnd(p)) {
			m := p.Copy()
			s.endPod(m, object.Text(m, "metadata", "annotations", outcomeAnnotation) == "Failed")
			if _, err := s.put(kinds.Pod.FullName(), m); err != nil {
				return err
			}
		}
	}
	return nil
}

// end finishes a job's pods, the job and its workload.
func (s *sim) end(j job) error {
	failed := object.Text(j.m(), "metadata", "annotations", outcomeAnnotation) == "Failed"
	pods := s.podsOf(j)
	for i, p := range pods {
		m := p.Copy()
		s.endPod(m, failed && i == 0) // one failed pod is enough
		if _, err := s.put(kinds.Pod.FullName(), m); err != nil {
			return err
		}
	}
	result := "Succeeded"
	if failed {
		result = "Failed"
	}
	m := j.o.Copy()
	message := s.finishStatus(j, m, result)
	o, err := s.put(j.kind.FullName(), m)
	if err != nil {
		return err
	}
	kind, reason := "Normal", j.kind.Kind+result
	if failed {
		kind = "Warning"
	}
	s.event(o, kind, reason, message)
	return s.finishWorkload(s.job(j.kind, o), result, message)
}

// finishWorkload marks a job's workload as finished, which frees its quota.
func (s *sim) finishWorkload(j job, result, message string) error {
	w := s.workloadOf(j)
	if w == nil || object.True(w.Map(), "Finished") {
		return nil
	}
	m := w.Copy()
	generation, _ := object.Int(m, "metadata", "generation")
	setCondition(object.Child(m, "status"), map[string]any{"type": "Finished", "status": "True", "reason": result, "message": message,
		"observedGeneration": generation}, s.now)
	if _, err := s.put(kinds.Workload.FullName(), m); err != nil {
		return err
	}
	s.event(j.o, "Normal", "FinishedWorkload", fmt.Sprintf("Workload '%s/%s' is declared finished", w.Namespace, w.Name))
	return nil
}
