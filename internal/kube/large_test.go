package kube

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// An answer that is not the object asked for is an error, and never becomes an object.
func TestOtherAnswers(t *testing.T) {
	for _, body := range []string{`null`, `{}`, `[]`, `"x"`, `{"kind": 7, "metadata": "x"}`, `{"metadata": {"name": "other"}}`, `{"metadata": {"name": 1}}`, `{"metadata": {"name": "a"}`} {
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, body)
		})
		into := map[string]any{}
		if err := c.Get(bg, kinds.ConfigMap, "ns", "a", &into); err == nil {
			t.Errorf("get: %s is %v", body, into)
		}
		err := c.Create(bg, kinds.ConfigMap, "ns", map[string]any{"metadata": map[string]any{"name": "a"}}, CreateOptions{}, &into)
		if err == nil || !OutcomeUnknown(err) {
			t.Errorf("create: %s: %v", body, err)
		}
	}
}

// Large answers are read one at a time; small ones do not wait for them.
func TestLargeAnswersTakeTurns(t *testing.T) {
	turn := newTurns()
	turn <- struct{}{} // another one is read
	if data, err := turn.readAll(bg, bytes.NewReader([]byte("{}")), 64<<20); err != nil || string(data) != "{}" {
		t.Errorf("%q, %v", data, err)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := turn.readAll(ctx, bytes.NewReader(make([]byte, 3<<20)), 64<<20); err == nil {
		t.Error("it was read beside the other one")
	}
	<-turn
	if data, err := turn.readAll(bg, bytes.NewReader(make([]byte, 3<<20)), 64<<20); err != nil || len(data) != 3<<20 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := turn.readAll(bg, bytes.NewReader(make([]byte, 3<<20)), 2<<20); err == nil {
		t.Error("it is larger than the limit")
	}
}
