package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

func TestSetKeepsTheRest(t *testing.T) {
	w := newWorld(t)
	w.write("# my settings\noutput: json # for scripts\nunknown: {a: [1, 2]}\n# last\nquiet: true\n")
	for _, change := range [][2]string{{"output", "YAML"}, {"quiet", "off"}, {"request-timeout", "90s"}, {"default-template", "yes"}} {
		if path, err := Set(w.env, change[0], change[1]); err != nil || path != w.path() {
			t.Fatal(path, err)
		}
	}
	want := "# my settings\noutput: yaml # for scripts\nunknown: {a: [1, 2]}\n# last\nquiet: false\nrequest-timeout: 1m30s\ndefault-template: yes\n"
	if got := w.read(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if v, err := valueOf(w, "default-template"); err != nil || v.Value != "yes" || v.Origin != FromFile {
		t.Errorf("%+v %v", v, err)
	}
	for _, key := range []string{"output", "request-timeout", "output", "color"} {
		if _, err := Unset(w.env, key); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.read(); strings.Contains(got, "output") || strings.Contains(got, "timeout") || !strings.Contains(got, "unknown: {a: [1, 2]}\n# last\nquiet: false\n") {
		t.Errorf("after unset:\n%s", got)
	}
}

func valueOf(w *world, key string) (Value, error) {
	c, _, err := Load(w.env)
	if err != nil {
		return Value{}, err
	}
	v, _ := c.Value(key)
	return v, nil
}

// TestSetRejectsNothing: an empty value is not a setting, whatever it would be of.
func TestSetRejectsNothing(t *testing.T) {
	w := newWorld(t)
	for _, key := range Keys() {
		if _, err := Set(w.env, key, ""); errs.ExitOf(err) != errs.Usage || !strings.Contains(err.Error(), "invalid "+key+` "": must be`) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := os.Stat(w.path()); !os.IsNotExist(err) {
		t.Error("the file was written")
	}
}

func TestSetMakesTheFile(t *testing.T) {
	w := newWorld(t)
	if path, err := Unset(w.env, "output"); err != nil || path != w.path() {
		t.Errorf("%s %v", path, err)
	}
	if _, err := os.Stat(filepath.Dir(w.path())); !os.IsNotExist(err) {
		t.Error("to unset nothing made a folder")
	}
	if _, err := Set(w.env, "output", "json"); err != nil {
		t.Fatal(err)
	}
	if got := w.read(); got != "output: json\n" {
		t.Errorf("got %q", got)
	}
	info, err := os.Stat(w.path())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestSetOnCommentsOnly(t *testing.T) {
	for _, text := range []string{"", "# only a comment\n", "---\n", "null\n"} {
		w := newWorld(t)
		w.write(text)
		if _, err := Set(w.env, "output", "json"); err != nil {
			t.Fatal(err)
		}
		if v, err := valueOf(w, "output"); err != nil || v.Value != "json" {
			t.Errorf("%q: %+v %v", text, v, err)
		}
		if got := w.read(); strings.HasPrefix(text, "#") && !strings.Contains(got, "# only a comment") {
			t.Errorf("the comment is lost: %q", got)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	w := newWorld(t)
	for _, change := range [][2]string{{"outptu", "json"}, {"output", "name"}, {"output", ""}, {"request-timeout", "5"}, {"quiet", ""}, {"default-template", "a\nb"}} {
		if _, err := Set(w.env, change[0], change[1]); errs.ExitOf(err) != errs.Usage {
			t.Errorf("%q: %v", change, err)
		}
	}
	if _, err := Unset(w.env, "outptu"); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), "did you mean:  output") {
		t.Errorf("unset: %v", err)
	}
	if _, err := os.Stat(w.path()); !os.IsNotExist(err) {
		t.Error("a refused value made a file")
	}
	w.write("output: [\n")
	if _, err := Set(w.env, "color", "never"); errs.ExitOf(err) != errs.Usage || w.read() != "output: [\n" {
		t.Errorf("a file that cannot be read was replaced: %v %q", err, w.read())
	}
}

// A value that is already so is not written again.
func TestSetTheSame(t *testing.T) {
	w := newWorld(t)
	text := "quiet:   true   # spaces stay\n"
	w.write(text)
	if _, err := Set(w.env, "quiet", "yes"); err != nil || w.read() != text {
		t.Errorf("%v %q", err, w.read())
	}
}

func TestSetThroughASymbolicLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need permissions there")
	}
	w := newWorld(t)
	w.write("")
	real := filepath.Join(w.home, "dotfiles.yaml")
	if err := os.WriteFile(real, []byte("quiet: true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.path()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, w.path()); err != nil {
		t.Fatal(err)
	}
	if _, err := Set(w.env, "output", "json"); err != nil {
		t.Fatal(err)
	}
	link, err := os.Lstat(w.path())
	if err != nil || link.Mode()&os.ModeSymlink == 0 {
		t.Errorf("no link any more: %v %v", link, err)
	}
	info, err := os.Stat(real)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode: %v %v", info, err)
	}
	if got := w.read(); got != "quiet: true\noutput: json\n" {
		t.Errorf("got %q", got)
	}
}

func TestWriteFails(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.home, ".config"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Set(w.env, "output", "json")
	if errs.ExitOf(err) != errs.Failure || !strings.Contains(err.Error(), "the configuration") {
		t.Errorf("got %v", err)
	}
}

// Readers see a whole file at any time, and nothing is left beside it.
func TestSetIsAtomic(t *testing.T) {
	w := newWorld(t)
	w.write("output: json\n")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 25 {
				if _, err := Set(w.env, "output", []string{"json", "yaml", "table", "wide"}[i]); err != nil {
					t.Error(err)
				}
				if c, _, err := Load(w.env); err != nil || c.Output == "" {
					t.Errorf("%q %v", c.Output, err)
				}
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(filepath.Dir(w.path()))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}
