// Package namecache keeps what completion read from a cluster, for a short time: names and labels, never whole objects.
// A file belongs to one user of one cluster. Losing it costs a request, so no failure is an error.
package namecache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// most is the size of the largest file that is kept or read.
const most = 8 << 20

// Cache is the files of one user of one cluster. A nil Cache keeps nothing.
type Cache struct {
	dir, who string
	lasting  time.Duration
	now      func() time.Time
}

// Open returns the cache in a folder, which need not exist. who is everything that identifies the cluster and the user;
// only its hash is written. What is older than lasting is not used; with 0 the result is nil.
func Open(dir string, lasting time.Duration, now func() time.Time, who ...string) *Cache {
	if lasting <= 0 {
		return nil
	}
	return &Cache{dir: dir, who: hash(who), lasting: lasting, now: now}
}

// hash returns a name for a list of texts.
func hash(texts []string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s\n", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// kept is the content of a file.
type kept[T any] struct {
	Taken time.Time
	Items []T
}

// Recall returns what read returned a short time ago, or calls it. what identifies the list. A list with an error is
// not kept.
func Recall[T any](c *Cache, read func() ([]T, error), what ...string) ([]T, error) {
	if c == nil {
		return read()
	}
	path := filepath.Join(c.dir, c.who+"-"+hash(what)+extension)
	var k kept[T]
	if data, err := bounded.File(path, most); err == nil && json.Unmarshal(data, &k) == nil && c.fresh(k.Taken) {
		return k.Items, nil
	}
	items, err := read()
	if err != nil {
		return items, err
	}
	if data, err := json.Marshal(kept[T]{c.now().UTC(), items}); err == nil && len(data) <= most {
		c.prune("")
		_ = atomicfile.Replace(path, data)
	}
	return items, nil
}

func (c *Cache) fresh(taken time.Time) bool {
	age := c.now().Sub(taken)
	return age >= 0 && age < c.lasting
}

// Forget removes all files of the cluster's user: something has changed.
func (c *Cache) Forget() {
	if c != nil {
		c.prune(c.who + "-")
	}
}

// extension is the extension of the files.
const extension = ".json"

// prune removes the files with a prefix, and those that are too old, whose user may never come back.
func (c *Cache) prune(prefix string) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), extension) {
			continue
		}
		if prefix != "" && strings.HasPrefix(e.Name(), prefix) || c.now().Sub(info.ModTime()) >= c.lasting {
			_ = os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
}
