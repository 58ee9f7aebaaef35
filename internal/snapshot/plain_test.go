package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
)

// namespaces returns the items of a list.
func namespaces(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-%05d","labels":{"note":%q}}}`, i, strings.Repeat("x", 200))
	}
	return b.String()
}

func opened(t *testing.T, text string) (*snapshot.Snapshot, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return snapshot.Open(path)
}

// TestPlainLists: the fields of a list come in any order, and documents may follow one another.
func TestPlainLists(t *testing.T) {
	const one = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"other"}}`
	for _, c := range []struct {
		name, text string
		want       int // namespaces; -1: an error
	}{
		{"kind first", `{"apiVersion":"v1","kind":"List","metadata":{},"items":[` + namespaces(3) + `]}`, 3},
		{"items first", `{"items":[` + namespaces(3) + `],"metadata":{"x":[1,{}]},"kind":"List","apiVersion":"v1"}`, 3},
		{"a typed list", `{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"kind":"NamespaceList","apiVersion":"v1"}`, 2},
		{"items in capitals", `{"apiVersion":"v1","kind":"List","Items":[` + namespaces(2) + `]}`, 2},
		{"two documents", `{"apiVersion":"v1","kind":"List","items":[` + namespaces(2) + `]}` + "\n" + one, 3},
		{"a list and no items", one + `{"apiVersion":"v1","kind":"List","items":null}`, 1},
		{"items without a list", `{"apiVersion":"v1","kind":"List","items":"a"}`, -1},
		{"cut short", `{"apiVersion":"v1","kind":"List","items":[` + namespaces(2), -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := opened(t, c.text)
			got := -1
			if err == nil {
				got = s.Count(kinds.Namespace)
			}
			if got != c.want {
				t.Errorf("%d namespaces, want %d (%v)", got, c.want, err)
			}
		})
	}
}

// TestPlainMemory: opening a file of plain objects allocates for what is in it, and no table of kinds for each object.
func TestPlainMemory(t *testing.T) {
	const n, most = 2000, 18000 // bytes for each object of 300, with its tree and its text
	text := `{"apiVersion":"v1","items":[` + namespaces(n) + `],"kind":"List"}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := opened(t, text); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > most {
		t.Errorf("%d bytes for each object, want at most %d", each, most)
	}
}

// TestReleaseKeepsCounts: a command can still ask how many objects a released snapshot had.
func TestReleaseKeepsCounts(t *testing.T) {
	s, err := opened(t, `{"apiVersion":"v1","kind":"List","items":[`+namespaces(3)+`]}`)
	if err != nil {
		t.Fatal(err)
	}
	s.Release()
	if got := s.Count(kinds.Namespace); got != 3 {
		t.Errorf("%d namespaces after the release, want 3", got)
	}
}
