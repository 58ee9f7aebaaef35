package kube

import (
	"context"
	"net/http"
	"net/url"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// GetSub reads a subresource of an object, as Get reads the object.
func (c *Client) GetSub(ctx context.Context, r kinds.Resource, namespace, name, sub string, query url.Values, into any) error {
	if err := named("get", r, name); err != nil {
		return err
	}
	return c.object(ctx, call{method: http.MethodGet, path: r.Path(namespace, name, sub), query: query, safe: true,
		verb: "get", res: r, namespace: namespace, name: name}, into)
}
