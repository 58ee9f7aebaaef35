package gettoken

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
)

// TestPrune: tokens that expired are removed with the next one that is stored, and
// nothing else is.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	c := newCache(dir, &Options{EKS: "ml"}, func(string) string { return "" })
	if err := c.save(aws.Token{Value: "t", Expires: now.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	write := func(name string, age time.Duration) string {
		path := filepath.Join(dir, "tokens", name)
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	name := func(digit string) string { return strings.Repeat(digit, 32) + ".json" }
	for path, gone := range map[string]bool{
		write(name("a"), 2*time.Hour): true, write(name("b"), 50*time.Minute): false, write("notes.json", 24*time.Hour): false,
		write(strings.Repeat("c", 32), 24*time.Hour): false,
	} {
		c.prune(now)
		if _, err := os.Stat(path); os.IsNotExist(err) != gone {
			t.Errorf("%s: %v", path, err)
		}
	}
	(&cache{filepath.Join(dir, "none", "x")}).prune(now) // no folder
}
