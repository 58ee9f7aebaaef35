// Package tarball writes files and folders as tar archives, and unpacks archives of
// others without leaving the destination.
package tarball

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// ErrName is the error of a name that is not text.
var ErrName = errors.New("the name is not valid UTF-8")

// Entry is a file, folder or link to pack.
type Entry struct {
	// Path is where it is below the root. Name is its name in the archive.
	Path, Name string
	Info       fs.FileInfo
	// Link is where a symbolic link points to.
	Link string
}

// Regular reports a regular file.
func (e Entry) Regular() bool { return e.Info.Mode().IsRegular() }

// List returns a file, or a folder with everything below it, in the order of its names.
// as is its name in the archive. Symbolic links are listed, not followed. skip, if not
// nil, gets each path and leaves it out; skipped gets what cannot be packed, such as
// sockets.
func List(root *os.Root, name, as string, skip func(path string, dir bool) bool, skipped func(path string, mode fs.FileMode)) ([]Entry, error) {
	var out []Entry
	files := root.FS()
	if info, err := root.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 { // WalkDir would follow it
		link, err := root.Readlink(name)
		return []Entry{{Path: name, Name: as, Info: info, Link: link}}, err
	}
	err := fs.WalkDir(files, name, func(p string, d fs.DirEntry, err error) error {
		if !fs.ValidPath(p) {
			return &fs.PathError{Op: "open", Path: p, Err: ErrName}
		}
		if err != nil {
			return err
		}
		if skip != nil && p != name && skip(p, d.IsDir()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		e := Entry{Path: p, Name: path.Join(as, strings.TrimPrefix(strings.TrimPrefix(p, name), "/")), Info: info}
		if name == "." {
			e.Name = path.Join(as, p)
		}
		switch mode := info.Mode(); {
		case mode&fs.ModeSymlink != 0:
			if e.Link, err = fs.ReadLink(files, p); err != nil {
				return err
			}
		case !mode.IsRegular() && !mode.IsDir():
			skipped(p, mode)
			return nil
		}
		out = append(out, e)
		return nil
	})
	return out, err
}

// ShrunkError is a file that became smaller while it was packed: its size is written
// before its content.
type ShrunkError struct {
	Path       string
	Size, Read int64
}

func (e *ShrunkError) Error() string {
	return fmt.Sprintf("%s became smaller while it was copied: %d of %d bytes were read", e.Path, e.Read, e.Size)
}

// Pack writes entries as an archive. begun is called before each entry. A file that
// grows meanwhile is packed with the size that it had in the list.
func Pack(w io.Writer, root *os.Root, entries []Entry, begun func(i int)) error {
	t := tar.NewWriter(w)
	for i, e := range entries {
		begun(i)
		if err := pack(t, root, e); err != nil {
			return err
		}
	}
	return t.Close()
}

func pack(t *tar.Writer, root *os.Root, e Entry) error {
	h, err := tar.FileInfoHeader(e.Info, e.Link)
	if err != nil {
		return err
	}
	h.Name = e.Name
	if e.Info.IsDir() {
		h.Name += "/"
	}
	// Names and numbers of this machine's users mean nothing elsewhere.
	h.Uid, h.Gid, h.Uname, h.Gname = 0, 0, "", ""
	if !e.Regular() {
		return t.WriteHeader(h)
	}
	f, err := Open(root, e.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.CopyN(t, f, h.Size)
	if errors.Is(err, io.EOF) {
		return &ShrunkError{Path: e.Path, Size: h.Size, Read: n}
	}
	return err
}
