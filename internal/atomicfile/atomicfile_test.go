package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
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
