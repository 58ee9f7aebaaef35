// Package collector sets how often the garbage collector works, for the commands. GOGC of the user comes first.
package collector

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// Values of GOGC in percent.
const (
	// usual is GOGC without a setting of the user.
	usual = 100
	// growth is for the time in which a cluster is read and asked about. Almost nothing that is read is garbage, and
	// collecting it takes a fifth of a dry run.
	growth = 400
	// delayed is for the time before the first collection. The runtime does not collect a heap below 4 MB times
	// GOGC / 100: here 32 MB. Most commands end before that. delayedGrowth tells that growth follows.
	delayed, delayedGrowth = 800, 801
)

// changing guards a read and a write of GOGC.
var changing sync.Mutex

// Delay starts a collector that was off, with normal as GOGC in percent. The first collection waits for a heap of
// 32 MB, unless the user has set GOGC. GOMEMLIMIT works as always.
func Delay(normal int) {
	changing.Lock()
	defer changing.Unlock()
	if os.Getenv("GOGC") != "" || normal != usual {
		debug.SetGCPercent(normal)
		return
	}
	delay(delayed, usual)
}

// delay sets GOGC before the first collection and after it. If something else has changed GOGC by then, it stays.
func delay(first, then int) {
	debug.SetGCPercent(first)
	// The first collection finds that nothing refers to this value.
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		changing.Lock()
		defer changing.Unlock()
		if is := debug.SetGCPercent(then); is != first {
			debug.SetGCPercent(is)
		}
	}, struct{}{})
}

// Grow raises GOGC until the returned function is called, unless it is higher or off
// already. It is for commands that read a cluster once, answer, and end.
func Grow() (end func()) {
	changing.Lock()
	defer changing.Unlock()
	was := debug.SetGCPercent(growth)
	switch {
	case was == delayed:
		delay(delayedGrowth, growth)
		was = usual
	case was < 0 || was > growth:
		debug.SetGCPercent(was)
		return func() {}
	}
	return func() {
		changing.Lock()
		defer changing.Unlock()
		if is := debug.SetGCPercent(was); is == delayedGrowth {
			debug.SetGCPercent(delayed) // nothing was collected yet, and what Delay has set up is still there
		}
	}
}
