package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"first", "second"} {
		info, err := Write(path, func(f *os.File) error { _, err := f.WriteString(text); return err })
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != text || info.Size() != int64(len(text)) {
			t.Errorf("content %q, size %d", got, info.Size())
		}
		if m := info.Mode().Perm(); runtime.GOOS != "windows" && m != 0o600 {
			t.Errorf("mode %v", m)
		}
	}
	if n := entries(t, filepath.Dir(path)); n != 1 {
		t.Errorf("%d files are left", n)
	}
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	_, err := Write(path, func(f *os.File) error { _, _ = f.WriteString("ha"); return full })
	if !errors.Is(err, full) || content(t, path) != "old" || entries(t, filepath.Dir(path)) != 1 {
		t.Errorf("err %v, content %q, %d files", err, content(t, path), entries(t, filepath.Dir(path)))
	}
	if _, err := Write(filepath.Join(path, "below-a-file"), func(*os.File) error { return nil }); err == nil {
		t.Error("a file below a file was written")
	}
}

// What killed writes of a file left goes with its next write. Files of a running write, of
// other files and of others stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	old := time.Now().Add(-2 * time.Hour)
	leave := func(name string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, old, old); err != nil {
			t.Fatal(err)
		}
	}
	kept := []string{".file.notes.tmp", ".file.12.txt", ".other.123.tmp", ".file..tmp", "file.123.tmp"}
	for _, name := range append([]string{".file.123.tmp", ".file.4567.tmp"}, kept...) {
		leave(name)
	}
	_, err := Write(path, func(outer *os.File) error {
		_, err := Write(path, func(*os.File) error { return nil })
		if _, gone := os.Lstat(outer.Name()); gone != nil {
			t.Errorf("the file of a running write is gone: %v", gone)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := entries(t, dir); n != 1+len(kept) {
		list, _ := os.ReadDir(dir)
		t.Errorf("%d files are left: %v", n, list)
	}
}

func TestSweepFollowsNoLinks(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "precious")
	if err := os.WriteFile(other, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, ".file.123.tmp")); err != nil {
		t.Skip(err)
	}
	if _, err := Write(filepath.Join(dir, "file"), func(*os.File) error { return nil }); err != nil || content(t, other) != "content" {
		t.Errorf("err %v, content %q", err, content(t, other))
	}
}

// Writers of one file do not sweep each other's work away.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for range 20 {
				if _, err := Write(path, func(f *os.File) error { _, err := fmt.Fprintf(f, "%04d", w); return err }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := entries(t, filepath.Dir(path)); n != 1 || len(content(t, path)) != 4 {
		t.Errorf("%d files, content %q", n, content(t, path))
	}
}

// A lock file belongs to one process. That of a killed one goes; an empty one is another
// program's and stays.
func TestExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.lock")
	release, err := Exclusive(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Exclusive(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a lock in use: %v", err)
	}
	release()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the lock file is still there")
	}
	for text, free := range map[string]bool{"hyperpod\n": runtime.GOOS != "windows", "": false, "hyperpod\nmore": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		release, err := Exclusive(path)
		if (err == nil) != free {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil {
			release()
		}
		_ = os.Remove(path)
	}
}

// A file takes the place of no device, pipe or socket, also behind a link.
func TestDevicesStay(t *testing.T) {
	if _, err := os.Stat("/dev/null"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for name, to := range map[string]string{"null": "/dev/null", "stdout": "/proc/self/fd/1"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, why := range map[string]string{"socket": "it is a socket", "null": "it is a device", "stdout": "it is a link into /proc"} {
		path := filepath.Join(dir, name)
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Write(path, func(*os.File) error { t.Error("written"); return nil })
		if err == nil || !strings.HasSuffix(err.Error(), why) {
			t.Errorf("%s: got %v", name, err)
		}
		if now, err := os.Lstat(path); err != nil || now.Mode() != before.Mode() {
			t.Errorf("%s: %v, %v", name, now, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}
