package reader

import (
	"context"
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Served returns a resource at the best version that the server has. Kinds that
// every cluster has cost no request; the others cost one per API group, remembered
// for hours. kube.IsNotServed holds for the error of a kind that is not served.
func Served(ctx context.Context, c *kube.Client, r kinds.Resource) (kinds.Resource, error) {
	if !kinds.Installed(r.Group) {
		return r, nil
	}
	versions, err := c.ServedVersions(ctx, r.Group)
	if kube.IsForbidden(err) {
		return r, nil // the list itself shows whether the version is right
	}
	if err != nil {
		return r, err
	}
	for _, v := range r.Versions() {
		if slices.Contains(versions, v) {
			return r.WithVersion(v), nil
		}
	}
	return r, kube.NotServed(r)
}

// List lists a resource at the served version and converts each object to a T. A
// remembered version may date from before an upgrade: when the server no longer
// has it, List looks the versions up again.
func List[W, T any](ctx context.Context, c *kube.Client, r kinds.Resource, namespace string, o kube.ListOptions, convert func(*W) T) ([]T, error) {
	for again := true; ; again = false {
		at, err := Served(ctx, c, r)
		if err != nil {
			return nil, err
		}
		page, err := kube.Collect(ctx, c, at, namespace, o, convert)
		if !again || !kube.IsNotServed(err) || !kinds.Installed(r.Group) {
			return page.Items, err
		}
		if gone, recheckErr := c.RecheckVersions(ctx, r.Group, at.Version); recheckErr != nil || !gone {
			return page.Items, err
		}
	}
}
