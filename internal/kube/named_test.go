package kube

import (
	"context"
	"net/http"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// An empty name would turn a request for one object into one for all of them.
func TestEmptyNameIsRefused(t *testing.T) {
	c := NewInProcess(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }), "test", Options{})
	ctx := context.Background()
	for what, err := range map[string]error{
		"get":    c.Get(ctx, kinds.PyTorchJob.Resource, "ns", "", nil),
		"delete": c.Delete(ctx, kinds.PyTorchJob.Resource, "ns", "", DeleteOptions{}),
		"patch":  c.Change(ctx, kinds.PyTorchJob.Resource, "ns", "", MergePatch, map[string]any{}, ChangeOptions{}, nil),
	} {
		if errs.ExitOf(err) != errs.Usage {
			t.Errorf("%s: %v", what, err)
		}
	}
}
