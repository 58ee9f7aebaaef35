package tarball

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// OutsideError is a name in an archive that leads out of the copied path.
type OutsideError struct{ Name string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("the archive has a name outside the copied path: %q", e.Name)
}

// ErrIncomplete is an archive that ends before its end.
var ErrIncomplete = errors.New("the archive is not complete")

// ErrSparse is a sparse file in an archive. The tar of copy-file does not write any, and a few bytes of one can
// fill a disk.
var ErrSparse = errors.New("the archive has a sparse file")

// Unpacking describes where and how an archive is unpacked.
type Unpacking struct {
	Root *os.Root
	// Base is the name of the archive's one file or folder, "." for any. As replaces it.
	Base, As string
	// InPlace writes files under their names at once, with the modes of the archive. Otherwise a file appears when it is
	// complete. It keeps the mode of the file that it replaces; a new one has the mode of the archive without the bits of
	// the umask.
	InPlace bool
	// AllLinks keeps links that lead outside; the root does not follow them.
	AllLinks bool
	// Begun is called before each file with its size. Skipped gets what is left out:
	// links that lead outside, and what is neither a file, a folder nor a link.
	Begun   func(name string, size int64)
	Skipped func(name, target string)
}

// Counts are what was unpacked or packed.
type Counts struct {
	Files int
	Bytes int64
}

// Unpack unpacks an archive. Names and links cannot lead out of the root. The error is a SourceError if Base is a link, a
// pipe or a device.
func Unpack(r io.Reader, u Unpacking) (Counts, error) {
	var counts Counts
	in := tar.NewReader(r)
	var folders []*tar.Header // their modes and times are set at the end
	for {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = ErrIncomplete
		}
		if err != nil {
			return counts, err
		}
		if h.Name, err = u.place(h.Name); err != nil {
			return counts, err
		}
		if sparse(h) {
			return counts, ErrSparse
		}
		if mode := h.FileInfo().Mode(); h.Name == u.As && u.Base != "." && h.Typeflag != tar.TypeLink {
			if !mode.IsRegular() && !mode.IsDir() {
				return counts, &SourceError{Path: u.Base, Mode: mode.Type(), Link: h.Linkname}
			}
		}
		switch h.Typeflag {
		case tar.TypeDir:
			made, err := u.folder(h)
			if err != nil {
				return counts, err
			}
			if made {
				folders = append(folders, h)
			}
		case tar.TypeReg:
			u.Begun(h.Name, h.Size)
			if err := u.file(in, h); err != nil {
				return counts, err
			}
			counts.Files++
			counts.Bytes += h.Size
		case tar.TypeSymlink:
			err = u.link(h)
		case tar.TypeLink:
			err = u.hardLink(h)
		default:
			u.Skipped(h.Name, "")
		}
		if err != nil {
			return counts, err
		}
	}
	for i := len(folders) - 1; i >= 0; i-- {
		h := folders[i]
		if u.InPlace {
			_ = u.Root.Chmod(h.Name, folderMode(h))
		}
		_ = u.Root.Chtimes(h.Name, time.Time{}, h.ModTime)
	}
	// What follows the end is padding, but the writer must not be cut off.
	_, err := io.Copy(io.Discard, r)
	return counts, err
}

