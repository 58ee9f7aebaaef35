// Package parallel does the same to every element of a list, on all processors.
package parallel

import (
	"runtime"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// Map calls f on the elements of a list, each processor on a part of it, and returns
// what it made of them, in their order. The error is that of the first element that
// has one; of those after it f need not have been called.
func Map[T, R any](list []T, f func(T) (R, error)) ([]R, error) {
	out := make([]R, len(list))
	parts := min(runtime.GOMAXPROCS(0), len(list))
	failures := make([]error, parts)
	var wg crash.Group
	for part := range parts {
		wg.Go(func() {
			for i := len(list) * part / parts; i < len(list)*(part+1)/parts && failures[part] == nil; i++ {
				out[i], failures[part] = f(list[i])
			}
		})
	}
	wg.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
