package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
)

func TestCreateOpenDelete(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(dir, "mine.json")
	_, err := Open(path, Options{})
	checkErr(t, err, errs.NotFound, `sandbox "mine" not found`, "hyperpod sandbox create mine")
	s, err := Create(context.Background(), path, "lend-three", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != "mine" || s.Scenario() != "lend-three" || s.Path() != path {
		t.Errorf("%s %s %s", s.Name(), s.Scenario(), s.Path())
	}
	for p, mode := range map[string]fs.FileMode{path: 0o600, dir: 0o700 | fs.ModeDir} {
		if info, err := os.Stat(p); err != nil || info.Mode() != mode {
			t.Errorf("%s has mode %v, want %v (%v)", p, info.Mode(), mode, err)
		}
	}
	_, err = Create(context.Background(), path, "lend-three", Options{})
	checkErr(t, err, errs.Failure, "cannot create sandbox mine: it already exists", "hyperpod sandbox delete mine")
	again, err := Open(path, Options{})
	if err != nil || again.Scenario() != "lend-three" {
		t.Errorf("open: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := List(dir, Options{})
	if err != nil || len(list) != 2 || list[0].Name != "broken" || list[0].Err == nil || list[1].Name != "mine" || list[1].Scenario != "lend-three" || list[1].Size == 0 || list[1].Err != nil {
		t.Errorf("list %+v, %v", list, err)
	}
	for _, n := range []string{"broken", "mine"} {
		if err := Delete(context.Background(), filepath.Join(dir, n+".json"), Options{}); err != nil {
			t.Errorf("delete %s: %v", n, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	checkErr(t, Delete(context.Background(), path, Options{}), errs.NotFound, `sandbox "mine" not found`)
	if l, err := List(filepath.Join(dir, "nowhere"), Options{}); err != nil || len(l) != 0 {
		t.Errorf("list of no folder: %v %v", l, err)
	}
}

func TestDamagedFiles(t *testing.T) {
	b := newBench(t, "lend-three")
	good, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	half := good[:len(good)/2]
	for _, c := range []struct {
		name, content string
		words         []string
	}{
		{"empty", "", []string{"the file is damaged: the file is empty"}},
		{"cut", string(half), []string{"the file is damaged: line "}},
		{"zeros", strings.Repeat("\x00", 5000), []string{"the file is damaged: line 1"}},
		{"something else", `{"a":1}`, []string{"not a sandbox file"}},
		{"list", `[]`, []string{"the file is damaged: unexpected structure"}},
		{"newer, with another header", `{"kind":"hyperpod-sandbox","format":2,"offset":{"seconds":3},"created":7,"objects":{}}`, []string{"a newer hyperpod wrote the file (format 2; this version reads up to 1)"}},
		{"newer", `{"kind":"hyperpod-sandbox","format":2,"objects":[]}`, []string{"a newer hyperpod wrote the file (format 2; this version reads up to 1)"}},
		{"object without name", `{"kind":"hyperpod-sandbox","format":1,"objects":{"pods":[{}]}}`, []string{"pods: an object without name"}},
		{"wrong shape", `{"kind":"hyperpod-sandbox","format":1,"objects":7}`, []string{"the file is damaged: unexpected structure"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hurt.json")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path, Options{})
			checkErr(t, err, errs.Failure, append(c.words, "cannot open sandbox hurt", path, "hyperpod sandbox delete hurt", "hyperpod sandbox create hurt")...)
			if text := errs.Text(err, false); strings.Contains(text, "JSON") || strings.Contains(text, "json:") || strings.Contains(text, "creates it again") {
				t.Errorf("not in words, or not true: %s", text)
			}
		})
	}
	// While it is open, too: the request fails with the advice, and works again
	// when the file is whole.
	if err := os.WriteFile(b.path, half, 0o600); err != nil {
		t.Fatal(err)
	}
	if a := b.send("GET", "/api/v1/nodes", ""); a.code != 500 || !strings.Contains(object.Text(a.object(t), "message"), "hyperpod sandbox delete test") {
		t.Errorf("%d %s", a.code, a.body)
	}
	if err := os.WriteFile(b.path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	b.must(200, "GET", "/api/v1/nodes", "")
}

// A full disk: the change is refused, nothing is lost, nothing is left behind.
func TestFullDisk(t *testing.T) {
	b := newBench(t, "lend-three")
	before, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	real := b.s.file.write
	b.s.file.write = func(f *os.File, data []byte) error {
		_, _ = f.Write(data[:len(data)/2])
		return &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	const maps = "/api/v1/namespaces/default/configmaps"
	a := b.send("POST", maps, `{"metadata":{"name":"x"}}`)
	if m := object.Text(a.object(t), "message"); a.code != 500 || !strings.Contains(m, "no space left on device; the sandbox is unchanged") {
		t.Errorf("%d %s", a.code, a.body)
	}
	checkErr(t, b.s.Advance(context.Background(), time.Hour), errs.Failure, "cannot save sandbox test: no space left on device", b.path)
	if got := b.s.Now(); !got.Equal(b.clock.now()) {
		t.Errorf("the clock moved to %v all the same", got)
	}
	b.must(404, "GET", maps+"/x", "")
	after, err := os.ReadFile(b.path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file changed (%v)", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(b.path), ".*.tmp")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	b.s.file.write = real
	b.must(201, "POST", maps, `{"metadata":{"name":"x"}}`)
}

// A file without write permission can be read, also when time passes.
func TestReadOnly(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 1, 4, lasting("30m")))
	b.s.file.write = func(f *os.File, _ []byte) error {
		return &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.EROFS}
	}
	b.clock.move(time.Hour)
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "j"); !object.True(j, "Succeeded") {
		t.Errorf("%v", object.At(j, "status"))
	}
	a := b.send("DELETE", kinds.PyTorchJob.Path(smithNS, "j"), "")
	if a.code != 500 || !strings.Contains(string(a.body), "read-only file system") {
		t.Errorf("%d %s", a.code, a.body)
	}
}

// A read-only sandbox is settled as it is after the wait for the turn: meanwhile, time passes, and other requests settle it.
func TestReadOnlyAfterAWait(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("short", "smith", 1, 1, lasting("10m")))
	b.create(smithNS, pytorch("long", "smith", 1, 1, lasting("30m")))
	b.s.file.write = func(f *os.File, _ []byte) error {
		b.clock.move(20 * time.Minute) // before the request waits for its turn
		return &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.EROFS}
	}
	b.clock.move(20 * time.Minute)
	if j := b.get(kinds.PyTorchJob.Resource, smithNS, "long"); !object.True(j, "Succeeded") {
		t.Errorf("%v", object.At(j, "status"))
	}
}

// The wait for another process with the lock is limited and names it.
func TestLocked(t *testing.T) {
	b := newBench(t, "lend-three")
	holder, err := b.s.file.tryLock()
	if err != nil {
		t.Fatal(err)
	}
	o := b.options()
	o.LockTimeout = 50 * time.Millisecond
	waits, told := 0, ""
	o.Waiting = func(holder string) { told = holder }
	o.After = func(time.Duration) <-chan time.Time {
		waits++
		c := make(chan time.Time, 1)
		c <- time.Time{}
		return c
	}
	other, err := Open(b.path, o)
	if err != nil {
		t.Fatal(err) // reading needs no lock
	}
	err = other.Advance(context.Background(), time.Minute)
	checkErr(t, err, errs.Failure, "cannot change sandbox test: process "+fmt.Sprint(os.Getpid())+" is using it", b.path)
	if waits != 5 {
		t.Errorf("%d waits of 10 ms for 50 ms", waits)
	}
	if told != "" {
		t.Errorf("told of %s after 50 ms", told)
	}
	o.LockTimeout = time.Second
	if other, err = Open(b.path, o); err != nil {
		t.Fatal(err)
	}
	if err := other.Advance(context.Background(), time.Minute); err == nil || told != "process "+fmt.Sprint(os.Getpid()) {
		t.Errorf("after a second: %v, told %q", err, told)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Create(ctx, b.path, "lend-three", o); !errors.Is(err, context.Canceled) {
		t.Errorf("create, interrupted: %v", err)
	}
	if err := Delete(ctx, b.path, o); !errors.Is(err, context.Canceled) {
		t.Errorf("delete, interrupted: %v", err)
	}
	if _, err := Create(context.Background(), b.path, "lend-three", o); err == nil || !strings.Contains(err.Error(), "is using it") {
		t.Errorf("create: %v", err)
	}
	unlock(holder)
	if err := other.Advance(context.Background(), time.Minute); err != nil {
		t.Errorf("after the lock was given back: %v", err)
	}
}

// A process waits while others make changes in turn, up to a limit.
func TestLockedInTurn(t *testing.T) {
	b := newBench(t, "lend-three")
	most := int(mostTurns * 50 * time.Millisecond / retryLock)
	holder, err := b.s.file.tryLock()
	if err != nil {
		t.Fatal(err)
	}
	o := b.options()
	o.LockTimeout = 50 * time.Millisecond
	waits := 0
	o.After = func(time.Duration) <-chan time.Time {
		if waits++; waits == most-1 {
			unlock(holder)
		} else if err := os.WriteFile(b.s.file.lockPath(), []byte(fmt.Sprint(1000+waits)), 0o600); err != nil {
			t.Error(err)
		}
		c := make(chan time.Time, 1)
		c <- time.Time{}
		return c
	}
	other, err := Open(b.path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Advance(t.Context(), time.Minute); err != nil || waits != most-1 {
		t.Errorf("after %d waits: %v", waits, err)
	}
	if holder, err = b.s.file.tryLock(); err != nil {
		t.Fatal(err)
	}
	defer unlock(holder)
	err = other.Advance(t.Context(), time.Minute)
	checkErr(t, err, errs.Failure, "other commands have been changing it for 1.5s", b.path)
}

// Two processes (here: two Sandbox values) see each other's changes, also in a
// watch that is running.
func TestTwoProcesses(t *testing.T) {
	b := newBench(t, "john-smith")
	other, err := Open(b.path, b.options())
	if err != nil {
		t.Fatal(err)
	}
	o := &bench{t: t, s: other, clock: b.clock, path: b.path, url: serve(t, other)}
	events := follow(t, b.url+kinds.PyTorchJob.Path("", "")+"?watch=1")
	pods := follow(t, b.url+kinds.Pod.Path(smithNS, "")+"?watch=1")
	o.create(smithNS, pytorch("far", "smith", 1, 4, lasting("30m")))
	if j := want(t, events, "ADDED", "far"); !object.True(j, "Running") {
		t.Errorf("%v", object.At(j, "status"))
	}
	want(t, pods, "ADDED", "far-worker-0")
	b.must(200, "PATCH", kinds.PyTorchJob.Path(smithNS, "far"), `{"metadata":{"labels":{"seen":"yes"}}}`, mergePatch)
	want(t, events, "MODIFIED", "far")
	if j := o.get(kinds.PyTorchJob.Resource, smithNS, "far"); object.Text(j, "metadata", "labels", "seen") != "yes" {
		t.Error("the other does not see the change")
	}
	o.advance(time.Hour)
	if j := want(t, events, "MODIFIED", "far"); !object.True(j, "Succeeded") {
		t.Errorf("%v", object.At(j, "status"))
	}
	if !b.s.Now().Equal(other.Now()) {
		t.Errorf("clocks differ: %v and %v", b.s.Now(), other.Now())
	}
	o.must(200, "DELETE", kinds.PyTorchJob.Path(smithNS, "far"), "")
	want(t, events, "DELETED", "far")
}

// Real processes write at the same time: nothing is lost.
func TestManyProcesses(t *testing.T) {
	if name := os.Getenv("SANDBOX_TEST_WRITER"); name != "" {
		writer(t, os.Getenv("SANDBOX_TEST_FILE"), name)
		return
	}
	b := newBench(t, "lend-three")
	const processes, each = 4, 5
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyProcesses$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("SANDBOX_TEST_WRITER=w%d", i), "SANDBOX_TEST_FILE="+b.path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("writer %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	if got := len(b.items("/api/v1/namespaces/default/configmaps")); got != processes*each {
		t.Errorf("%d objects, want %d", got, processes*each)
	}
	versions := map[int]bool{}
	for _, m := range b.items("/api/v1/namespaces/default/configmaps") {
		if versions[rv(m)] {
			t.Errorf("resource version %d was given twice", rv(m))
		}
		versions[rv(m)] = true
	}
}

func writer(t *testing.T, path, name string) {
	s, err := Open(path, Options{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, s: s, url: serve(t, s)}
	for i := range 5 {
		b.must(201, "POST", "/api/v1/namespaces/default/configmaps", fmt.Sprintf(`{"metadata":{"name":"%s-%d"}}`, name, i))
	}
}

// The wall clock may be set back; the sandbox's does not follow.
func TestClockNeverGoesBack(t *testing.T) {
	b := newBench(t, "john-smith")
	b.create(smithNS, pytorch("j", "smith", 1, 4))
	at := b.s.Now()
	b.clock.move(-time.Hour)
	if now := b.s.Now(); now.Before(at) {
		t.Errorf("%v is before %v", now, at)
	}
	b.must(201, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"x"}}`)
	if _, err := Open(b.path, b.options()); errors.Is(err, fs.ErrNotExist) || err != nil {
		t.Error(err)
	}
}
