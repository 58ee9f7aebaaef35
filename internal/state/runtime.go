package state

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kinds/trainruntime"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Runtimes reads the runtimes that jobs name, each once. What cannot be read counts as
// absent: then a job shows what it says itself about its pods.
type Runtimes struct {
	c *kube.Client

	mu    sync.Mutex
	found map[[3]string]map[string]any
}

// NewRuntimes returns a Runtimes that reads with c.
func NewRuntimes(c *kube.Client) *Runtimes {
	return &Runtimes{c: c, found: map[[3]string]map[string]any{}}
}

func (r *Runtimes) find(ctx context.Context, ref kinds.Reference) map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := [3]string{ref.Kind, ref.Namespace, ref.Name}
	if object, known := r.found[key]; known {
		return object
	}
	var object map[string]any
	if err := r.c.Get(ctx, ref.Resource, ref.Namespace, ref.Name, &object); err != nil {
		object = nil
	}
	r.found[key] = object
	return object
}

// Whole returns an object of a kind with a runtime together with the child that its
// operator makes of both (kinds.WithChild), where the runtime can be read. Objects of
// other kinds stay as they are.
func (r *Runtimes) Whole(ctx context.Context, k kinds.Job, object map[string]any) map[string]any {
	if k.Runtime == nil {
		return object
	}
	out, _, err := trainruntime.With(k, object, func(ref kinds.Reference) map[string]any { return r.find(ctx, ref) })
	if err != nil {
		return object
	}
	return out
}

// wholeJSON is Whole for an object's text.
func (r *Runtimes) wholeJSON(ctx context.Context, k kinds.Job, text json.RawMessage) json.RawMessage {
	var object map[string]any
	if k.Runtime == nil || kube.Decode(text, &object) != nil {
		return text
	}
	if out, err := json.Marshal(r.Whole(ctx, k, object)); err == nil {
		return out
	}
	return text
}
