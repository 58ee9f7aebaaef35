package bounded

import (
	"runtime"
	"testing"
	"time"
)

func TestGrowth(t *testing.T) {
	exceeded := make(chan struct{})
	runtime.GC() // garbage of an earlier run would count as held, until it is collected
	stop := Growth(32<<20, func() { close(exceeded) })
	defer stop()
	var held [][]byte
	deadline := time.After(time.Minute)
	for full := false; !full; {
		select {
		case <-exceeded:
			full = true
		case <-deadline:
			t.Fatalf("%d MiB are held, and the limit is 32", len(held))
		default:
			if len(held) < 256 {
				held = append(held, make([]byte, 1<<20))
			}
			runtime.Gosched()
		}
	}
	if len(held) < 24 {
		t.Errorf("stopped after %d MiB", len(held))
	}
	runtime.KeepAlive(held)
}

func TestGrowthStopped(t *testing.T) {
	stop := Growth(1<<40, func() { t.Error("nothing holds so much") })
	stop()
	stop()
}
