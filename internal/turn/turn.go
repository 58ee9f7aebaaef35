// Package turn lets one part of the process at a time make decisions of Kueue, whose feature gates are settings of the process:
// a command that tries another value of a gate, and a sandbox or a wait beside it that decides with the cluster's.
package turn

import "context"

// taken has a value while somebody has the turn.
var taken = make(chan struct{}, 1)

type key struct{}

// Take waits for the turn. Whoever gets the context has it, until release is called: for them, Take returns at once. Nobody
// keeps it while waiting for changes of a cluster.
func Take(ctx context.Context) (has context.Context, release func(), err error) {
	if ctx.Value(key{}) != nil {
		return ctx, func() {}, nil
	}
	select {
	case taken <- struct{}{}:
		return context.WithValue(ctx, key{}, true), func() { <-taken }, nil
	case <-ctx.Done():
		return ctx, func() {}, ctx.Err()
	}
}