// sparse reports a file with holes, in GNU's old form or in PAX records (GNU tar, "Sparse Formats").
func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// place returns where a name of the archive goes.
func (u Unpacking) place(name string) (string, error) {
	clean := path.Clean(name)
	for part := range strings.SplitSeq(strings.ReplaceAll(name, `\`, "/"), "/") {
		if part == ".." {
			return "", &OutsideError{name}
		}
	}
	switch {
	case path.IsAbs(name) || strings.ContainsRune(name, 0):
		return "", &OutsideError{name}
	case u.Base == ".":
		return path.Join(u.As, clean), nil
	case clean == u.Base:
		return u.As, nil
	case strings.HasPrefix(clean, u.Base+"/"):
		return path.Join(u.As, strings.TrimPrefix(clean, u.Base+"/")), nil
	}
	return "", &OutsideError{name}
}

// folder makes a folder, and reports whether its mode and times are those of the archive: one that exists keeps its own.
func (u Unpacking) folder(h *tar.Header) (made bool, err error) {
	if u.InPlace {
		return true, u.Root.MkdirAll(h.Name, 0o755)
	}
	if _, err := u.Root.Stat(h.Name); err == nil {
		return false, u.Root.MkdirAll(h.Name, 0o755)
	}
	if err := u.Root.MkdirAll(path.Dir(h.Name), 0o755); err != nil {
		return false, err
	}
	return true, u.Root.Mkdir(h.Name, folderMode(h))
}

// folderMode is the mode of a new folder. The next copy must be able to write.
func folderMode(h *tar.Header) fs.FileMode { return h.FileInfo().Mode().Perm() | 0o700 }

// maxName is the longest name of a file, in bytes, on the common file systems.
const maxName = 255

// partName returns the name of a file while it is incomplete.
func partName(name string) string {
	part := "." + path.Base(name) + ".part"
	if len(part) > maxName {
		sum := sha256.Sum256([]byte(path.Base(name)))
		part = "." + hex.EncodeToString(sum[:16]) + ".part"
	}
	return path.Join(path.Dir(name), part)
}

// create opens a file for writing, under the name that it has until it is complete. keep is the mode of the file that it
// replaces, if there is one.
func (u Unpacking) create(h *tar.Header) (f *os.File, name string, keep *fs.FileMode, err error) {
	info, err := u.Root.Lstat(h.Name)
	switch {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		if err := u.Root.Remove(h.Name); err != nil { // a link is replaced, not followed
			return nil, "", nil, err
		}
	case info.IsDir():
		return nil, "", nil, &fs.PathError{Op: "open", Path: h.Name, Err: syscall.EISDIR}
	case info.Mode().IsRegular():
		mode := info.Mode().Perm()
		keep = &mode
	}
	if u.InPlace {
		f, err = u.Root.OpenFile(h.Name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		return f, h.Name, nil, err
	}
	name = partName(h.Name)
	if err := u.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a copy that was stopped
		return nil, "", nil, err
	}
	mode := h.FileInfo().Mode().Perm() // the system takes off the bits of the umask
	if keep != nil {
		mode = 0o600
	}
	f, err = u.Root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	return f, name, keep, err
}

// file writes a regular file.
func (u Unpacking) file(in io.Reader, h *tar.Header) error {
	if err := u.Root.MkdirAll(path.Dir(h.Name), 0o755); err != nil {
		return err
	}
	f, name, keep, err := u.create(h)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrIncomplete
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	switch {
	case err != nil:
	case u.InPlace:
		err = u.Root.Chmod(name, h.FileInfo().Mode().Perm())
	case keep != nil:
		err = u.Root.Chmod(name, *keep)
	}
	if err == nil {
		_ = u.Root.Chtimes(name, time.Time{}, h.ModTime) // a detail that not every file system keeps
		if name != h.Name {
			err = u.Root.Rename(name, h.Name)
		}
	}
	if err != nil && !u.InPlace {
		_ = u.Root.Remove(name)
	}
	return err
}

// link makes a symbolic link that stays inside the copied path.
func (u Unpacking) link(h *tar.Header) error {
	if h.Linkname == "" || !u.AllLinks && Leaves(h.Name, h.Linkname, u.As) {
		u.Skipped(h.Name, h.Linkname)
		return nil
	}
	if err := u.replace(h.Name); err != nil {
		return err
	}
	return u.Root.Symlink(h.Linkname, h.Name)
}

// Leaves reports whether a link with a name leads out of a folder.
func Leaves(name, target, folder string) bool {
	return path.IsAbs(target) || strings.Contains(target, `\`) || !inside(path.Join(path.Dir(name), target), folder)
}

// hardLink makes a file a second name of one that came before.
func (u Unpacking) hardLink(h *tar.Header) error {
	old, err := u.place(h.Linkname)
	if err != nil {
		return err
	}
	if err := u.replace(h.Name); err != nil {
		return err
	}
	return u.Root.Link(old, h.Name)
}

func (u Unpacking) replace(name string) error {
	if err := u.Root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := u.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// inside reports whether a clean path is a folder or below it.
func inside(p, folder string) bool {
	return folder == "." && p != ".." && !strings.HasPrefix(p, "../") || p == folder || strings.HasPrefix(p, folder+"/")
}
