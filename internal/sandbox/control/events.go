package control

import (
	"fmt"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// maxEvents is how many events a sandbox keeps. A cluster keeps them for an hour.
const maxEvents = 400

// sources maps kinds to the component that reports on them.
var sources = map[string]string{
	"Workload": "kueue-admission",
	"Pod":      "default-scheduler",
}

// event records an event about an object and reports whether it did. It does not repeat
// a warning that exists already. It counts any other event that happens again.
func (s *sim) event(o *store.Object, kind, reason, message string) bool {
	if len(message) > 1024 {
		message = message[:1021] + "..."
	}
	now := object.Stamp(s.now)
	about := happening{o.UID, reason, message}
	if e := s.eventsKnown()[about]; e != nil {
		if kind == "Warning" || object.Text(e.Map(), "lastTimestamp") == now {
			return false
		}
		m := e.Copy()
		n, _ := object.Int(m, "count")
		m["count"], m["lastTimestamp"] = n+1, now
		e, err := s.st.Put(kinds.Event.FullName(), m)
		if err == nil {
			s.events[about] = e
		}
		return err == nil
	}
	source := sources[object.Text(o.Map(), "kind")]
	if source == "" {
		source = "sandbox-job-controller"
	}
	ref := map[string]any{"apiVersion": object.Text(o.Map(), "apiVersion"), "kind": object.Text(o.Map(), "kind"),
		"name": o.Name, "uid": o.UID, "resourceVersion": fmt.Sprint(o.RV)}
	if o.Namespace != "" {
		ref["namespace"] = o.Namespace
	}
	e, err := s.create(kinds.Event.FullName(), map[string]any{
		"apiVersion": "v1", "kind": "Event",
		// The name is unique: the resource version is used once.
		"metadata":       map[string]any{"name": fmt.Sprintf("%s.%x", o.Name, s.now.UnixNano()+s.st.RV()), "namespace": namespaceOf(o)},
		"involvedObject": ref, "type": kind, "reason": reason, "message": message, "count": int64(1),
		"firstTimestamp": now, "lastTimestamp": now,
		"source": map[string]any{"component": source}, "reportingComponent": source, "reportingInstance": "",
	})
	if err == nil {
		s.events[about] = e
	}
	return err == nil
}

// happening identifies an event: two events with the same value are one.
type happening struct{ uid, reason, message string }

func happeningOf(e *store.Object) happening {
	return happening{object.Text(e.Map(), "involvedObject", "uid"), object.Text(e.Map(), "reason"), object.Text(e.Map(), "message")}
}

// eventsKnown returns the events by their identity. It reads them once, because only
// this package changes events during a run.
func (s *sim) eventsKnown() map[happening]*store.Object {
	if s.events == nil {
		s.events = map[happening]*store.Object{}
		for _, e := range s.st.List(kinds.Event.FullName(), "") {
			s.events[happeningOf(e)] = e
		}
	}
	return s.events
}

// namespaceOf returns the namespace of events about an object.
func namespaceOf(o *store.Object) string {
	if o.Namespace == "" {
		return "default"
	}
	return o.Namespace
}

// trimEvents removes the oldest events beyond maxEvents.
func (s *sim) trimEvents() {
	events := s.st.List(kinds.Event.FullName(), "")
	if len(events) <= maxEvents {
		return
	}
	slices.SortFunc(events, func(a, b *store.Object) int { return int(a.RV - b.RV) })
	for _, e := range events[:len(events)-maxEvents] {
		s.st.Remove(kinds.Event.FullName(), e.Namespace, e.Name)
		delete(s.eventsKnown(), happeningOf(e))
	}
}
