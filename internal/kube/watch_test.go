package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// events sends the events of a watch from a resource version, and ends it.
func events(t *testing.T, from string, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("watch") != "true" || q.Get("allowWatchBookmarks") != "true" || q.Get("resourceVersion") != from || q.Get("timeoutSeconds") != "300" {
			t.Errorf("watch with %v, want version %q", q, from)
		}
		for _, l := range lines {
			fmt.Fprintln(w, l)
		}
	}
}

func event(kind, object string) string { return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object) }

func mark(version string) string {
	return event("BOOKMARK", fmt.Sprintf(`{"kind":"ConfigMap","metadata":{"resourceVersion":%q}}`, version))
}

const gone = `{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old resource version","reason":"Expired","code":410}}`

// follow records the events until there were n of them.
func follow(c *Client, n int) (string, error) {
	var got []string
	err := Follow(bg, c, kinds.ConfigMap, "ns", ListOptions{}, func(e Event[item]) error {
		s := e.Type
		if e.Type != Synced {
			s += fmt.Sprintf("-%s%d", e.Object.Metadata.Name, e.Object.Value)
		}
		if got = append(got, s); len(got) == n {
			return ErrStop
		}
		return nil
	})
	return strings.Join(got, " "), err
}

func TestFollow(t *testing.T) {
	a1, a2, b1 := object("a", "ua", "1", 1), object("a", "ua", "5", 2), object("b", "ub", "2", 1)
	list := answer(listOf("3", a1, b1))
	tests := []struct {
		name  string
		turns []http.HandlerFunc
		want  string
		waits string
	}{
		{"list and changes", []http.HandlerFunc{list, events(t, "3", event(Modified, a2), event(Deleted, b1))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2 DELETED-b1", "[]"},
		{"ended, resumed where it was", []http.HandlerFunc{list, events(t, "3", event(Modified, a2)), events(t, "5", event(Deleted, object("b", "ub", "6", 1)))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2 DELETED-b1", "[]"},
		{"cut, resumed where it was", []http.HandlerFunc{list,
			func(w http.ResponseWriter, r *http.Request) {
				events(t, "3", event(Modified, a2))(w, r)
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			},
			events(t, "5", event(Deleted, b1))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2 DELETED-b1", "[]"},
		{"a bookmark moves the place", []http.HandlerFunc{list, events(t, "3", mark("50")), events(t, "50", event(Modified, object("a", "ua", "51", 2)))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2", "[]"},
		{"watches that end at once are not hammered", []http.HandlerFunc{list, events(t, "3"), events(t, "3"), events(t, "3", mark("4")), events(t, "4", event(Modified, a2))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2", "[250ms 500ms]"},
		{"410 in the stream: a new list tells the difference", []http.HandlerFunc{list, events(t, "3", gone),
			answer(listOf("9", object("a", "ua", "5", 2), object("c", "uc", "7", 1))), events(t, "9", event(Modified, object("c", "uc", "10", 3)))},
			"ADDED-a1 ADDED-b1 SYNCED DELETED-b1 MODIFIED-a2 ADDED-c1 MODIFIED-c3", "[]"},
		{"410 as an answer", []http.HandlerFunc{list, refuse(410, "Expired", "x"), answer(listOf("9", a1, b1)), events(t, "9", event(Modified, a2))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2", "[]"},
		{"another object of the same name", []http.HandlerFunc{list, events(t, "3", gone), answer(listOf("9", object("a", "other", "8", 9), b1)), events(t, "9", event(Deleted, b1))},
			"ADDED-a1 ADDED-b1 SYNCED DELETED-a1 ADDED-a9 DELETED-b1", "[]"},
		{"an error of the server passes", []http.HandlerFunc{list, refuse(500, "InternalError", "x"), events(t, "3", event(Modified, a2))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2", "[]"},
		{"refused while the server starts", []http.HandlerFunc{list, refuse(503, "ServiceUnavailable", "x"), refuse(403, "Forbidden", "x"), refuse(401, "Unauthorized", "x"), events(t, "3", event(Modified, a2))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2", "[250ms 250ms]"},
		{"the list again fails for a while", []http.HandlerFunc{list, events(t, "3", gone), refuse(500, "InternalError", "x"), refuse(500, "InternalError", "x"), answer(listOf("9", a1, b1)), events(t, "9", event(Modified, a2))},
			"ADDED-a1 ADDED-b1 SYNCED MODIFIED-a2", "[250ms 500ms]"},
		{"added", []http.HandlerFunc{answer(listOf("1")), events(t, "1", event(Added, a1), event(Added, b1))}, "SYNCED ADDED-a1 ADDED-b1", "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, n := serve(t, inTurn(t, tt.turns...))
			got, err := follow(c, len(strings.Fields(tt.want)))
			if err != nil || got != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
			if n.String() != tt.waits {
				t.Errorf("waits %s, want %s", n, tt.waits)
			}
			mustHaveSent(t, c, len(tt.turns))
		})
	}
}

func TestFollowEnds(t *testing.T) {
	list := answer(listOf("3", object("a", "ua", "1", 1)))
	for _, code := range []int{401, 403, 404} {
		t.Run(fmt.Sprint(code, " at once"), func(t *testing.T) {
			c, n := serve(t, inTurn(t, list, events(t, "3"), refuse(code, "x", "x")))
			if _, err := follow(c, 99); !hasCode(err, code) || n.String() != "[]" {
				t.Errorf("%v, waits %s", err, n)
			}
		})
	}
	t.Run("refused for good by a server that came back", func(t *testing.T) {
		turns := []http.HandlerFunc{list, refuse(503, "ServiceUnavailable", "x")}
		for range patience {
			turns = append(turns, refuse(403, "Forbidden", "User \"u\" cannot watch resource"))
		}
		c, n := serve(t, inTurn(t, turns...))
		var said []Delay
		c.o.Delayed = func(d Delay) { said = append(said, d) }
		_, err := follow(c, 99)
		mustSay(t, err, errs.Denied, `cannot watch configmaps in namespace ns`, "permission to watch")
		if want := []Delay{{Stage: Retry, Retry: time.Second, Status: 403}}; !slices.Equal(said, want) {
			t.Errorf("said %v, want %v", said, want)
		}
		if n.String() != "[250ms 250ms 500ms 1s 2s 4s 8s]" {
			t.Errorf("waits %s", n)
		}
	})
	t.Run("not even listed", func(t *testing.T) {
		c, n := serve(t, inTurn(t, refuse(500, "InternalError", "x")))
		if got, err := follow(c, 99); err == nil || got != "" || n.String() != "[]" {
			t.Errorf("got %q, %v, waits %s", got, err, n)
		}
	})
	t.Run("the caller's error", func(t *testing.T) {
		c, _ := serve(t, inTurn(t, list))
		full := errors.New("disk full")
		err := Follow(bg, c, kinds.ConfigMap, "ns", ListOptions{}, func(Event[item]) error { return full })
		if err != full {
			t.Errorf("got %v", err)
		}
	})
	t.Run("interrupted while watching", func(t *testing.T) {
		ctx, cancel := context.WithCancel(bg)
		c, _ := serve(t, inTurn(t, list, func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			cancel()
			<-r.Context().Done()
		}))
		err := Follow(ctx, c, kinds.ConfigMap, "ns", ListOptions{}, func(Event[item]) error { return nil })
		mustSay(t, err, errs.Interrupted, "interrupted")
	})
	t.Run("out of time while waiting to resume", func(t *testing.T) {
		ctx, cancel := context.WithDeadline(bg, time.Unix(0, 0))
		defer cancel()
		c, _ := serve(t, inTurn(t))
		err := Follow(ctx, c, kinds.ConfigMap, "ns", ListOptions{}, func(Event[item]) error { return nil })
		mustSay(t, err, errs.Timeout, "the deadline passed")
	})
}

// TestFollowIsEndless runs a watch for longer than the request timeout, on a clock
// that no load slows down. The watch holds no slot.
func TestFollowIsEndless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Client
		c = NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("watch") == "" {
				fmt.Fprint(w, listOf("3"))
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-time.After(2 * c.o.Timeout):
			case <-r.Context().Done():
				t.Error("the watch was cut")
			}
			if len(c.slots) != 0 {
				t.Errorf("the watch holds a slot")
			}
			fmt.Fprintln(w, event(Added, object("a", "ua", "4", 1)))
		}), "test", Options{Timeout: time.Second})
		if got, err := follow(c, 2); err != nil || got != "SYNCED ADDED-a1" {
			t.Errorf("got %s, %v", got, err)
		}
	})
}

func TestFollowMetadataOnly(t *testing.T) {
	var accepts []string
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		accepts = append(accepts, strings.Split(r.Header.Get("Accept"), ";g=")[0])
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprint(w, listOf("3"))
			return
		}
		fmt.Fprintln(w, event(Added, object("a", "u", "4", 1)))
	})
	err := Follow(bg, c, kinds.ConfigMap, "ns", ListOptions{MetadataOnly: true}, func(e Event[item]) error {
		if e.Type == Added {
			return ErrStop
		}
		return nil
	})
	if got := strings.Join(accepts, " "); err != nil || got != "application/json;as=PartialObjectMetadataList application/json;as=PartialObjectMetadata" {
		t.Errorf("got %s, %v", got, err)
	}
}

// After a long quiet watch, the next one starts without a wait.
func TestFollowQuiet(t *testing.T) {
	now := time.Unix(0, 0)
	c, n := serve(t, inTurn(t, answer(listOf("3")), events(t, "3"), events(t, "3"), events(t, "3"), events(t, "3", event(Added, object("a", "u", "4", 1)))),
		func(o *Options) { o.Now = func() time.Time { now = now.Add(time.Minute); return now } })
	if got, err := follow(c, 2); err != nil || got != "SYNCED ADDED-a1" || n.String() != "[]" {
		t.Errorf("got %s, %v, waits %s", got, err, n)
	}
}

// A server that ends each watch after an event is not asked without pauses; the events still come.
func TestFollowBriefWatches(t *testing.T) {
	turns := []http.HandlerFunc{answer(listOf("3"))}
	for i := range 8 {
		turns = append(turns, events(t, strconv.Itoa(3+i), event(Added, object("a"+strconv.Itoa(i), "u", strconv.Itoa(4+i), 1))))
	}
	now := time.Unix(0, 0)
	c, n := serve(t, inTurn(t, turns...), func(o *Options) { o.Now = func() time.Time { return now } })
	if got, err := follow(c, 9); err != nil || !strings.HasSuffix(got, "ADDED-a71") || n.String() != "[250ms 500ms 1s 1s 1s 1s]" {
		t.Errorf("got %s, %v, waits %s", got, err, n)
	}
}

func TestBackoffGrowsToALimit(t *testing.T) {
	var got []time.Duration
	for i := 1; i < 12; i++ {
		got = append(got, backoff(i))
	}
	if !slices.IsSorted(got) || got[0] != 250*time.Millisecond || got[10] != 30*time.Second {
		t.Errorf("got %v", got)
	}
}
