package namecache

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// server counts the lists that it answers.
type server struct {
	lists int
	err   error
}

func (s *server) list() ([]string, error) {
	s.lists++
	return []string{"vit-huge", "dino-giant"}, s.err
}

// clock is a clock that a test moves. It starts now, because files have the machine's time.
type clock struct{ now time.Time }

func (c *clock) time() time.Time { return c.now }

func TestRecall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "completion")
	at := &clock{time.Now()}
	alice := Open(dir, time.Minute, at.time, "https://a", "alice")
	s := &server{}
	ask := func(c *Cache, want int, what ...string) {
		t.Helper()
		got, err := Recall(c, s.list, what...)
		if err != s.err || !slices.Equal(got, []string{"vit-huge", "dino-giant"}) {
			t.Fatalf("%v, %v", got, err)
		}
		if s.lists != want {
			t.Fatalf("%d lists, want %d", s.lists, want)
		}
	}
	ask(alice, 1, "jobs", "ns")
	ask(alice, 1, "jobs", "ns")
	ask(alice, 2, "jobs", "other")
	ask(alice, 3, "job", "sns") // not the same words, although the same text
	ask(Open(dir, time.Minute, at.time, "https://a", "bob"), 4, "jobs", "ns")
	ask(Open(dir, time.Minute, at.time, "https://b", "alice"), 5, "jobs", "ns")
	ask(Open(dir, 0, at.time, "https://a", "alice"), 6, "jobs", "ns") // off
	at.now = at.now.Add(time.Minute)
	ask(alice, 7, "jobs", "ns")
	at.now = at.now.Add(-time.Second) // a file from the future
	ask(alice, 8, "jobs", "ns")
	s.err = errors.New("rayjobs cannot be listed")
	ask(alice, 9, "partial")
	ask(alice, 10, "partial")
}

func TestForget(t *testing.T) {
	dir := t.TempDir()
	at := &clock{time.Now()}
	alice, bob := Open(dir, time.Minute, at.time, "alice"), Open(dir, time.Minute, at.time, "bob")
	s := &server{}
	for _, c := range []*Cache{alice, bob} {
		if _, err := Recall(c, s.list, "jobs"); err != nil {
			t.Fatal(err)
		}
	}
	alice.Forget()
	(*Cache)(nil).Forget()
	_, _ = Recall(bob, s.list, "jobs")
	if s.lists != 2 {
		t.Errorf("bob's list is gone")
	}
	_, _ = Recall(alice, s.list, "jobs")
	if s.lists != 3 {
		t.Errorf("alice's list is still there")
	}
}

// TestFiles: only the owner reads the files, they do not tell whose they are, and old ones are removed.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "completion")
	at := &clock{time.Now()}
	s := &server{}
	if _, err := Recall(Open(dir, time.Minute, at.time, "https://a", "alice"), s.list, "jobs", "secret-team"); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"alice", "https", "secret-team"} {
		if strings.Contains(string(data)+files[0], word) {
			t.Errorf("%s: %s", files[0], data)
		}
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{dir: 0o700, files[0]: 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	at.now = at.now.Add(time.Hour)
	if _, err := Recall(Open(dir, time.Minute, at.time, "bob"), s.list, "jobs"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("the old file is still there: %v", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file of somebody else is gone: %v", err)
	}
}

// TestDamaged: a file that cannot be used counts as missing.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	at := &clock{time.Now()}
	c := Open(dir, time.Minute, at.time, "alice")
	s := &server{}
	_, _ = Recall(c, s.list, "jobs")
	files, _ := filepath.Glob(filepath.Join(dir, "*"+extension))
	if len(files) != 1 {
		t.Fatal(files)
	}
	if err := os.WriteFile(files[0], []byte(`{"Taken":"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Recall(c, s.list, "jobs"); err != nil || len(got) != 2 || s.lists != 2 {
		t.Errorf("%v, %v, %d lists", got, err, s.lists)
	}
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Recall(Open(blocked, time.Minute, at.time, "alice"), s.list, "jobs"); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}
