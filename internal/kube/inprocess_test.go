package kube

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func inProcess(h http.HandlerFunc) (*Client, *naps) {
	n := &naps{}
	return NewInProcess(h, "sandbox default", Options{UserAgent: "hyperpod/test", Sleep: n.sleep}), n
}

func TestInProcess(t *testing.T) {
	c, _ := inProcess(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == "POST" && (string(body) != `{"a":1}` || r.Header.Get("Content-Type") != "application/json") {
			t.Errorf("got %s", body)
		}
		if r.RequestURI != r.URL.RequestURI() || r.UserAgent() != "hyperpod/test" || r.Host == "" {
			t.Errorf("odd request %+v", r)
		}
		if r.Method == "POST" {
			w.WriteHeader(http.StatusCreated)
		}
		fmt.Fprint(w, listOf("1", object("a", "1", "1", 1)))
	})
	if p, err := listItems(c); err != nil || names(p.Items) != "a" {
		t.Errorf("got %+v, %v", p, err)
	}
	if err := c.Create(bg, kinds.ConfigMap, "ns", map[string]any{"a": 1}, CreateOptions{}, nil); err != nil {
		t.Error(err)
	}
	if c.Server() != "sandbox default" || c.Requests() != 2 || c.Config() != nil {
		t.Errorf("%s, %d requests", c.Server(), c.Requests())
	}
}

func TestInProcessErrors(t *testing.T) {
	c, _ := inProcess(refuse(409, "AlreadyExists", "x"))
	if err := c.Create(bg, kinds.ConfigMap, "ns", map[string]any{}, CreateOptions{}, nil); !IsAlreadyExists(err) {
		t.Errorf("got %v", err)
	}
	c, _ = inProcess(func(http.ResponseWriter, *http.Request) { panic("boom") })
	if _, err := getItem(c); err == nil || !strings.Contains(errs.Text(err, true), "500") {
		t.Errorf("a panic gives no answer: %v", err)
	}
	c, _ = inProcess(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"items":[`)
		panic("boom")
	})
	if _, err := listItems(c); err == nil {
		t.Error("a panic within the answer gives no error")
	}
	// A handler that answers nothing answers 200 with nothing.
	c, _ = inProcess(func(http.ResponseWriter, *http.Request) {})
	if _, err := getItem(c); err == nil {
		t.Error("an empty answer is an object")
	}
}

func TestInProcessStreams(t *testing.T) {
	step := make(chan struct{})
	ended := make(chan error, 1)
	c, _ := inProcess(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/api/v1/namespaces/ns/pods/p/log?follow=true" {
			t.Errorf("got %s", r.URL)
		}
		for i := 0; ; i++ {
			fmt.Fprintf(w, "line %d\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-step:
			case <-r.Context().Done():
				ended <- r.Context().Err()
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	log, err := c.Stream(ctx, kinds.Pod, "ns", "p", "log", url.Values{"follow": {"true"}})
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for i := range 3 { // each line is there before the next is written
		if !lines.Scan() || lines.Text() != fmt.Sprintf("line %d", i) {
			t.Fatalf("got %q, %v", lines.Text(), lines.Err())
		}
		if i < 2 {
			step <- struct{}{}
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler ended with %v", err)
	}
	if lines.Scan() || !errors.Is(lines.Err(), context.Canceled) {
		t.Errorf("the reader got %q, %v", lines.Text(), lines.Err())
	}
}

// Closing the answer ends the handler, even one that only writes.
func TestInProcessClose(t *testing.T) {
	ended := make(chan struct{})
	c, _ := inProcess(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for {
			if _, err := fmt.Fprintln(w, "x"); err != nil {
				return
			}
		}
	})
	log, err := c.Stream(bg, kinds.Pod, "ns", "p", "log", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = log.Close()
	<-ended
}

// A handler that hangs before the first byte does not hold the caller.
func TestInProcessHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	release := make(chan struct{})
	defer close(release)
	c, _ := inProcess(func(http.ResponseWriter, *http.Request) { cancel(); <-release })
	err := c.Get(ctx, kinds.ConfigMap, "ns", "a", nil)
	mustSay(t, err, errs.Interrupted, "interrupted")
	if err := c.Get(ctx, kinds.ConfigMap, "ns", "a", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestInProcessFollow(t *testing.T) {
	c, _ := inProcess(inTurn(t, answer(listOf("3", object("a", "ua", "1", 1))), events(t, "3", event(Modified, object("a", "ua", "4", 2)))))
	if got, err := follow(c, 3); err != nil || got != "ADDED-a1 SYNCED MODIFIED-a2" {
		t.Errorf("got %s, %v", got, err)
	}
}
