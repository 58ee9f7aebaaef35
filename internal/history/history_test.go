package history

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

const role = "HYPERPOD_TEST_RECORDER"

// TestMain makes this test's binary a recorder, too.
func TestMain(m *testing.M) {
	if dir := os.Getenv(role); dir != "" {
		fmt.Println(recordUntilKilled(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// world makes observations of a cluster that changes by chance.
type world struct {
	r     *rand.Rand
	jobs  []Observed
	made  int
	limit int
}

func newWorld(seed uint64, jobs int) *world {
	return &world{r: rand.New(rand.NewPCG(seed, 7)), limit: jobs}
}

// step returns what there is at a time, and lets something happen before.
func (w *world) step(now time.Time, pace time.Duration) Observation {
	before := func() time.Time { return now.Add(-time.Duration(w.r.Int64N(int64(pace)))).Truncate(time.Second) }
	for len(w.jobs) < w.limit {
		w.made++
		w.jobs = append(w.jobs, Observed{Job: Job{UID: fmt.Sprintf("%016x-%016x-%d", w.r.Uint64(), w.r.Uint64(), w.made), Namespace: fmt.Sprintf("hyperpod-ns-team-%d", w.made%20),
			Name: fmt.Sprintf("train-llama-%d", w.made), Kind: "PyTorchJob", Team: fmt.Sprintf("team-%d", w.made%20), Owner: fmt.Sprintf("user-%d", w.r.IntN(100)),
			Priority: "training", InstanceType: "ml.p5.48xlarge", Devices: map[string]int64{"nvidia.com/gpu": int64(8 * (1 + w.r.IntN(4))), "cpu": 96000}},
			Phases: []Change{{Time: before(), Phase: Waiting}}})
	}
	kept := w.jobs[:0:0]
	for _, j := range w.jobs {
		last := j.Phases[len(j.Phases)-1]
		if w.r.IntN(200) == 0 {
			next := Change{Time: before()}
			switch {
			case last.Phase.Waits():
				next.Phase, next.Borrowed = Holding, map[string]int64{"nvidia.com/gpu": int64(8 * w.r.IntN(2))}
			case last.Phase == Holding && w.r.IntN(3) == 0:
				next.Phase, next.Reason = Preempted, "InCohortReclamation"
			case last.Phase == Holding:
				next.Phase = Succeeded
			default:
				continue // deleted
			}
			if next.Time.After(last.Time) {
				j.Phases = append(append([]Change{}, j.Phases...), next)
			}
		}
		kept = append(kept, j)
	}
	w.jobs = kept
	q := make(map[QueueKey]QueueFigures, 20)
	n := map[NodeKey]NodeFigures{{"ml.p5.48xlarge", "nvidia.com/gpu"}: {Capacity: 800, Healthy: 792, Nodes: 100, HealthyNodes: 99}}
	for i := range 20 {
		q[QueueKey{fmt.Sprintf("q%d", i), fmt.Sprintf("team-%d", i), "p5", "ml.p5.48xlarge", "nvidia.com/gpu"}] = QueueFigures{Nominal: 40, Reserved: int64(8 * w.r.IntN(6))}
	}
	return Observation{Time: now, Jobs: append([]Observed{}, w.jobs...), JobsComplete: true, Queues: q, Nodes: n}
}

func open(t *testing.T, dir string, o Options) *Writer {
	t.Helper()
	o.Cluster = "https://test"
	if o.Pace == 0 {
		o.Pace = time.Minute
	}
	w, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func appendTo(t *testing.T, w *Writer, o Observation) {
	t.Helper()
	if ok, err := w.Append(o); err != nil || !ok {
		t.Fatal(ok, err)
	}
}

// TestTheStoreKnowsWhatWasObserved: over restarts and days, each job has the phases that it had.
func TestTheStoreKnowsWhatWasObserved(t *testing.T) {
	for seed := range uint64(5) {
		dir, world := t.TempDir(), newWorld(seed, 30)
		want := map[string][]Change{}
		w := open(t, dir, Options{Pace: 10 * time.Minute, wrap: unsynced})
		now, n := start, 0
		for ; n < 300; n++ {
			if world.r.IntN(20) == 0 {
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				w = open(t, dir, Options{Pace: 10 * time.Minute, wrap: unsynced})
			}
			o := world.step(now, 10*time.Minute)
			appendTo(t, w, o)
			there := map[string]bool{}
			for _, j := range o.Jobs {
				want[j.UID], there[j.UID] = j.Phases, true
			}
			for uid, phases := range want {
				if last := phases[len(phases)-1]; !there[uid] && !last.Phase.Over() {
					want[uid] = append(phases[:len(phases):len(phases)], Change{Time: now.Add(-10 * time.Minute), Phase: Vanished})
				}
			}
			now = now.Add(10 * time.Minute)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		d, err := Read(dir, start, now)
		if err != nil {
			t.Fatal(err)
		}
		if d.Samples != n || len(d.Covered) != 1 || len(d.Damaged) != 0 || len(d.Jobs) != len(want) {
			t.Fatalf("seed %d: %d samples, %v, %v, %d jobs, want %d", seed, d.Samples, d.Covered, d.Damaged, len(d.Jobs), len(want))
		}
		for _, j := range d.Jobs {
			if !reflect.DeepEqual(j.Changes, want[j.UID]) {
				t.Fatalf("seed %d, %s:\n%v\nwant\n%v", seed, j.Name, j.Changes, want[j.UID])
			}
		}
		// A part of the time has the phase that began before it.
		part, err := Read(dir, now.Add(-36*time.Hour), now.Add(-24*time.Hour))
		if err != nil || len(part.Jobs) == 0 || part.Samples >= n {
			t.Fatal(err, len(part.Jobs), part.Samples)
		}
	}
}

// TestATimeBeforeTheFirstSample: the first sample knows the jobs that it found, and since when they had their phases.
func TestATimeBeforeTheFirstSample(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Options{Pace: time.Minute})
	for n := range 3 {
		appendTo(t, w, Observation{Time: start.Add(time.Duration(n) * time.Minute), Jobs: []Observed{{Job: Job{UID: "u", Name: "old", Team: "t"},
			Phases: []Change{{Time: start.Add(-9 * time.Hour), Phase: Holding}}}}})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := Read(dir, start.Add(-8*time.Hour), start.Add(-7*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if d.Samples != 0 || len(d.Covered) != 0 || len(d.Jobs) != 1 || !d.Jobs[0].Changes[0].Time.Equal(start.Add(-9*time.Hour)) ||
		!d.First.Equal(start) || !d.Until.Equal(start.Add(-7*time.Hour)) {
		t.Errorf("%+v", d)
	}
}

// recordUntilKilled appends a sample for each hour after the last one, and prints the number of each that is safe.
func recordUntilKilled(dir string) error {
	w, err := Open(dir, Options{Cluster: "https://test", Pace: time.Hour})
	if err != nil {
		return err
	}
	n := 0
	if !w.Last().IsZero() {
		n = int(w.Last().Sub(start)/time.Hour) + 1
	}
	for world := newWorld(uint64(n), 50); ; n++ {
		if _, err := w.Append(world.step(start.Add(time.Duration(n)*time.Hour), time.Hour)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// TestARecorderThatIsKilled: 100 kills at random times lose no sample that was reported, and double none.
func TestARecorderThatIsKilled(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 15
	}
	const seed = 19
	r, dir, safe := rand.New(rand.NewPCG(seed, 1)), t.TempDir(), -1
	for kill := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), role+"="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := r.IntN(40); lines.Scan(); left-- { // killed after some reports, and a moment more
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("kill %d: %s", kill, lines.Text())
			}
			safe = n
			if left == 0 {
				for range r.IntN(200_000) {
				}
				_ = cmd.Process.Signal(syscall.SIGKILL)
			}
		}
		_ = cmd.Wait()
		d, err := Read(dir, start, start.AddDate(10, 0, 0))
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		last := int(d.Last.Sub(start) / time.Hour)
		if last != safe && last != safe+1 || d.Samples != last+1 || len(d.Covered) > 1 {
			t.Fatalf("kill %d: %d samples, the last is %d, and %d was reported; covered %v", kill, d.Samples, last, safe, d.Covered)
		}
	}
	t.Logf("%d kills, %d samples", kills, safe+1)
	list, err := segments(dir)
	if err != nil || len(list) < 2 || !list[0].packed || list[0].plain {
		t.Errorf("%v %v", list, err)
	}
}

// full is a file on a disk that is full after some bytes.
type full struct {
	file
	left *int
}

func (f full) Write(b []byte) (int, error) {
	if len(b) > *f.left {
		n, _ := f.file.Write(b[:*f.left])
		return n, syscall.ENOSPC
	}
	*f.left -= len(b)
	return f.file.Write(b)
}

// TestAFullDisk: what does not fit leaves the store as it was, and the next sample makes up for it.
func TestAFullDisk(t *testing.T) {
	dir, left := t.TempDir(), 1<<20
	w := open(t, dir, Options{wrap: func(f *os.File) file { return full{f, &left} }})
	defer w.Close()
	world := newWorld(3, 20)
	appendTo(t, w, world.step(start, time.Minute))
	left = 30
	for n := 1; n < 5; n++ {
		if _, err := w.Append(world.step(start.Add(time.Duration(n)*time.Minute), time.Minute)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	left = 1 << 20
	o := world.step(start.Add(5*time.Minute), time.Minute)
	appendTo(t, w, o)
	d, err := Read(dir, start, start.Add(time.Hour))
	if err != nil || d.Samples != 2 || len(d.Covered) != 0 || len(d.Jobs) < 20 {
		t.Fatal(err, d)
	}
	for _, j := range o.Jobs {
		for _, track := range d.Jobs {
			if track.UID == j.UID && !reflect.DeepEqual(track.Changes, j.Phases) {
				t.Errorf("%v, want %v", track.Changes, j.Phases)
			}
		}
	}
}

// TestRefusals: a second recorder, a store of a newer version, of another cluster, and a folder without samples.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Options{})
	if _, err := Open(dir, Options{Cluster: "https://test"}); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if _, err := Read(dir, start, start); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	appendTo(t, w, newWorld(1, 3).step(start, time.Minute))
	if ok, err := w.Append(newWorld(1, 3).step(start.Add(-time.Hour), time.Minute)); ok || err != nil {
		t.Error("a clock that was set back", ok, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var other *OtherClusterError
	if _, err := Open(dir, Options{Cluster: "https://other"}); !errors.As(err, &other) {
		t.Error(err)
	}
	text, err := header{Format + 1, "https://test"}.encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{text, sealed([]byte(`{"hyperpodHistory":2,"cluster":{"server":"https://test"}}`))} { // a later header may have another form
		if err := os.WriteFile(filepath.Join(dir, start.Add(time.Hour).Format(nameLayout)+extension), text, 0o600); err != nil {
			t.Fatal(err)
		}
		var newer *NewerError
		if _, err := Open(dir, Options{Cluster: "https://test"}); !errors.As(err, &newer) || !strings.Contains(err.Error(), "format 2") {
			t.Error(err)
		}
		if _, err := Read(dir, start, start.Add(2*time.Hour)); !errors.As(err, &newer) {
			t.Error(err)
		}
	}
}

// TestRetain: segments that are too old go.
// A small file that expands to a huge one is refused.
func TestAnEndlessSegment(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, start.Format(nameLayout)+packed))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	for range mostBytes>>20 + 1 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	_, readErr := Read(dir, start, start.Add(time.Hour))
	_, lastErr := Last(dir)
	_, openErr := Open(dir, Options{Cluster: "c"})
	for _, err := range []error{readErr, lastErr, openErr} {
		if !errors.As(err, new(*bounded.TooLarge)) {
			t.Errorf("%v", err)
		}
	}
}

func TestRetain(t *testing.T) {
	dir, world := t.TempDir(), newWorld(4, 10)
	w := open(t, dir, Options{Pace: time.Hour, Retain: 72 * time.Hour})
	defer w.Close()
	for n := range 24 * 10 {
		appendTo(t, w, world.step(start.Add(time.Duration(n)*time.Hour), time.Hour))
	}
	list, err := segments(dir)
	if err != nil || len(list) != 4 {
		t.Fatal(err, list)
	}
	d, err := Read(dir, start, start.Add(240*time.Hour))
	if err != nil || d.First != start.Add(6*24*time.Hour) {
		t.Fatal(err, d.First)
	}
}

// TestSize: a month of 2,000 jobs at a time, with one-minute samples, is below 20 MB. The test takes two days of it;
// HYPERPOD_DAYS sets another number, and HYPERPOD_STORE a folder that keeps the store.
func TestSize(t *testing.T) {
	days := 2
	if n, err := strconv.Atoi(os.Getenv("HYPERPOD_DAYS")); err == nil {
		days = n
	} else if testing.Short() {
		t.Skip("2,880 samples")
	}
	dir, world := cmp.Or(os.Getenv("HYPERPOD_STORE"), t.TempDir()), newWorld(6, 2000)
	w := open(t, dir, Options{wrap: unsynced})
	samples := days * 24 * 60
	for n := range samples {
		now := start.Add(time.Duration(n) * time.Minute)
		o := world.step(now, time.Minute)
		for k, v := range o.Queues { // quota changes less often than a job
			v.Reserved = int64(8 * (n / 5 % 6))
			o.Queues[k] = v
		}
		appendTo(t, w, o)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var size int64
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), packed) {
			size += info.Size()
		}
	}
	began := time.Now()
	d, err := Read(dir, start, start.AddDate(0, 0, days))
	if err != nil || d.Samples != samples {
		t.Fatal(err, d.Samples)
	}
	t.Logf("%d jobs, %.2f MB packed, read in %v", len(d.Jobs), float64(size)/1e6, time.Since(began).Round(time.Millisecond))
	if days > 1 && size/int64(days-1) > 20_000_000/31 {
		t.Errorf("%d bytes", size)
	}
}

// unsynced makes tests of many samples faster.
func unsynced(f *os.File) file { return nosync{f} }

type nosync struct{ *os.File }

func (nosync) Sync() error { return nil }

// TestDeletedInPart: a recorder that may read some namespaces ends the deleted jobs of those, and no others.
func TestDeletedInPart(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := open(t, dir, Options{})
	job := func(uid, ns string) Observed {
		return Observed{Job: Job{UID: uid, Namespace: ns, Name: uid}, Phases: []Change{{Time: now, Phase: Holding}}}
	}
	appendTo(t, w, Observation{Time: now, Jobs: []Observed{job("1", "a"), job("2", "b")}, CompleteIn: []string{"a", "b"}})
	appendTo(t, w, Observation{Time: now.Add(time.Minute), CompleteIn: []string{"a"}})
	w.Close()
	d, err := Read(dir, now, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range d.Jobs {
		want := map[string]Phase{"1": Vanished, "2": Holding}[j.UID]
		if got := j.last().Phase; got != want {
			t.Errorf("%s in %s: %s, want %s", j.UID, j.Namespace, got, want)
		}
	}
	if len(d.Jobs) != 2 {
		t.Error(len(d.Jobs))
	}
}

// TestGoneJobsAreForgotten: a recorder keeps nothing of jobs that no longer exist, also within a segment. One that comes back
// is the same job in the report.
func TestGoneJobsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Options{Cluster: "c", Pace: time.Minute})
	job := func(i int, at time.Time) Observed {
		return Observed{Job: Job{UID: fmt.Sprint("uid-", i), Namespace: "ns", Name: fmt.Sprint("j-", i)}, Phases: []Change{{Time: at, Phase: Waiting}}}
	}
	now := start
	step := func(jobs ...Observed) {
		now = now.Add(time.Minute)
		appendTo(t, w, Observation{Time: now, Jobs: jobs, JobsComplete: true})
	}
	for i := range 500 {
		step(job(i, now))
	}
	if n := len(w.live.jobs) + len(w.live.ids) + len(w.live.byID); n > 2 {
		t.Errorf("%d entries for one job", n)
	}
	step(job(1, start))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = open(t, dir, Options{Cluster: "c", Pace: time.Minute})
	step(job(1, start), job(1000, now))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := Read(dir, start, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for _, j := range h.Jobs {
		names[j.UID]++
	}
	if len(names) != 501 || names["uid-1"] != 1 || names["uid-1000"] != 1 {
		t.Errorf("%d jobs: %d of uid-1, %d of uid-1000", len(names), names["uid-1"], names["uid-1000"])
	}
}
