package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// logEvery is the time between the lines of a sandbox pod's log.
const logEvery = time.Minute

// noProcess answers attach and port-forward, which need a process.
func (s *Server) noProcess(c *call) error {
	return badRequest("a sandbox runs no processes: cannot " + c.sub + " in pod " + c.name)
}

// podLog writes an invented log: a sandbox pod runs no process, so the lines show how
// long the pod has been running.
func (s *Server) podLog(c *call) error {
	o, err := s.logOptions(c)
	if err != nil {
		return err
	}
	pod, rv, err := s.loggedPod(c, o.container)
	if err != nil {
		return err
	}
	if o.previous {
		// A sandbox never restarts a container.
		return badRequest(fmt.Sprintf("previous terminated container %q in pod %q not found", firstOr(o.container, pod), c.name))
	}
	lines, last := logLines(pod, s.backend.Now(), o.from, o.stamped)
	if o.tail >= 0 && int64(len(lines)) > o.tail {
		lines = lines[int64(len(lines))-o.tail:]
	}
	c.w.Header().Set("Content-Type", "text/plain")
	c.w.WriteHeader(http.StatusOK)
	left := o.limit
	left = emit(c.w, lines, left)
	for o.follow && left != 0 && object.Text(pod.Map(), "status", "phase") == "Running" {
		if err := s.backend.Wait(c.Context(), rv); err != nil {
			return nil
		}
		if pod, rv, err = s.loggedPod(c, o.container); err != nil {
			return nil // the pod is deleted: the log ends
		}
		lines, last = logLines(pod, s.backend.Now(), last.Add(time.Second), o.stamped)
		left = emit(c.w, lines, left)
	}
	return nil
}

// logOptions holds a request's PodLogOptions.
type logOptions struct {
	container                 string
	follow, stamped, previous bool
	from                      time.Time
	tail, limit               int64 // -1: all
}

// logOptions reads and checks the options, in the API server's words.
func (s *Server) logOptions(c *call) (logOptions, error) {
	q := c.URL.Query()
	flag := func(name string) bool { on, _ := strconv.ParseBool(q.Get(name)); return on }
	o := logOptions{container: q.Get("container"), follow: flag("follow"), stamped: flag("timestamps"), previous: flag("previous"), tail: -1, limit: -1}
	var problems field.ErrorList
	count := func(name string, least int64) int64 {
		if !q.Has(name) {
			return -1
		}
		n, err := strconv.ParseInt(q.Get(name), 10, 64)
		if err != nil {
			problems = append(problems, field.Invalid(field.NewPath(name), q.Get(name), "must be a whole number"))
		} else if n < least {
			problems = append(problems, field.Invalid(field.NewPath(name), n, fmt.Sprintf("must be greater than or equal to %d", least)))
		}
		return n
	}
	o.tail, o.limit = count("tailLines", 0), count("limitBytes", 1)
	if n := count("sinceSeconds", 1); n > 0 {
		o.from = s.backend.Now().Add(-time.Duration(n) * time.Second)
	}
	if q.Has("sinceTime") {
		t, err := time.Parse(time.RFC3339, q.Get("sinceTime"))
		if err != nil {
			problems = append(problems, field.Invalid(field.NewPath("sinceTime"), q.Get("sinceTime"), "must be a time in RFC 3339"))
		}
		if q.Has("sinceSeconds") {
			problems = append(problems, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
		}
		o.from = t.Truncate(time.Second)
	}
	if len(problems) > 0 {
		return o, apierrors.NewInvalid(schema.GroupKind{Kind: "PodLogOptions"}, c.name, problems)
	}
	return o, nil
}

// firstOr returns the container, or the pod's first.
func firstOr(container string, pod *store.Object) string {
	if names := object.List(pod.Map(), "spec", "containers"); container == "" && len(names) > 0 {
		return object.Text(names[0], "name")
	}
	return container
}

// emit sends at most left bytes of lines (-1: all) and returns the remaining limit.
func emit(w http.ResponseWriter, lines []string, left int64) int64 {
	if len(lines) > 0 {
		text := strings.Join(lines, "\n") + "\n"
		if left >= 0 && int64(len(text)) > left {
			text = text[:left]
		}
		if left >= 0 {
			left -= int64(len(text))
		}
		_, _ = w.Write([]byte(text))
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	return left
}

// loggedPod returns the pod and the state's resource version, or the reason why the pod
// has no log.
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
	var names, all []string
	for _, ct := range object.List(pod.Map(), "spec", "containers") {
		names = append(names, object.Text(ct, "name"))
	}
	all = slices.Clone(names)
	for _, ct := range object.List(pod.Map(), "spec", "initContainers") {
		all = append(all, object.Text(ct, "name"))
	}
	switch {
	case container == "" && len(names) > 1:
		return nil, 0, badRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: [%s]", c.name, strings.Join(names, " ")))
	case container != "" && !slices.Contains(all, container):
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

// logLines returns the lines of a pod's log from a time on, and the time of the last
// line (from if there is none).
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
	add(start, fmt.Sprintf("sandbox: %s started on %s (simulated: no process runs)", pod.Name, object.Text(o, "spec", "nodeName")))
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
