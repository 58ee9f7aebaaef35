package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestManPages: every command and help topic has a manual page, the same each time.
func TestManPages(t *testing.T) {
	date := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	first, err := manPages(date)
	if err != nil {
		t.Fatal(err)
	}
	second, err := manPages(date)
	if err != nil || len(first) != len(second) || len(first) < 50 {
		t.Fatalf("%d and %d pages: %v", len(first), len(second), err)
	}
	for name, page := range first {
		if !bytes.Equal(page, second[name]) {
			t.Errorf("%s differs from one time to the next", name)
		}
	}
	for name, want := range map[string]string{"hyperpod.1": "hyperpod-start-job(1)", "hyperpod-start-job.1": "--node-count", "hyperpod-exit-codes.1": "124", "hyperpod-governance-plan.1": "Feb 2026"} {
		if !bytes.Contains(bytes.ReplaceAll(first[name], []byte(`\-`), []byte("-")), []byte(want)) {
			t.Errorf("%s lacks %s:\n%s", name, want, first[name])
		}
	}
}

// The lines of tables stay one below the other: outside of literal text, roff breaks and indents a line that begins with a space.
func TestManPagesKeepTables(t *testing.T) {
	pages, err := manPages(time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range pages {
		literal := false
		for i, line := range strings.Split(string(page), "\n") {
			switch {
			case line == ".EX":
				literal = true
			case line == ".EE":
				literal = false
			case !literal && strings.HasPrefix(line, " "):
				t.Errorf("%s, line %d begins with a space: %s", name, i+1, line)
			}
		}
	}
	for name, want := range map[string]string{
		"hyperpod-get-quota.1": ".EX\nNOMINAL     the team's own quota\nRESERVED    quota that its workloads reserve\n",
		"hyperpod-start-job.1": "or a template (--template; list-templates shows the names",
	} {
		if !strings.Contains(strings.ReplaceAll(string(pages[name]), `\-`, "-"), want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}
