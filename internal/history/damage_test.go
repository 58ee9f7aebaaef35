package history

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDamage: what is behind a damaged line of a segment is lost, and reported; a recorder goes on in a new one.
func TestDamage(t *testing.T) {
	dir, world := t.TempDir(), newWorld(5, 10)
	w := open(t, dir, Options{})
	for n := range 10 {
		appendTo(t, w, world.step(start.Add(time.Duration(n)*time.Minute), time.Minute))
	}
	path := w.path
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	lines[5] = strings.Replace(lines[5], "T", "U", 1)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	w = open(t, dir, Options{})
	defer w.Close()
	appendTo(t, w, world.step(start.Add(10*time.Minute), time.Minute))
	d, err := Read(dir, start, start.Add(time.Hour))
	if err != nil || len(d.Damaged) != 1 || d.Samples != 5 {
		t.Fatal(err, d)
	}
}

// TestDamageAfterATime: where the segment after a time has no sample that can be read, the next one knows the jobs of the time.
func TestDamageAfterATime(t *testing.T) {
	dir := t.TempDir()
	for day := range 2 {
		w := open(t, dir, Options{Pace: time.Minute})
		appendTo(t, w, Observation{Time: start.Add(time.Duration(day) * 24 * time.Hour), Jobs: []Observed{{Job: Job{UID: "u", Name: "old", Team: "t"},
			Phases: []Change{{Time: start.Add(-9 * time.Hour), Phase: Holding}}}}})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	list, err := segments(dir)
	if err != nil || len(list) != 2 {
		t.Fatal(err, list)
	}
	for _, text := range []string{"", "0 damaged\n0 damaged\n"} {
		path := filepath.Join(dir, list[0].name)
		if err := os.Remove(path + packed); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+extension, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Read(dir, start.Add(-8*time.Hour), start.Add(-7*time.Hour))
		if err != nil || len(d.Jobs) != 1 || !d.First.Equal(start.Add(24*time.Hour)) || len(d.Damaged) != 1 || d.Damaged[0] != list[0].name {
			t.Errorf("%q: %v, %+v", text, err, d)
		}
	}
}

// A file whose beginning is damaged is reported, and the recorder leaves it there: the rest may be repaired.
func TestDamageAtTheStart(t *testing.T) {
	for at := range 2 {
		dir, world := t.TempDir(), newWorld(5, 10)
		w := open(t, dir, Options{})
		for n := range 3 {
			appendTo(t, w, world.step(start.Add(time.Duration(n)*time.Minute), time.Minute))
		}
		path := w.path
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(data), "\n")
		lines[at] = "0" + lines[at]
		damaged := strings.Join(lines, "")
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		var unread *DamagedError
		if _, err := Read(dir, start, start.Add(time.Hour)); !errors.As(err, &unread) || len(unread.Segments) != 1 {
			t.Errorf("line %d: %v", at, err)
		}
		if _, err := Last(dir); !errors.As(err, &unread) {
			t.Errorf("line %d: %v", at, err)
		}
		w = open(t, dir, Options{})
		appendTo(t, w, world.step(start.Add(10*time.Minute), time.Minute))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		list, err := segments(dir)
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		if _, now, err := list[0].read(dir); err != nil || string(now) != damaged { // it may be packed by now
			t.Errorf("line %d: the damaged file changed: %v", at, err)
		}
		if d, err := Read(dir, start, start.Add(time.Hour)); err != nil || d.Samples != 1 || len(d.Damaged) != 1 {
			t.Errorf("line %d: %+v, %v", at, d, err)
		}
	}
}
