package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/shell"
	"github.com/hyperpod-cli/hyperpod/internal/tarball"
)

var errCut = errors.New("the connection is lost")

// fakePod is a pod with files and a connection that breaks after each of cuts bytes.
type fakePod struct {
	dir      string
	shell    *shell.Shell
	cuts     []int64
	commands []string
	resumed  int
	before   func(command []string)
}

func newPod(t *testing.T, cuts ...int64) *fakePod {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return &fakePod{dir: dir, shell: &shell.Shell{Env: map[string]string{}, Files: &shell.Files{Root: root}}, cuts: cuts}
}

func (p *fakePod) pod() Pod {
	return Pod{
		Run:      p.run,
		Lost:     func(err error) bool { return errors.Is(err, errCut) || errors.Is(err, io.ErrUnexpectedEOF) },
		After:    func(time.Duration) <-chan time.Time { c := make(chan time.Time); close(c); return c },
		Resuming: func(error) { p.resumed++ },
	}
}

// limited ends a stream after n bytes with an error.
type limited struct {
	r io.Reader
	w io.Writer
	n *int64
}

func (l limited) Read(b []byte) (int, error) {
	if *l.n <= 0 {
		return 0, errCut
	}
	n, err := l.r.Read(b[:min(int64(len(b)), *l.n)])
	*l.n -= int64(n)
	return n, err
}

func (l limited) Write(b []byte) (int, error) {
	n := min(int64(len(b)), *l.n)
	*l.n -= n
	m, err := l.w.Write(b[:n])
	if err == nil && int(n) < len(b) {
		err = errCut
	}
	return m, err
}

func (p *fakePod) run(ctx context.Context, command []string, in io.Reader, out, errw io.Writer) (int, error) {
	p.commands = append(p.commands, strings.Join(command, " "))
	if p.before != nil {
		p.before(command)
	}
	if out == nil {
		out = io.Discard
	}
	left := int64(1) << 60
	cuttable := in != nil || command[0] == "tar" || strings.Contains(strings.Join(command, " "), "| tail")
	if cuttable && len(p.cuts) > 0 {
		left, p.cuts = p.cuts[0], p.cuts[1:]
	}
	std := shell.Streams{Out: limited{w: out, n: &left}, Err: errw}
	if in != nil {
		std.In = limited{r: in, n: &left}
	}
	code := p.shell.Run(ctx, command, std)
	if cuttable && left <= 0 {
		return 0, errCut
	}
	return code, nil
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, name string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, want %d: %v", filepath.Base(name), len(got), len(want), err)
	}
}

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestDownloadSurvivesLostConnections(t *testing.T) {
	big := noise(3 << 20)
	for name, c := range map[string]struct {
		cuts    []int64
		resumed int
	}{
		"none":                     {nil, 0},
		"before the first byte":    {[]int64{0}, 1},
		"in a header":              {[]int64{700}, 1},
		"in the large file":        {[]int64{1 << 20}, 1},
		"again and again":          {[]int64{1 << 20, 100_000, 100_000, 1, 1, 1, 1, 1}, 8},
		"before the archive's end": {[]int64{3<<20 + 4*512 + 100}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, c.cuts...)
			write(t, filepath.Join(p.dir, "data", "out", "big"), big)
			write(t, filepath.Join(p.dir, "data", "out", "small"), []byte("1"))
			dir := t.TempDir()
			counts, err := Download{Pod: p.pod(), From: "/data/out", Progress: &Progress{}, To: tarball.Unpacking{Root: open(t, dir), As: "copy", Begun: func(string, int64) {}, Skipped: func(string, string) {}}}.Copy(t.Context())
			if err != nil || counts.Files != 2 || p.resumed != c.resumed {
				t.Fatalf("%v, %v, resumed %d times", counts, err, p.resumed)
			}
			equal(t, filepath.Join(dir, "copy", "big"), big)
			equal(t, filepath.Join(dir, "copy", "small"), []byte("1"))
		})
	}
}

