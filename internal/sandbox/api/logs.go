package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// logEvery is how far apart the lines of a sandbox pod's log are.
const logEvery = time.Minute

// noProcess answers exec, attach and port-forward: there is nothing to reach.
func (s *Server) noProcess(c *call) error {
	return badRequest("a sandbox runs no processes: there is nothing to " + c.sub + " in pod " + c.name)
}

// podLog makes up a log: a pod of a sandbox runs nothing, so the lines only say
// how long it has been running.
func (s *Server) podLog(c *call) error {
	q := c.URL.Query()
	tail, err := atoi("tailLines", q.Get("tailLines"))
	if err != nil {
		return err
	}
	pod, rv, err := s.loggedPod(c, q.Get("container"))
	if err != nil {
		return err
	}
	stamped, follow := q.Get("timestamps") == "true", q.Get("follow") == "true"
	from := logStart(q.Get("sinceTime"), q.Get("sinceSeconds"), s.backend.Now())
	lines, last := logLines(pod, s.backend.Now(), from, stamped)
	if q.Has("tailLines") && int64(len(lines)) > tail {
		lines = lines[int64(len(lines))-tail:]
	}
	c.w.Header().Set("Content-Type", "text/plain")
	c.w.WriteHeader(http.StatusOK)
	emit(c.w, lines)
	for follow && object.Text(pod.Map(), "status", "phase") == "Running" {
		if err := s.backend.Wait(c.Context(), rv); err != nil {
			return nil
		}
		if pod, rv, err = s.loggedPod(c, ""); err != nil {
			return nil // deleted: the log ends
		}
		lines, last = logLines(pod, s.backend.Now(), last.Add(time.Second), stamped)
		emit(c.w, lines)
	}
	return nil
}

func emit(w http.ResponseWriter, lines []string) {
	if len(lines) > 0 {
		_, _ = w.Write([]byte(strings.Join(lines, "\n") + "\n"))
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// loggedPod returns the pod and the state's resource version, or why the pod has
// no log.
func (s *Server) loggedPod(c *call, container string) (pod *store.Object, rv int64, err error) {
	err = s.backend.View(c.Context(), func(st *store.Store) error {
		rv = st.RV()
		if pod = st.Get("pods", c.namespace, c.name); pod == nil {
			return notFound(c)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	var names []string
	for _, ct := range object.List(pod.Map(), "spec", "containers") {
		names = append(names, object.Text(ct, "name"))
	}
	if container != "" && !strings.Contains(" "+strings.Join(names, " ")+" ", " "+container+" ") {
		return nil, 0, badRequest(fmt.Sprintf("container %s is not valid for pod %s", container, c.name))
	}
	if object.Text(pod.Map(), "status", "phase") == "Pending" {
		if container == "" && len(names) > 0 {
			container = names[0]
		}
		return nil, 0, badRequest(fmt.Sprintf("container %q in pod %q is waiting to start: ContainerCreating", container, c.name))
	}
	return pod, rv, nil
}

func logStart(sinceTime, sinceSeconds string, now time.Time) time.Time {
	if t, err := time.Parse(time.RFC3339, sinceTime); err == nil {
		return t
	}
	if n, err := atoi("sinceSeconds", sinceSeconds); err == nil && n > 0 {
		return now.Add(-time.Duration(n) * time.Second)
	}
	return time.Time{}
}

// logLines are the lines of a pod's log from a moment on, and the time of the
// latest line (or of the moment, when there is none yet).
func logLines(pod *store.Object, now, from time.Time, stamped bool) ([]string, time.Time) {
	o := pod.Map()
	start, ok := object.Time(o, "status", "startTime")
	if !ok {
		return nil, from
	}
	end := now
	phase := object.Text(o, "status", "phase")
	for _, ct := range object.List(o, "status", "containerStatuses") {
		if t, ok := object.Time(ct, "state", "terminated", "finishedAt"); ok {
			end = t
		}
	}
	var lines []string
	last := from
	add := func(t time.Time, message string) {
		if t.Before(from) || t.After(end) {
			return
		}
		if stamped {
			message = t.UTC().Format(time.RFC3339Nano) + " " + message
		}
		lines, last = append(lines, message), t
	}
	add(start, fmt.Sprintf("sandbox: %s started on %s (a practice pod: no process runs)", pod.Name, object.Text(o, "spec", "nodeName")))
	first := start.Add(logEvery)
	if skip := from.Sub(start) / logEvery; skip > 1 {
		first = start.Add(skip * logEvery)
	}
	for t := first; t.Before(end); t = t.Add(logEvery) {
		add(t, fmt.Sprintf("sandbox: step %d", t.Sub(start)/logEvery*10))
	}
	switch phase {
	case "Succeeded":
		add(end, "sandbox: finished")
	case "Failed":
		add(end, "sandbox: failed, exit code 1")
	}
	return lines, last
}
