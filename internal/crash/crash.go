// Package crash runs goroutines whose panics end the program with a worded error instead of
// a dump.
package crash

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// handler is set once, when the program starts.
var handler atomic.Pointer[func(what any, stack string)]

// Handle sets what a panic of a goroutine of this package calls. It has to end the program.
// Without it, and for all calls but the first, a panic stays one.
func Handle(f func(what any, stack string)) { handler.CompareAndSwap(nil, &f) }

// Go runs f in a goroutine.
func Go(f func()) {
	go func() {
		defer catch()
		f()
	}()
}

// Group is a [sync.WaitGroup] for such goroutines.
type Group struct{ sync.WaitGroup }

// Go runs f in a goroutine that Wait waits for.
func (g *Group) Go(f func()) {
	g.WaitGroup.Go(func() {
		defer catch()
		f()
	})
}

func catch() {
	if handler.Load() == nil {
		return
	}
	if p := recover(); p != nil {
		(*handler.Load())(p, string(debug.Stack()))
	}
}
