package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// The types of an Event.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	// Synced follows, once, the objects that existed at the start; it has no object.
	Synced = "SYNCED"
)

// bookmark is the type of an event that only says how far the watch has come.
const bookmark = "BOOKMARK"

// Event is a change of one object.
type Event[T any] struct {
	Type   string
	Object T
}

// ErrStop, returned by the function given to Follow, ends Follow without an error.
var ErrStop = errors.New("stop")

// watchFor is how long one watch is asked to last, so that a connection that
// died silently is noticed.
const watchFor = 5 * time.Minute

// patience is how many refusals in a row are waited out after the server was away:
// one that has just started refuses what it has not yet read the rules for. Of a
// server that was there all along a refusal is final (credentials that ran out have
// been renewed by then).
const patience = 8

// quiet is how long a watch without events has to last to count as a success.
const quiet = 10 * time.Second

// Follow lists and then watches objects of a kind, calling f for every change,
// until ctx ends or f returns an error (ErrStop is a clean end). Lost
// connections are resumed where they broke off; when the server has forgotten
// that place, the difference is worked out from a new list. f is called from one
// goroutine. Before Synced any error ends it. Afterwards lost connections and an
// overloaded server (429, 5xx) are waited out, and so, for a while, are the refusals
// (401, 403, 404) of a server that comes back; any other answer ends it at once.
func Follow[T any](ctx context.Context, c *Client, r kinds.Resource, namespace string, o ListOptions, f func(Event[T]) error) error {
	w := &follower{c: c, r: r, namespace: namespace, o: o, known: map[string]tracked{},
		decode: func(raw json.RawMessage) (any, error) {
			t := new(T)
			return t, Decode(raw, t)
		},
		f: func(kind string, object any) error {
			e := Event[T]{Type: kind}
			if object != nil {
				e.Object = *object.(*T)
			}
			return f(e)
		}}
	err := w.run(ctx)
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}

// follower is one Follow under way. It does not know the type of the objects, so that its code exists once: decode returns a
// pointer, and f takes it, or nil with Synced.
type follower struct {
	c         *Client
	r         kinds.Resource
	namespace string
	o         ListOptions
	decode    func(json.RawMessage) (any, error)
	f         func(kind string, object any) error
	known     map[string]tracked // by namespace/name
	version   string             // resource version to resume from; "" needs a list
	synced    bool
}

// tracked is the last that was seen of an object: enough to tell what changed
// while the watch was down.
type tracked struct {
	uid, version string
	object       any
}

// callbackError is an error of the caller's own function.
type callbackError struct{ err error }

func (e callbackError) Error() string { return e.err.Error() }
func (e callbackError) Unwrap() error { return e.err }

// brief is how long a watch with events at least lasts. A server that ends each one sooner is not asked without pauses.
const brief = time.Second

func (w *follower) run(ctx context.Context) error {
	failures, refusals, away := 0, 0, false
	hurried := 0  // brief watches with events in a row
	said := false // that it tries again
	for {
		var err error
		progress := false
		if w.version == "" {
			err = w.relist(ctx)
		}
		begun := w.c.o.Now()
		if err == nil {
			progress, err = w.watch(ctx)
		}
		var own callbackError
		switch {
		case errors.As(err, &own):
			return own.err
		case err != nil && !w.synced:
			return err
		case ctx.Err() != nil:
			return w.c.explain(ctx, w.call(), ctx.Err())
		case isExpired(err):
			w.version = ""
		case err != nil && !transient(err):
			se, _ := status(err)
			away = away || se != nil && se.wasAway
			if refusals++; !refused(err) || !away || refusals >= patience {
				return err
			}
		case err != nil:
			away = true
		}
		if progress {
			failures, refusals, away, said = 0, 0, false, false
			if hurried++; w.c.o.Now().Sub(begun) >= brief {
				hurried = 0
			}
			failures = max(0, min(hurried-1, 3)) // at most a second: there are changes to show
		}
		failures++
		// The first resume is immediate: servers end watches as a matter of course.
		if failures > 1 {
			wait := backoff(failures - 1)
			if err != nil && wait >= longWait && !said {
				w.c.retries(wait, err)
				said = true
			}
			if err := w.c.o.Sleep(ctx, wait); err != nil {
				return w.c.explain(ctx, w.call(), err)
			}
		}
	}
}

// refused reports whether the server answered and did not want to.
func refused(err error) bool {
	se, ok := status(err)
	return ok && (se.Code == http.StatusUnauthorized || se.Code == http.StatusForbidden || se.Code == http.StatusNotFound)
}

// transient reports whether following may go on after an error.
func transient(err error) bool {
	if se, ok := status(err); ok {
		return se.Code >= 500 || se.Code == http.StatusTooManyRequests
	}
	if errors.As(err, new(*bounded.TooLarge)) {
		return false
	}
	var be *bodyError
	var te *transportError
	return errors.As(err, &be) || errors.As(err, &te) && isBroken(te) || isRefused(err) || isTimeout(err)
}