func TestDownloadOfAFileThatChanged(t *testing.T) {
	p := newPod(t, 1<<20)
	name := filepath.Join(p.dir, "a")
	write(t, name, noise(2<<20))
	p.before = func([]string) {
		if len(p.commands) == 2 {
			write(t, name, bytes.Repeat([]byte("x"), 2<<20))
		}
	}
	dir := t.TempDir()
	_, err := Download{Pod: p.pod(), From: "/a", Progress: &Progress{}, To: tarball.Unpacking{Root: open(t, dir), As: "a", Begun: func(string, int64) {}, Skipped: func(string, string) {}}}.Copy(t.Context())
	if !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDownloadGivesUp(t *testing.T) {
	p := newPod(t, 10, 0, 0, 0, 0, 0, 0, 0, 0)
	write(t, filepath.Join(p.dir, "a"), noise(1000))
	_, err := Download{Pod: p.pod(), From: "/a", Progress: &Progress{}, To: tarball.Unpacking{Root: open(t, t.TempDir()), As: "a", Begun: func(string, int64) {}, Skipped: func(string, string) {}}}.Copy(t.Context())
	if !errors.Is(err, errCut) || p.resumed > attempts+1 {
		t.Errorf("%v after %d attempts", err, p.resumed)
	}
}

func TestDownloadOfNothing(t *testing.T) {
	p := newPod(t)
	_, err := Download{Pod: p.pod(), From: "/none", Progress: &Progress{}, To: tarball.Unpacking{Root: open(t, t.TempDir()), As: "a", Begun: func(string, int64) {}, Skipped: func(string, string) {}}}.Copy(t.Context())
	var failed *CommandError
	if !errors.As(err, &failed) || !failed.NotFound() {
		t.Errorf("%v", err)
	}
}

func TestUploadSurvivesLostConnections(t *testing.T) {
	big := noise(3 << 20)
	for name, c := range map[string]struct {
		cuts    []int64
		resumed int
		appends bool
	}{
		"none":                   {nil, 0, false},
		"before the first byte":  {[]int64{0}, 1, false},
		"in the large file":      {[]int64{2 << 20}, 1, true},
		"again in the same file": {[]int64{2 << 20, 300_000}, 2, true},
		"in a small file":        {[]int64{3<<20 + 5*512 + 100}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, c.cuts...)
			if err := os.Mkdir(filepath.Join(p.dir, "to"), 0o755); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "src", "big"), big)
			write(t, filepath.Join(dir, "src", "small"), []byte(strings.Repeat("1", 1000)))
			root := open(t, dir)
			entries, err := tarball.List(root, "src", "dst", nil, func(string, fs.FileMode) {})
			if err != nil {
				t.Fatal(err)
			}
			counts, err := Upload{Pod: p.pod(), Root: root, Entries: entries, To: "/to", Progress: &Progress{}}.Copy(t.Context())
			if err != nil || counts.Files != 2 || p.resumed != c.resumed {
				t.Fatalf("%v, %v, resumed %d times: %q", counts, err, p.resumed, p.commands)
			}
			equal(t, filepath.Join(p.dir, "to", "dst", "big"), big)
			equal(t, filepath.Join(p.dir, "to", "dst", "small"), []byte(strings.Repeat("1", 1000)))
			if appended := strings.Contains(strings.Join(p.commands, "\n"), "cat >>"); appended != c.appends {
				t.Errorf("appended %v: %q", appended, p.commands)
			}
		})
	}
}

