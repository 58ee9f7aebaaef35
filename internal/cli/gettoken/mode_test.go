//go:build unix

package gettoken

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
)

// TestOnlyTheOwnerReadsTokens: also with a umask that hides nothing. A process of its own
// has the umask.
func TestOnlyTheOwnerReadsTokens(t *testing.T) {
	if dir := os.Getenv("TOKEN_DIR"); dir != "" {
		c := newCache(dir, &Options{EKS: "ml"}, func(string) string { return "" })
		for range 2 { // a new file, and one that is replaced
			if err := c.save(aws.Token{Value: "t", Expires: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "cache")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `umask 000; exec "$0" -test.run TestOnlyTheOwnerReadsTokens`, self)
	cmd.Env = append(os.Environ(), "TOKEN_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "tokens", "*"))
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "tokens"): 0o700, files[0]: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
