// Package atomicfile replaces files in one step: a reader sees either the old content or the new content, and a
// failed write leaves the old content.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// extension is the extension of the files that a write fills before they get their name.
const extension = ".tmp"

// Write replaces the file at path, or creates it, with what write puts into the file that it gets. Only the
// owner can read and write the file. The result describes the new file. Write removes temporary files that
// killed writes of the same file left.
// Write refuses to put a file in the place of a device or a pipe.
func Write(path string, write func(*os.File) error) (info os.FileInfo, err error) {
	if err := replaceable(path); err != nil {
		return nil, err
	}
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

// replaceable refuses a path at which something is that is not a file, such as /dev/null, or a link of the system to what a
// process has open, such as /dev/stdout. With the permissions of root, the new file would take its place for everybody.
func replaceable(path string) error {
	refuse := func(why string) error { return &fs.PathError{Op: "write", Path: path, Err: errors.New(why)} }
	if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, "/proc/") {
		return refuse("it is a link into /proc")
	}
	info, err := os.Stat(path)
	switch {
	case err != nil: // nothing is there, or writing says what is wrong
		return nil
	case info.Mode()&os.ModeDevice != 0:
		return refuse("it is a device")
	case info.Mode()&os.ModeNamedPipe != 0:
		return refuse("it is a pipe")
	case info.Mode()&os.ModeSocket != 0:
		return refuse("it is a socket")
	}
	return nil
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