func TestUploadOfAFileThatShrinks(t *testing.T) {
	p := newPod(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	write(t, name, noise(100_000))
	root := open(t, dir)
	entries, err := tarball.List(root, "a", "a", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 10); err != nil {
		t.Fatal(err)
	}
	_, err = Upload{Pod: p.pod(), Root: root, Entries: entries, To: "/", Progress: &Progress{}}.Copy(t.Context())
	if !errors.As(err, new(*tarball.ShrunkError)) {
		t.Errorf("%v", err)
	}
}

// What is compared at the end is what arrived.
func TestUploadCheck(t *testing.T) {
	from, pod := t.TempDir(), newPod(t)
	write(t, filepath.Join(from, "a"), []byte("1"))
	root := open(t, from)
	entries, err := tarball.List(root, "a", "a", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	u := Upload{Pod: pod.pod(), Root: root, Entries: entries, To: "/", Progress: &Progress{}}
	if _, err := u.Copy(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("1")))
	if err := u.Check(t.Context(), map[string]string{"a": sum}); err != nil {
		t.Error(err)
	}
	if err := u.Check(t.Context(), map[string]string{"a": "0" + sum[1:]}); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	var failed *CommandError
	if err := u.Must(t.Context(), "rm", "/missing"); !errors.As(err, &failed) || !failed.NotFound() {
		t.Error(err)
	}
}

// Names that sha256sum escapes, or that look like options, are compared too, also below a relative folder.
func TestUploadCheckNames(t *testing.T) {
	from, pod := t.TempDir(), newPod(t)
	root := open(t, from)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("1")))
	var entries []tarball.Entry
	want := map[string]string{}
	for _, name := range []string{"new\nline", `back\slash`, "-x", "*", " blank", "a b", "cr\r", `\n`} {
		write(t, filepath.Join(from, name), []byte("1"))
		more, err := tarball.List(root, name, name, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		entries, want[name] = append(entries, more...), sum
	}
	for _, to := range []string{"/", "."} {
		u := Upload{Pod: pod.pod(), Root: root, Entries: entries, To: to, Progress: &Progress{}}
		if _, err := u.Copy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := u.Check(t.Context(), want); err != nil {
			t.Errorf("%s: %v", to, err)
		}
	}
}

func TestParseLocation(t *testing.T) {
	for text, want := range map[string]Location{
		"a":             {"", "a"},
		"./a:b":         {"", "./a:b"},
		"/a:b":          {"", "/a:b"},
		`C:\a`:          {"", `C:\a`},
		":a":            {"", ":a"},
		"job:/a":        {"job", "/a"},
		"job:a:b":       {"job", "a:b"},
		"job:":          {"job", ""},
		"pytorchjob/j:": {"pytorchjob/j", ""},
		"../x:y":        {"", "../x:y"},
		"a/b/c:d":       {"", "a/b/c:d"},
	} {
		if got := ParseLocation(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// fullDisk runs commands in a pod whose tar writes some files in part, as GNU tar does on a full disk: it goes on after the
// first one.
func (p *fakePod) fullDisk(t *testing.T, parts map[string]string, message string) Run {
	return func(ctx context.Context, command []string, in io.Reader, out, errw io.Writer) (int, error) {
		if command[0] != "tar" {
			return p.run(ctx, command, in, out, errw)
		}
		_, _ = io.Copy(io.Discard, in)
		for name, content := range parts {
			write(t, filepath.Join(p.dir, name), []byte(content))
		}
		fmt.Fprintln(errw, message)
		return 2, nil
	}
}

// TestAFullDiskLeavesNoIncompleteFiles: what tar wrote in part is removed. Complete files stay, and files that a tar that
// stopped at its first error did not reach.
func TestAFullDiskLeavesNoIncompleteFiles(t *testing.T) {
	src := t.TempDir()
	for _, name := range []string{"a", "b", "c", "d"} {
		write(t, filepath.Join(src, "in", name), []byte("content of "+name))
	}
	parts := map[string]string{"tmp/in/a": "content of a", "tmp/in/b": "content", "tmp/in/c": "", "tmp/in/d": "an older file"}
	for _, test := range []struct {
		message string
		left    string
		removed int
	}{
		{"tar: in/b: Wrote only 7 of 12 bytes\ntar: Exiting with failure status due to previous errors", "a d", 2},
		{"tar: write error: No space left on device", "a c d", 1},
		{"tar: in/b: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors", "a b c d", 0},
	} {
		p := newPod(t)
		write(t, filepath.Join(p.dir, "tmp", "x"), nil)
		root, err := os.OpenRoot(src)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		entries, err := tarball.List(root, "in", "in", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		pod := p.pod()
		pod.Run = p.fullDisk(t, parts, test.message)
		_, err = Upload{Pod: pod, Root: root, Entries: entries, To: "/tmp", Progress: &Progress{}}.Copy(context.Background())
		var failed *CommandError
		if !errors.As(err, &failed) || failed.Removed != test.removed || failed.Full() != (test.removed > 0) {
			t.Errorf("%s: %+v", test.message, err)
		}
		found, err := os.ReadDir(filepath.Join(p.dir, "tmp", "in"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range found {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != test.left {
			t.Errorf("%s: left %s, want %s", test.message, got, test.left)
		}
	}
}
