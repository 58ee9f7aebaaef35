// Package atomicfile replaces files in one step: a reader sees either the old content or the new content, and a
// failed write leaves the old content.
package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
)

// extension is the extension of the files that a write fills before they get their name.
const extension = ".tmp"

// Write replaces the file at path, or creates it, with what write puts into the file that it gets. Only the
// owner can read and write the file. The result describes the new file. Write removes temporary files that
// killed writes of the same file left.
func Write(path string, write func(*os.File) error) (info os.FileInfo, err error) {
	dir := filepath.Dir(path)
	sweep(dir, prefix(path))
	tmp, err := create(dir, prefix(path)+"*"+extension)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if err = write(tmp); err != nil {
		return nil, err
	}
	if err = tmp.Sync(); err != nil {
		return nil, err
	}
	if info, err = tmp.Stat(); err != nil {
		return nil, err
	}
	if err = rename(tmp, path); err != nil {
		return nil, err
	}
	// The new name must survive a crash too. Not every system can sync a folder.
	if d, openErr := os.Open(dir); openErr == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return info, nil
}

// Replace replaces the file at path, or creates it and its folder, readable by the owner only. It does not wait for the
// disk: after a crash of the machine the file may be empty. It is for caches.
func Replace(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	sweep(dir, prefix(path))
	tmp, err := create(dir, prefix(path)+"*"+extension)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	return rename(tmp, path)
}

// prefix returns the first part of the names of a file's temporary files.
func prefix(path string) string { return "." + filepath.Base(path) + "." }

// sweep removes the temporary files of writes that were killed. It leaves alone what a
// running write still uses, and what it cannot remove.
func sweep(dir, prefix string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		if middle, ok := strings.CutPrefix(name, prefix); ok && isRandom(strings.TrimSuffix(middle, extension)) && strings.HasSuffix(middle, extension) {
			removeAbandoned(filepath.Join(dir, name))
		}
	}
}

// isRandom reports whether a text is what os.CreateTemp puts into a name.
func isRandom(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
