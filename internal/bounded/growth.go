package bounded

import (
	"runtime/metrics"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// Library is the limit of what a library reads that takes no limit itself: the output of a credential plugin, and
// the headers of an upgraded connection.
const Library = 64 << 20

// tick is the time between two looks at the heap. The fastest pipe brings some 20 MB in it.
const tick = 10 * time.Millisecond

// heap is the metric of the bytes that objects hold, including those that are not collected yet.
const heap = "/memory/classes/heap/objects:bytes"

// Growth calls exceeded, once, when the heap of this process has grown by more than most bytes. It bounds what a
// library reads that takes no limit itself, at a time when nothing else in the process reads much. stop ends it and
// may be called several times; exceeded may still be running when it returns.
func Growth(most int64, exceeded func()) (stop func()) {
	done := make(chan struct{})
	least := heapBytes() // a garbage collection lowers it
	crash.Go(func() {
		t := time.NewTicker(tick)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				now := heapBytes()
				if least = min(least, now); now-least > most {
					exceeded()
					return
				}
			}
		}
	})
	return sync.OnceFunc(func() { close(done) })
}

func heapBytes() int64 {
	sample := []metrics.Sample{{Name: heap}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