func (w *follower) call() call {
	q := url.Values{"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {w.version},
		"timeoutSeconds": {strconv.Itoa(int(watchFor.Seconds()))}}
	if w.o.LabelSelector != "" {
		q.Set("labelSelector", w.o.LabelSelector)
	}
	if w.o.FieldSelector != "" {
		q.Set("fieldSelector", w.o.FieldSelector)
	}
	k := call{method: http.MethodGet, path: w.r.Path(w.namespace, ""), query: q, safe: true, stream: true,
		verb: "watch", res: w.r, namespace: w.namespace}
	if w.o.MetadataOnly {
		k.accept = metadataOnly
	}
	return k
}

// keyed is what following reads of every object besides T.
type keyed struct {
	Metadata struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

func (k keyed) key() string { return k.Metadata.Namespace + "/" + k.Metadata.Name }

// relist reads everything and reports how it differs from what is known.
func (w *follower) relist(ctx context.Context) error {
	page, err := List[json.RawMessage](ctx, w.c, w.r, w.namespace, w.o)
	if err != nil {
		return err
	}
	now := make(map[string]tracked, len(page.Items))
	keys := make([]string, len(page.Items))
	for i, raw := range page.Items {
		t, key, err := w.track(raw)
		if err == nil {
			err = t.identified(key)
		}
		if err != nil {
			return w.c.explain(ctx, w.call(), &bodyError{err})
		}
		keys[i], now[key] = key, t
	}
	old := w.known
	w.known, w.version = now, page.ResourceVersion
	// What is gone comes first: its name may belong to another object by now.
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if t, ok := now[key]; ok && t.uid == old[key].uid {
			continue
		}
		if err := w.emit(Deleted, old[key].object); err != nil {
			return err
		}
		delete(old, key)
	}
	for _, key := range keys {
		var err error
		switch before, had := old[key]; {
		case !had:
			err = w.emit(Added, now[key].object)
		case before.version != now[key].version:
			err = w.emit(Modified, now[key].object)
		}
		if err != nil {
			return err
		}
	}
	if !w.synced {
		w.synced = true
		return w.emit(Synced, nil)
	}
	return nil
}

// track decodes an object and what following has to know of it.
func (w *follower) track(raw json.RawMessage) (t tracked, key string, err error) {
	var k keyed
	if err := notNull(raw); err != nil {
		return t, "", err
	}
	if err := Decode(raw, &k); err != nil {
		return t, "", err
	}
	t.uid, t.version = k.Metadata.UID, k.Metadata.ResourceVersion
	t.object, err = w.decode(raw)
	return t, k.key(), err
}

// identified returns an error for an object without a UID: only the UID says whether an object of the same name is the same.
func (t tracked) identified(key string) error {
	if t.uid == "" {
		return fmt.Errorf("the object %s has no UID", strings.TrimPrefix(key, "/"))
	}
	return nil
}

func (w *follower) emit(kind string, object any) error {
	if err := w.f(kind, object); err != nil {
		return callbackError{err}
	}
	return nil
}

// watch follows changes until the connection ends. progress says whether it
// brought anything.
func (w *follower) watch(ctx context.Context) (progress bool, err error) {
	k := w.call()
	resp, err := w.c.do(ctx, k)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	begun := w.c.o.Now()
	defer func() { progress = progress || w.c.o.Now().Sub(begun) >= quiet }()
	events := bounded.NewReader(resp.Body, bounded.Object)
	d := json.NewDecoder(events)
	for {
		var e struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := d.Decode(&e); err != nil {
			if errors.Is(err, io.EOF) {
				return progress, nil
			}
			return progress, w.c.explain(ctx, k, &bodyError{err})
		}
		events.Reset()
		if e.Type == "ERROR" {
			var s statusBody
			if err := json.Unmarshal(e.Object, &s); err != nil {
				return progress, w.c.explain(ctx, k, &bodyError{err})
			}
			se := &StatusError{Code: s.Code}
			se.fill(s)
			return progress, w.c.explain(ctx, k, se)
		}
		if err := w.apply(e.Type, e.Object); err != nil {
			var own callbackError
			if !errors.As(err, &own) {
				err = w.c.explain(ctx, k, &bodyError{err})
			}
			return progress, err
		}
		// A bookmark alone is no reason to come back at once.
		progress = progress || e.Type != bookmark
	}
}

// apply takes in one event of a watch.
func (w *follower) apply(kind string, raw json.RawMessage) error {
	t, key, err := w.track(raw)
	if err != nil {
		return err
	}
	if kind != bookmark { // which has no object
		if err := t.identified(key); err != nil {
			return err
		}
	}
	if t.version != "" {
		w.version = t.version
	}
	switch kind {
	case bookmark:
		return nil
	case Deleted:
		delete(w.known, key)
	default:
		w.known[key] = t
	}
	return w.emit(kind, t.object)
}
