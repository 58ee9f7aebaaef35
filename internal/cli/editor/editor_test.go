package editor

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

func TestCommand(t *testing.T) {
	blank := filepath.Join(t.TempDir(), "my editor")
	if err := os.WriteFile(blank, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		visual, editor string
		want           []string
	}{
		{"", "", []string{"vi"}},
		{"", "nano", []string{"nano"}},
		{"code --wait", "nano", []string{"code", "--wait"}},
		{"", `"a b" -c 'd e'`, []string{"a b", "-c", "d e"}},
		{blank, "", []string{blank}},
		{" ", "ed", []string{"ed"}},
		{`open "`, "", nil},
	} {
		got, err := Command(func(name string) string { return map[string]string{"VISUAL": c.visual, "EDITOR": c.editor}[name] })
		if c.want == nil && err == nil || c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("VISUAL=%q EDITOR=%q: %q, %v", c.visual, c.editor, got, err)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		editor  string
		in, out bool
		ok      bool
	}{
		{"", true, true, true},
		{"", false, true, false},
		{"", true, false, false},
		{"sed -i s/a/b/", false, false, true},
		{`open "`, true, true, false},
	} {
		stdio, _ := output.Test()
		stdio.InTTY, stdio.OutTTY = c.in, c.out
		f := &factory.Factory{IO: stdio, Env: func(name string) string { return map[string]string{"EDITOR": c.editor}[name] }}
		if err := Check(f); (err == nil) != (c.ok || c.editor == "" && runtime.GOOS == "windows") || err != nil && errs.ExitOf(err) != errs.Usage {
			t.Errorf("EDITOR=%q, terminals %v %v: %v", c.editor, c.in, c.out, err)
		}
	}
}

func TestComments(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"# only\n\n  # comments\n": "",
		"a: b\n":                   "a: b\n",
		"# c\r\na: b \r\n\r\n":     "a: b\n",
		"a:\n  b: '#x'":            "a:\n  b: '#x'\n",
	} {
		if got := string(WithoutComments([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := string(Comment("Error: x\n\n  try: y\n")); got != "# Error: x\n#\n#   try: y\n" {
		t.Errorf("a comment is %q", got)
	}
}
