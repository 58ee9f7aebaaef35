package kube

import (
	"context"
	"net/http"
	"net/url"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// ChangeOptions are the options of Change and Update.
type ChangeOptions struct {
	DryRun bool
	// FieldManager is the name in the server's managedFields of the changed fields.
	FieldManager string
	// Force takes over fields of other managers; only for an ApplyPatch.
	Force bool
}

func (o ChangeOptions) query() url.Values {
	q := url.Values{}
	if o.DryRun {
		q.Set("dryRun", "All")
	}
	if o.FieldManager != "" {
		q.Set("fieldManager", o.FieldManager)
	}
	if o.Force {
		q.Set("force", "true")
	}
	return q
}

// Change patches an object. If into is not nil, it receives the result.
func (c *Client) Change(ctx context.Context, r kinds.Resource, namespace, name string, t PatchType, body any, o ChangeOptions, into any) error {
	return c.write(ctx, http.MethodPatch, string(t), r, namespace, name, body, o, into)
}

// Update replaces a whole object, with the resourceVersion that was read, so that a change made in the meantime leads to
// a conflict.
func (c *Client) Update(ctx context.Context, r kinds.Resource, namespace, name string, body any, o ChangeOptions, into any) error {
	return c.write(ctx, http.MethodPut, "application/json", r, namespace, name, body, o, into)
}

func (c *Client) write(ctx context.Context, method, contentType string, r kinds.Resource, namespace, name string, body any, o ChangeOptions, into any) error {
	if err := named("change", r, name); err != nil {
		return err
	}
	data, err := encode(body)
	if err != nil {
		return err
	}
	return c.object(ctx, call{method: method, path: r.Path(namespace, name), query: o.query(),
		body: data, contentType: contentType, safe: o.DryRun,
		verb: "change", res: r, namespace: namespace, name: name}, into)
}
