package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// bookmarkEvery is the interval of bookmarks in an idle watch.
const bookmarkEvery = time.Minute

func watching(q url.Values) bool {
	v := q.Get("watch")
	on, err := strconv.ParseBool(v)
	return v != "" && (err != nil || on)
}

// stream is one running watch.
type stream struct {
	s      *Server
	c      *call
	f      format
	sel    selector
	sent   int64 // the watch has sent everything up to this resource version
	header bool  // the next event carries a table's columns
	marked time.Time
}

// watch streams changes until the client disconnects, timeoutSeconds are over, or the
// history no longer reaches back.
func (s *Server) watch(c *call) error {
	f, err := c.format()
	if err != nil {
		return err
	}
	q := c.URL.Query()
	sel, err := selectorOf(c, q)
	if err != nil {
		return err
	}
	seconds, err := atoi("timeoutSeconds", q.Get("timeoutSeconds"))
	if err != nil {
		return err
	}
	ctx := c.Context()
	if seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	w := &stream{s: s, c: c, f: f, sel: sel, header: true, marked: time.Now()}
	first, err := w.begin(ctx, q)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Cache-Control", "no-cache, private")
	c.w.WriteHeader(http.StatusOK)
	if !w.send(first) {
		return nil
	}
	w.run(ctx, q.Get("allowWatchBookmarks") == "true")
	return nil // the answer has begun: an error cannot follow
}

// event is one line of a watch.
type event struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

// begin finds the start of the watch and returns its first events.
func (w *stream) begin(ctx context.Context, q url.Values) ([]event, error) {
	rv, initial := q.Get("resourceVersion"), q.Get("sendInitialEvents") == "true"
	var events []event
	err := w.s.backend.View(ctx, func(st *store.Store) error {
		if (rv == "" || rv == "0") && q.Get("sendInitialEvents") != "false" || initial {
			for _, o := range st.List(w.c.res.FullName(), w.c.namespace) {
				if w.sel.matches(o) {
					events = append(events, w.event(string(store.Added), o))
				}
			}
			if w.sent = st.RV(); initial {
				events = append(events, w.bookmark(true))
			}
			return nil
		}
		n, err := strconv.ParseInt(rv, 10, 64)
		if err != nil && rv != "" {
			return badRequest("resourceVersion: Invalid value: " + strconv.Quote(rv))
		}
		if rv == "" {
			n = st.RV()
		}
		if _, err := st.Since(n); err != nil {
			return expired(n, st.Oldest())
		}
		w.sent = n
		return nil
	})
	return events, err
}

func (w *stream) event(kind string, o *store.Object) event {
	e := event{kind, w.s.shape(w.c, w.f, o, w.header)}
	w.header = false
	return e
}

func (w *stream) bookmark(initialEnd bool) event {
	meta := map[string]any{"resourceVersion": strconv.FormatInt(w.sent, 10), "creationTimestamp": nil}
	if initialEnd {
		meta["annotations"] = map[string]any{metav1.InitialEventsAnnotationKey: "true"}
	}
	o := map[string]any{"kind": w.c.res.Kind, "apiVersion": w.c.res.GroupVersion(), "metadata": meta}
	switch w.f.form {
	case metaOnly:
		o["kind"], o["apiVersion"] = "PartialObjectMetadata", metav1.SchemeGroupVersion.String()
	case asTable:
		row := map[string]any{"cells": []any{}, "object": map[string]any{"kind": "PartialObjectMetadata", "apiVersion": metav1.SchemeGroupVersion.String(), "metadata": meta}}
		o = map[string]any{"kind": "Table", "apiVersion": metav1.SchemeGroupVersion.String(), "metadata": listMeta{ResourceVersion: strconv.FormatInt(w.sent, 10)}, "columnDefinitions": []any{}, "rows": []any{row}}
	}
	return event{"BOOKMARK", o}
}

func (w *stream) send(events []event) bool {
	for _, e := range events {
		line, err := store.Encode(e)
		if err != nil {
			return false
		}
		if _, err := w.c.w.Write(append(line, '\n')); err != nil {
			return false
		}
	}
	if f, ok := w.c.w.(http.Flusher); ok {
		f.Flush()
	}
	return true
}

// run sends changes as they happen.
func (w *stream) run(ctx context.Context, bookmarks bool) {
	for {
		var events []event
		err := w.s.backend.View(ctx, func(st *store.Store) error {
			changes, err := st.Since(w.sent)
			if err != nil {
				return expired(w.sent, st.Oldest())
			}
			for _, c := range changes {
				if e, ok := w.translate(c); ok {
					events = append(events, e)
				}
			}
			w.sent = max(w.sent, st.RV())
			return nil
		})
		if err != nil {
			if ctx.Err() == nil {
				w.send([]event{{"ERROR", statusOf(err)}})
			}
			return
		}
		if len(events) == 0 && bookmarks && time.Since(w.marked) > bookmarkEvery {
			events = append(events, w.bookmark(false))
		}
		if len(events) > 0 {
			w.marked = time.Now()
			if !w.send(events) {
				return
			}
		}
		if w.s.backend.Wait(ctx, w.sent) != nil {
			return
		}
	}
}

// translate returns a change as this watch sees it. An object that no longer matches the
// selector is deleted for the watch; one that matches now is added.
func (w *stream) translate(c store.Change) (event, bool) {
	if c.Resource != w.c.res.FullName() || w.c.namespace != "" && c.Object.Namespace != w.c.namespace {
		return event{}, false
	}
	was, is := c.Before != nil && w.sel.matches(c.Before), c.Type != store.Deleted && w.sel.matches(c.Object)
	switch {
	case is && was:
		return w.event(string(store.Modified), c.Object), true
	case is:
		return w.event(string(store.Added), c.Object), true
	case was:
		return w.event(string(store.Deleted), c.Object), true
	}
	return event{}, false
}
