package state

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Collect lists a resource at the version the server has, turned item by item
// into values of the caller; served is that version. It is for readers of whole
// objects, who have types of their own.
func Collect[W, T any](ctx context.Context, c *kube.Client, served kinds.Resource, namespace string, convert func(*W) T) ([]T, error) {
	page, err := collect(ctx, c, served, namespace, kube.ListOptions{}, convert)
	return page.Items, err
}

// NewMissing says why a list or an object could not be read.
func NewMissing(r kinds.Resource, namespace, verb string, err error) Missing {
	m := Missing{Resource: r, Namespace: namespace, Verb: verb, Reason: Failed, Err: err}
	switch {
	case kube.IsNotInFile(err):
		m.Reason = NotInFile
	case kube.IsForbidden(err):
		m.Reason = Forbidden
	case kube.IsNotServed(err):
		m.Reason = NotServed
	}
	return m
}
