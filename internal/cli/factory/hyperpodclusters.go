package factory

import "context"

// HyperPodClusters completes the names of HyperPod clusters of an account.
func HyperPodClusters(a *Account) Lookup {
	return func(ctx context.Context, f *Factory) ([]string, error) {
		c, err := f.AWS(ctx, *a, "")
		if err != nil {
			return nil, err
		}
		list, err := c.ListClusters(ctx)
		if err != nil {
			return nil, err
		}
		var out []string
		for _, s := range list {
			out = append(out, s.Name)
		}
		return out, nil
	}
}
