package tarball

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func rootOf(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// archive makes an archive; a body of a link is its target.
func archive(t testing.TB, headers ...tar.Header) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		body := h.Uname
		h.Uname, h.Mode = "", 0o644
		h.Size = int64(len(body))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func file(name, body string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Uname: body}
}

func link(name, target string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
}

// tree lists a folder: files with content, links with targets.
func tree(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		text := ""
		if d.Type()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(p)
			text = " -> " + target
		} else if data, err := os.ReadFile(p); err == nil {
			text = "=" + string(data)
		}
		out = append(out, filepath.ToSlash(name)+text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnpack(t *testing.T) {
	for name, c := range map[string]struct {
		base, as string
		entries  []tar.Header
		want     []string
		skipped  string
		outside  string
	}{
		"a file gets a new name":               {"a", "b", []tar.Header{file("./a", "1")}, []string{"b=1"}, "", ""},
		"a folder":                             {"a", "a", []tar.Header{file("a/x/y", "1"), file("a/z", "2")}, []string{"a/x/y=1", "a/z=2"}, "", ""},
		"everything":                           {".", ".", []tar.Header{file("./x", "1")}, []string{"x=1"}, "", ""},
		"a link that stays inside":             {"a", "a", []tar.Header{file("a/x", "1"), link("a/y", "x"), link("a/d/z", "../x")}, []string{"a/d/z -> ../x", "a/x=1", "a/y -> x"}, "", ""},
		"a link that leads up":                 {"a", "a", []tar.Header{link("a/y", "../../etc/passwd")}, nil, "a/y ../../etc/passwd", ""},
		"a link to a brother":                  {"a", "a", []tar.Header{link("a/y", "../b")}, nil, "a/y ../b", ""},
		"an absolute link":                     {"a", "a", []tar.Header{link("a/y", "/etc/passwd")}, nil, "a/y /etc/passwd", ""},
		"a name that leads up":                 {"a", "a", []tar.Header{file("a/../../evil", "1")}, nil, "", "a/../../evil"},
		"a name that leads up and down":        {"a", "a", []tar.Header{file("a/../a/x", "1")}, nil, "", "a/../a/x"},
		"a name that leads up with backslash":  {"a", "a", []tar.Header{file(`a/..\..\evil`, "1")}, nil, "", `a/..\..\evil`},
		"an absolute name":                     {"a", "a", []tar.Header{file("/etc/cron.d/evil", "1")}, nil, "", "/etc/cron.d/evil"},
		"a name beside the requested one":      {"a", "a", []tar.Header{file("b", "1")}, nil, "", "b"},
		"a name that begins like the base":     {"a", "a", []tar.Header{file("ab", "1")}, nil, "", "ab"},
		"a file through a link is not outside": {"a", "a", []tar.Header{link("a/d", "."), file("a/d/x", "1")}, []string{"a/d -> .", "a/x=1"}, "", ""},
		"a link is replaced, not followed":     {"a", "a", []tar.Header{file("a/x", "1"), link("a/y", "x"), file("a/y", "2")}, []string{"a/x=1", "a/y=2"}, "", ""},
		"a hard link that leads out":           {"a", "a", []tar.Header{{Name: "a/x", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"}}, nil, "", "../../etc/passwd"},
		"a device":                             {"a", "a", []tar.Header{{Name: "a/null", Typeflag: tar.TypeChar}, file("a/x", "1")}, []string{"a/x=1"}, "a/null ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var skipped []string
			_, err := Unpack(archive(t, c.entries...), Unpacking{Root: rootOf(t, dir), Base: c.base, As: c.as, Begun: func(string, int64) {},
				Skipped: func(name, target string) { skipped = append(skipped, name+" "+target) }})
			var outside *OutsideError
			if errors.As(err, &outside) != (c.outside != "") || c.outside != "" && outside.Name != c.outside || c.outside == "" && err != nil {
				t.Errorf("%v", err)
			}
			if got := tree(t, dir); !slices.Equal(got, c.want) || strings.Join(skipped, "; ") != c.skipped {
				t.Errorf("%q, skipped %q", got, skipped)
			}
		})
	}
}

func TestUnpackLeavesNoPartOfAFile(t *testing.T) {
	whole := archive(t, file("a/x", "1"), file("a/y", strings.Repeat("2", 5000))).Bytes()
	dir := t.TempDir()
	_, err := Unpack(bytes.NewReader(whole[:3000]), Unpacking{Root: rootOf(t, dir), Base: "a", As: "a", Begun: func(string, int64) {}, Skipped: func(string, string) {}})
	if !errors.Is(err, ErrIncomplete) {
		t.Errorf("%v", err)
	}
	if got := tree(t, dir); !slices.Equal(got, []string{"a/x=1"}) {
		t.Errorf("%q", got)
	}
}

func TestPackAndUnpack(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for name, body := range map[string]string{"d/a": "1", "d/e/b": strings.Repeat("x", 70_000), "d/empty": "", "other": "no"} {
		p := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..", filepath.Join(from, "d", "e", "loop")); err != nil {
		t.Skip("no symbolic links")
	}
	root := rootOf(t, from)
	entries, err := List(root, "d", "n", func(p string, _ bool) bool { return p == "d/empty" }, func(string, fs.FileMode) {})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Pack(&b, root, entries, func(int) {}); err != nil {
		t.Fatal(err)
	}
	counts, err := Unpack(&b, Unpacking{Root: rootOf(t, to), Base: "n", As: "n", Begun: func(string, int64) {}, Skipped: func(name, _ string) { t.Error(name) }})
	if err != nil || counts != (Counts{2, 70_001}) {
		t.Errorf("%v, %v", counts, err)
	}
	if got := tree(t, to); !slices.Equal(got, []string{"n/a=1", "n/e/b=" + strings.Repeat("x", 70_000), "n/e/loop -> .."}) {
		t.Errorf("%.200q", got)
	}
	if info, err := os.Stat(filepath.Join(to, "n", "a")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestAFileThatShrinks(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a")
	if err := os.WriteFile(p, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := rootOf(t, dir)
	entries, err := List(root, "a", "a", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p, 2); err != nil {
		t.Fatal(err)
	}
	var shrunk *ShrunkError
	if err := Pack(&bytes.Buffer{}, root, entries, func(int) {}); !errors.As(err, &shrunk) || *shrunk != (ShrunkError{"a", 5, 2}) {
		t.Errorf("%v", err)
	}
}

// sparseFile is the archive of a file whose size is a number in a header, not bytes.
func sparseFile(size string) []byte {
	records := ""
	for _, r := range []string{"GNU.sparse.major=0", "GNU.sparse.minor=1", "GNU.sparse.name=a", "GNU.sparse.size=" + size, "GNU.sparse.numblocks=1", "GNU.sparse.map=" + size + ",0"} {
		records += fmt.Sprintf("%d %s\n", len(r)+4, r) // lengths of two digits
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: 0, Mode: 0o600, Format: tar.FormatUSTAR})
	_ = w.Close()
	plain := b.Bytes()
	pax := slices.Clone(plain[:512])
	copy(pax[124:], fmt.Sprintf("%011o ", len(records)))
	pax[156] = 'x'
	sum := 0
	copy(pax[148:], "        ")
	for _, c := range pax[:512] {
		sum += int(c)
	}
	copy(pax[148:], fmt.Sprintf("%06o\x00 ", sum))
	body := make([]byte, (len(records)+511)/512*512)
	copy(body, records)
	return slices.Concat(pax, body, plain)
}

// A few bytes cannot fill the disk.
func TestASparseFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := Unpack(bytes.NewReader(sparseFile("1099511627776")), Unpacking{Root: rootOf(t, dir), Base: ".", As: ".", Begun: func(string, int64) {}, Skipped: func(string, string) {}})
	if !errors.Is(err, ErrSparse) {
		t.Errorf("%v", err)
	}
	if got := tree(t, dir); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// FuzzUnpack: an archive of a pod writes nothing outside the folder, and not more than it has bytes.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("not an archive"))
	f.Add(sparseFile("1099511627776"))
	for _, entries := range [][]tar.Header{
		{file("./a", "1"), file("a/b", "2")},
		{file("../evil", "1")},
		{file(`..\evil`, "1")},
		{file("/etc/evil", "1")},
		{link("up", ".."), file("up/evil", "1")},
		{link("abs", "/tmp"), file("abs/evil", "1")},
		{link("a", "b"), link("b", "a"), file("a/evil", "1")},
		{link("d/l", "../../in"), file("d/l/x", "1")},
		{{Name: "h", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"}},
		{link("s", "../evil"), {Name: "h", Typeflag: tar.TypeLink, Linkname: "s"}, file("h", "1")},
		{{Name: "d/", Typeflag: tar.TypeDir, Mode: 0}, file("d/x", "1"), file("d", "2")},
		{{Name: "null", Typeflag: tar.TypeChar}, {Name: "pipe", Typeflag: tar.TypeFifo}},
		{file(strings.Repeat("d/", 200)+"x", "1"), file(strings.Repeat("n", 300), "1")},
	} {
		whole := archive(f, entries...).Bytes()
		f.Add(whole)
		f.Add(whole[:len(whole)/2])
		huge := slices.Clone(whole)
		copy(huge[124:136], "77777777777 ") // a size of 8 GiB; the checksum stays wrong
		f.Add(huge)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		outer := t.TempDir()
		dir := filepath.Join(outer, "in")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		counts, _ := Unpack(bytes.NewReader(data), Unpacking{Root: rootOf(t, dir), Base: ".", As: ".", Begun: func(string, int64) {}, Skipped: func(string, string) {}})
		if entries, _ := os.ReadDir(outer); len(entries) != 1 {
			t.Errorf("%v", entries)
		}
		if counts.Bytes > int64(len(data)) {
			t.Errorf("%d bytes of %d", counts.Bytes, len(data))
		}
	})
}
