package discovery

import (
	"context"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// ResourceOf returns the resource of an object in a manifest. Kinds of the table at their
// versions cost no request; for others the server's list of the API version is read.
func ResourceOf(ctx context.Context, c *kube.Client, object map[string]any) (kinds.Resource, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	for _, r := range kinds.All() {
		if r.Kind == kind && r.Group == group && slices.Contains(r.Versions(), version) {
			return r.WithVersion(version), nil
		}
	}
	return Offered(ctx, c, object)
}

// Offered returns the resource of an object in a manifest as the server lists it, with
// one request for the API version. Its error names the versions at which the server has
// the kind, if it has.
func Offered(ctx context.Context, c *kube.Client, object map[string]any) (kinds.Resource, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	r, have, err := listed(ctx, c, group, version, kind)
	switch {
	case err != nil && !kube.IsNotFound(err), err == nil && r.Kind == kind:
		return r, err
	}
	var e *errs.Error
	if err != nil {
		e = errs.NotFoundf("this cluster does not serve %s (%s)", apiVersion, kind).WithCause(err)
	} else {
		e = errs.NotFoundf("kind %s not found in %s", kind, apiVersion)
		if near := errs.Near(kind, have); len(near) > 0 {
			e.WithFact("did you mean", strings.Join(near, ", "))
		}
	}
	var at []string
	versions, _ := c.ServedVersions(ctx, group) // they only complete the error
	for _, v := range versions {
		if other, _, err := listed(ctx, c, group, v, kind); v != version && err == nil && other.Kind == kind {
			at = append(at, other.GroupVersion())
		}
	}
	if len(at) > 0 {
		e.Why = "the cluster serves " + kind + " of " + strings.Join(at, ", ")
		e.WithAdvice("write apiVersion: " + at[0] + ", and check the fields, which can differ")
	}
	return kinds.Resource{}, e
}

// listed looks for a kind in the server's list of an API version, and returns the names
// of the kinds there.
func listed(ctx context.Context, c *kube.Client, group, version, kind string) (kinds.Resource, []string, error) {
	var answer struct {
		Resources []struct {
			Name       string `json:"name"`
			Kind       string `json:"kind"`
			Namespaced bool   `json:"namespaced"`
		} `json:"resources"`
	}
	if err := c.Get(ctx, kinds.Resource{Group: group, Version: version}, "", "", &answer); err != nil {
		return kinds.Resource{}, nil, err
	}
	var have []string
	for _, r := range answer.Resources {
		if strings.Contains(r.Name, "/") {
			continue // a subresource
		}
		if r.Kind == kind {
			return kinds.Resource{Group: group, Version: version, Plural: r.Name, Kind: kind, Namespaced: r.Namespaced}, nil, nil
		}
		have = append(have, r.Kind)
	}
	return kinds.Resource{}, have, nil
}
