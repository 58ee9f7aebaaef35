package main

import (
	"bytes"
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
