package discovery

import (
	"context"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// ResourceOf returns the resource of an object in a manifest. Kinds of the table
// cost no request; for others the server's list of the API version is read.
func ResourceOf(ctx context.Context, c *kube.Client, object map[string]any) (kinds.Resource, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	for _, r := range kinds.All() {
		if r.Kind == kind && r.Group == group {
			return r.WithVersion(version), nil
		}
	}
	list := kinds.Resource{Group: group, Version: version}
	var answer struct {
		Resources []struct {
			Name       string `json:"name"`
			Kind       string `json:"kind"`
			Namespaced bool   `json:"namespaced"`
		} `json:"resources"`
	}
	if err := c.Get(ctx, list, "", "", &answer); err != nil {
		if kube.IsNotFound(err) {
			return kinds.Resource{}, errs.NotFoundf("this cluster does not serve %s (%s)", apiVersion, kind).WithCause(err)
		}
		return kinds.Resource{}, err
	}
	var have []string
	for _, r := range answer.Resources {
		if strings.Contains(r.Name, "/") {
			continue // a subresource
		}
		if r.Kind == kind {
			return kinds.Resource{Group: group, Version: version, Plural: r.Name, Kind: kind, Namespaced: r.Namespaced}, nil
		}
		have = append(have, r.Kind)
	}
	e := errs.NotFoundf("kind %s not found in %s", kind, apiVersion)
	if near := errs.Near(kind, have); len(near) > 0 {
		e.WithFact("similar", strings.Join(near, ", "))
	}
	return kinds.Resource{}, e
}
