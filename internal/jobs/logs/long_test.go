package logs

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
)

// TestLongLines: lines that are longer than the buffer arrive whole, also when
// the connection breaks in the middle of them, and two pods' never mix.
func TestLongLines(t *testing.T) {
	long := func(c string, n int) string { return strings.Repeat(c, n) + " end" }
	lines := []string{at(0, "first"), at(1, long("a", 150_000)), at(2, long("b", 70_000)), at(2, long("c", 300_000)), at(3, "last")}
	want := []string{"first", long("a", 150_000), long("b", 70_000), long("c", 300_000), "last"}
	for _, cut := range []int{0, 40, 100, 65_530, 65_540, 131_100, 150_035, 150_060, 150_300, 220_100, 333_333, 520_000} {
		f := newFake(t)
		for i, uid := range []string{"p0", "p1"} {
			f.pod(uid, i, running(), 0)
			f.write(uid, 0, lines...)
			f.pod(uid, i, terminated(0), 0)
			if cut > 0 {
				f.cut[i+1] = cut
			}
		}
		f.end("Succeeded")
		for _, follow := range []bool{true, false} {
			e, q := f.start()
			q.Follow, q.Pods.All = follow, true
			r := newRecord()
			got := <-read(t, e, q, r)
			for _, key := range []string{"p0/0", "p1/0"} {
				if got.err != nil || !slices.Equal(r.lines[key], want) {
					var have []string
					for _, l := range r.lines[key] {
						have = append(have, fmt.Sprintf("%.3s(%d)", l, len(l)))
					}
					t.Errorf("cut at %d, follow %v: %s has %q, %v", cut, follow, key, have, got.err)
				}
			}
		}
	}
}

// TestEndlessLine: a line that never ends does not keep other pods waiting, and
// a slow reader slows the server down instead of filling memory.
func TestEndlessLine(t *testing.T) {
	f := newFake(t)
	f.pod("p0", 0, running(), 0)
	f.pod("p1", 1, running(), 0)
	f.write("p0", 0, at(0, strings.Repeat("x", 200_000)))
	f.logs["p0/0"].text = f.logs["p0/0"].text[:200_000] // it has no end
	f.write("p1", 0, numbered(0, 5)...)
	e, q := f.start()
	q.Follow, q.Pods = true, pick.Choice{All: true}
	r := newRecord()
	out := read(t, e, q, r)
	r.await(t, "the other pod", r.has("p1/0", 5))
	f.pod("p0", 0, terminated(0), 0)
	f.pod("p1", 1, terminated(0), 0)
	f.end("Succeeded")
	if got := <-out; got.err != nil {
		t.Error(got.err)
	}
	for s, rest := range r.open {
		if s.Pod == "train-worker-0" && len(rest) != 200_000-len(at(0, "")) {
			t.Errorf("%d bytes of the line that never ends", len(rest))
		}
	}
}

func TestMemoryOfHugeLines(t *testing.T) {
	f := newFake(t)
	const pods = 8
	for i := range pods {
		uid := fmt.Sprintf("p%d", i)
		f.pod(uid, i, running(), 0)
		f.write(uid, 0, at(i, strings.Repeat("y", 10<<20)))
		f.pod(uid, i, terminated(0), 0)
	}
	f.end("Succeeded")
	e, q := f.start()
	q.Follow, q.Pods.All = true, true
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	sink := &counter{each: func() {
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapInuse)
	}}
	if _, err := e.Read(t.Context(), q, sink); err != nil {
		t.Fatal(err)
	}
	if sink.bytes != pods*10<<20 {
		t.Errorf("%d bytes", sink.bytes)
	}
	// The fake's own copies of what it sends are in there too.
	if grown := int64(peak) - int64(before.HeapInuse); grown > 400<<20 {
		t.Errorf("the heap grew by %d MB for %d lines of 10 MB", grown>>20, pods)
	}
}

type counter struct {
	bytes int64
	each  func()
	n     int
}

func (c *counter) Lines(_ *Source, lines []Line) error {
	for _, l := range lines {
		c.bytes += int64(len(l.Text))
	}
	if c.n++; c.n%64 == 0 {
		c.each()
	}
	return nil
}

func (c *counter) Event(Event) error { return nil }

// TestBinary: bytes that are not text, NUL and what looks like a stamp inside a
// line arrive as they are.
func TestBinary(t *testing.T) {
	odd := []string{"\x00\x01\xff\xfe", "\xe2\x82", "2026-01-02T03:00:11Z in the text", "", " ", "\r\r\r"}
	f := newFake(t)
	f.pod("p0", 0, running(), 0)
	for i, text := range odd {
		f.write("p0", 0, at(i, text))
	}
	f.write("p0", 0, "no stamp: the API's own words")
	f.pod("p0", 0, terminated(0), 0)
	f.end("Succeeded")
	e, q := f.start()
	r := newRecord()
	got := <-read(t, e, q, r)
	if want := append(odd, "no stamp: the API's own words"); got.err != nil || !slices.Equal(r.lines["p0/0"], want) {
		t.Errorf("%q, %v", r.lines["p0/0"], got.err)
	}
}
