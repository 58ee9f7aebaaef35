package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestUpToDate compares every generated file with what the code makes of it now.
func TestUpToDate(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 8 {
		t.Errorf("%d generated files", len(files))
	}
	stale, err := changed(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stale {
		have, _ := os.ReadFile(path)
		t.Errorf("%s%s: out of date (run: make docs)", path, difference(string(have), string(files[path])))
	}
}

// TestWithScreens runs the commands of a page and replaces only what is below them.
func TestWithScreens(t *testing.T) {
	const page = "before\n```console\n$ hyperpod version \\\n    -o json\nold output\n```\nafter\n```\n$ hyperpod no-command\n```\n"
	got, err := withScreens(page, screen)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"before\n```console\n$ hyperpod version \\\n    -o json\n{\n \"Version\": \"dev\"", "}\n```\nafter\n```\n$ hyperpod no-command\n```\n"}
	if !strings.HasPrefix(got, want[0]) || !strings.HasSuffix(got, want[1]) || strings.Contains(got, "old output") {
		t.Errorf("%s", got)
	}
	if again, err := withScreens(got, screen); err != nil || again != got {
		t.Errorf("a second run differs: %v\n%s", err, again)
	}
	for _, bad := range []string{"```console\n$ hyperpod version\n", "```console\n$ hyperpod no-command\n```\n"} {
		if _, err := withScreens(bad, screen); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestWalk: the commands of a walk-through share a sandbox, and one that fails is an error.
func TestWalk(t *testing.T) {
	got, err := walked("```console\n$ hyperpod sandbox create lab --scenario startup\n$ export HYPERPOD_SANDBOX=lab\n```\n```console\n$ hyperpod get-job no-job -n hyperpod-ns-speech\n$ echo $?\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Created sandbox lab (startup)\n", "Error: job \"no-job\" not found", "$ echo $?\n5\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	for _, bad := range []string{"hyperpod get-job no-job -n hyperpod-ns-speech", "rm -r /", "export x"} {
		if _, err := walked("```console\n$ hyperpod sandbox create lab --scenario startup\n$ export HYPERPOD_SANDBOX=lab\n$ " + bad + "\n```\n"); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// difference returns the first line that differs, "" for a new file.
func difference(have, want string) string {
	if have == "" {
		return ""
	}
	old, now := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range old {
		if i >= len(now) || old[i] != now[i] {
			text := "(end)"
			if i < len(now) {
				text = now[i]
			}
			return fmt.Sprintf(":%d: %s", i+1, text)
		}
	}
	return fmt.Sprintf(":%d", len(old))
}
