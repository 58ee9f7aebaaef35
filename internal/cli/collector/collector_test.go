package collector

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
)

// scenario names the scenario for a process of its own: GOGC belongs to the process.
const scenario = "HYPERPOD_TEST_COLLECTOR"

func TestDelay(t *testing.T) {
	for _, c := range []struct{ name, gogc, limit string }{
		{"the first collection waits for 32 MB", "", ""},
		{"GOGC of the user", "50", ""},
		{"GOGC=off of the user", "off", ""},
		{"GOMEMLIMIT of the user", "", "20MiB"},
		{"a command that sets GOGC", "", ""},
		{"growth ends before the first collection", "", ""},
		{"growth lasts beyond the first collection", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if os.Getenv(scenario) == c.name {
				run(t, c.name)
				return
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestDelay$/^"+strings.ReplaceAll(c.name, " ", "_")+"$")
			cmd.Env = append(os.Environ(), scenario+"="+c.name, "GOGC="+c.gogc, "GOMEMLIMIT="+c.limit)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func run(t *testing.T, name string) {
	normal := debug.SetGCPercent(-1)
	Delay(normal)
	before := collections()
	switch name {
	case "the first collection waits for 32 MB":
		expect(t, delayed)
		allocate(16)
		if n := collections() - before; n != 0 {
			t.Errorf("%d collections of 16 MB", n)
		}
		allocate(24)
		collected(t, before)
		await(t, usual)
	case "GOGC of the user":
		expect(t, 50)
	case "GOGC=off of the user":
		if normal != -1 {
			t.Errorf("GOGC=off is %d", normal)
		}
		allocate(64)
		if n := collections() - before; n != 0 {
			t.Errorf("%d collections", n)
		}
	case "GOMEMLIMIT of the user":
		allocate(24)
		collected(t, before)
		await(t, usual)
	case "a command that sets GOGC":
		debug.SetGCPercent(40)
		runtime.GC()
		runtime.GC()
		expect(t, 40)
	case "growth ends before the first collection":
		end := Grow()
		allocate(16)
		if n := collections() - before; n != 0 {
			t.Errorf("%d collections of 16 MB", n)
		}
		end()
		expect(t, delayed)
		allocate(8)
		if n := collections() - before; n != 0 {
			t.Errorf("%d collections of 24 MB", n)
		}
		runtime.GC()
		await(t, usual)
		runtime.GC()
		expect(t, usual)
	case "growth lasts beyond the first collection":
		end := Grow()
		inner := Grow()
		await(t, growth)
		inner()
		runtime.GC()
		expect(t, growth)
		end()
		expect(t, usual)
	}
}

// kept is the memory that a scenario allocates.
type kept [1 << 20]byte

func allocate(mb int) {
	var all []*kept
	for range mb {
		all = append(all, new(kept))
	}
	runtime.KeepAlive(all)
}

func collections() uint64 { return read("/gc/cycles/total:gc-cycles") }

func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func collected(t *testing.T, before uint64) {
	t.Helper()
	for i := 0; collections() == before; i++ {
		if i > 1e6 {
			t.Fatal("no collection")
		}
		runtime.Gosched() // it is on its way
	}
}

func expect(t *testing.T, percent uint64) {
	t.Helper()
	if is := read("/gc/gogc:percent"); is != percent {
		t.Errorf("GOGC is %d, want %d", is, percent)
	}
}

// await waits for the cleanup that follows a collection.
func await(t *testing.T, percent uint64) {
	t.Helper()
	for i := 0; read("/gc/gogc:percent") != percent; i++ {
		if i > 1e4 {
			t.Fatalf("GOGC stays at %d", read("/gc/gogc:percent"))
		}
		runtime.GC()
	}
}
