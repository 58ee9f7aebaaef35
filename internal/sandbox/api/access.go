package api

import (
	"net/http"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

// review answers access reviews: a sandbox allows everything.
func (s *Server) accessReview(c *call) error {
	m, err := c.object()
	if err != nil {
		return err
	}
	if err := c.identify(m); err != nil {
		return err
	}
	switch c.res.Kind {
	case kinds.SelfSubjectAccessReview.Kind:
		if object.At(m, "spec", "resourceAttributes") == nil && object.At(m, "spec", "nonResourceAttributes") == nil {
			return badRequest("exactly one of nonResourceAttributes or resourceAttributes must be specified")
		}
		m["status"] = map[string]any{"allowed": true, "reason": "a sandbox allows everything"}
	case selfRules.Kind:
		all := []any{"*"}
		m["status"] = map[string]any{"incomplete": false,
			"resourceRules":    []any{map[string]any{"verbs": all, "apiGroups": all, "resources": all}},
			"nonResourceRules": []any{map[string]any{"verbs": all, "nonResourceURLs": all}}}
	default:
		m["status"] = map[string]any{"userInfo": map[string]any{"username": "sandbox", "groups": []any{"system:masters", "system:authenticated"}}}
	}
	return write(c.w, format{}, http.StatusCreated, m)
}
