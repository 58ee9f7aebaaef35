package kube

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// OpenAPI returns the server's OpenAPI document (version 3) of an API version.
func (c *Client) OpenAPI(ctx context.Context, group, version string) (json.RawMessage, error) {
	var out json.RawMessage
	path := "/openapi/v3" + kinds.Resource{Group: group, Version: version}.Path("", "")
	return out, c.object(ctx, call{method: http.MethodGet, path: path, safe: true, verb: "read the schema of " + path}, &out)
}
