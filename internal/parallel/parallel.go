// Package parallel runs a function for each element of a list, on all processors.
package parallel

import (
	"runtime"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// Map calls f for the elements of a list, on all processors, and returns the results in order. The error is
// that of the first element that has one; f may not have been called for the elements after it.
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

// InOrder calls f for the elements of a list, on all processors, and meanwhile use with each result, in the order of the
// list, on the caller's goroutine. Only a few results wait for use. The error is that of the first element that has
// one; the results before it were used.
func InOrder[T, R any](list []T, f func(T) (R, error), use func(i int, r R)) error {
	type answer struct {
		r   R
		err error
	}
	waiting, stop := make(chan chan answer, runtime.GOMAXPROCS(0)), make(chan struct{})
	var running crash.Group
	defer running.Wait()
	defer close(stop)
	running.Go(func() {
		defer close(waiting)
		for _, e := range list {
			next := make(chan answer, 1)
			select {
			case waiting <- next:
			case <-stop:
				return
			}
			running.Go(func() {
				r, err := f(e)
				next <- answer{r, err}
			})
		}
	})
	i := 0
	for next := range waiting {
		a := <-next
		if a.err != nil {
			return a.err
		}
		use(i, a.r)
		i++
	}
	return nil
}
