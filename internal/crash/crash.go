// Package crash runs goroutines. If one panics, the program ends with an error message instead of a stack dump.
package crash

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// handler is set once, when the program starts.
var handler atomic.Pointer[func(what any, stack string)]

// Handle sets the function that runs when a goroutine of this package panics. It must end the program. Only the
// first call has an effect; without it, a panic is an ordinary panic.
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
