package history

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzLine: a line that was read is written as one that reads the same.
func FuzzLine(f *testing.F) {
	f.Add([]byte("T\t1\t60;J\t0\tu\tn\ta\\3bb\tPyTorchJob\tt\to\tp\tq\ti\ta=1,b=2;C\t0\t1\tRunning\tr\t0;Q\tq\tt\tf\ti\tr\t1\t2\t3\t4\t5;N\ti\tr\t1\t2\t3\t4;"))
	f.Add([]byte("T\t-9223372036854775807\t0;C\t-1\t9\t\\5c\t\t;"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := decoder{amountsOf: map[string]map[string]int64{}}
		l, err := d.line(string(text))
		if err != nil {
			return
		}
		written := l.encode()
		content, rest, err := unseal(written)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%q is not one line: %v", written, err)
		}
		again, err := d.line(string(content))
		if err != nil || !bytes.Equal(again.encode(), written) {
			t.Errorf("%q, %v\nwant %q", again.encode(), err, written)
		}
	})
}

// FuzzRead: a segment is data or an error, and a recorder can go on after any segment.
func FuzzRead(f *testing.F) {
	head, err := header{Format: Format, Cluster: "c"}.encode()
	if err != nil {
		f.Fatal(err)
	}
	now := start
	one := line{Time: now.Unix(), Pace: 60, Jobs: []jobLine{{0, Job{UID: "u", Namespace: "n", Name: "j"}}}, Changes: []changeLine{{0, Change{Time: now, Phase: "Running"}}}}
	f.Add(append(head, one.encode()...))
	f.Add(head)
	f.Add([]byte("00000000 {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, now.Format(nameLayout)+extension), data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = Read(dir, now.Add(-time.Hour), now.Add(time.Hour))
		_, _ = Last(dir)
		w, err := Open(dir, Options{Cluster: "c"})
		if err != nil {
			return
		}
		defer func() { _ = w.Close() }()
		if written, err := w.Append(Observation{Time: now.Add(time.Hour)}); written {
			if last, lastErr := Last(dir); err != nil || lastErr != nil || !last.Equal(now.Add(time.Hour)) {
				t.Errorf("the last sample is of %v, %v, %v", last, err, lastErr)
			}
		}
	})
}
