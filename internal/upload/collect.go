// Package upload sends the code of a folder with a job. The files become a ConfigMap that belongs to the job,
// and a read-only volume in its pods: the kubelet writes the files, so the image needs no program for it. More
// files go to a folder of a PersistentVolumeClaim, which a small job mounts to receive them.
package upload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/tarball"
)

// MaxBytes limits the files of an upload together. The API server accepts 1 MiB in a
// ConfigMap; the rest is for the names.
const MaxBytes = 900 << 10

// MaxFiles limits the number of files: each one is an entry in the pod templates.
const MaxFiles = 500

// maxIgnoreFile limits a .gitignore.
const maxIgnoreFile = 1 << 20

// File is a file to upload.
type File struct {
	// Path is relative to the folder, with slashes.
	Path       string
	Data       []byte
	Executable bool
}

// Files are what a folder has to upload.
type Files struct {
	Files []File
	Bytes int64
	// Links are symbolic links that were left out: to folders, and out of the folder.
	Links []string
}

// TooLargeError is a folder with too many bytes or files. Largest are the largest files.
type TooLargeError struct {
	Bytes   int64
	Files   int
	Largest []string
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d bytes in %d files are too much", e.Bytes, e.Files)
}

// SecretsError reports files whose names suggest secrets.
type SecretsError struct{ Paths []string }

func (e *SecretsError) Error() string {
	return "files that may hold secrets: " + strings.Join(e.Paths, ", ")
}

// ErrNothing is a folder without files to upload.
var ErrNothing = errors.New("no files")

// folders are never uploaded. The first two can be large, the others are written again by programs.
var folders = []string{".git", ".hg", ".svn", "__pycache__", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".venv", "node_modules"}

// Collect reads the files of a folder that List lists, up to the limits of a ConfigMap.
func Collect(root *os.Root) (Files, error) {
	listed, err := List(root, MaxBytes, MaxFiles)
	if err != nil {
		return Files{}, err
	}
	out := Files{Links: listed.Links}
	sizes := map[string]int64{}
	for _, e := range listed.Entries {
		data, err := read(root, e.Path)
		if err != nil {
			return Files{}, err
		}
		out.Bytes += int64(len(data))
		sizes[e.Path] = int64(len(data))
		if out.Bytes > MaxBytes { // it grew meanwhile
			return Files{}, &TooLargeError{Bytes: out.Bytes, Files: len(listed.Entries), Largest: largest(sizes)}
		}
		out.Files = append(out.Files, File{Path: e.Path, Data: data, Executable: e.Executable()})
	}
	return out, nil
}

// Entry is a file to upload that was not read yet.
type Entry struct {
	// Path is relative to the folder, with slashes.
	Path string
	Info fs.FileInfo
}

// Executable reports whether the owner can execute the file.
func (e Entry) Executable() bool { return e.Info.Mode().Perm()&0o100 != 0 }

// Listing are the files of a folder to upload.
type Listing struct {
	Entries []Entry
	Bytes   int64
	// Links are symbolic links that are left out: to folders, and out of the folder.
	Links []string
}

// List lists the files of a folder that .gitignore files do not exclude, in the order of
// their paths. Symbolic links to files of the folder count as files; other links are left out.
func List(root *os.Root, maxBytes int64, maxFiles int) (Listing, error) {
	var out Listing
	var secrets []string
	var patterns []gitignore.Pattern
	sizes := map[string]int64{}
	files := root.FS()
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil && fs.ValidPath(p) {
			return err
		}
		if !fs.ValidPath(p) {
			return &fs.PathError{Op: "open", Path: p, Err: tarball.ErrName}
		}
		parts := strings.Split(p, "/")
		if p == "." {
			parts = nil
		} else if gitignore.NewMatcher(patterns).Match(parts, d.IsDir()) || d.IsDir() && slices.Contains(folders, d.Name()) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if Secret(p + "/") {
				secrets = append(secrets, p+"/")
				return fs.SkipDir
			}
			more, err := ignored(files, p, parts)
			patterns = append(patterns, more...)
			return err
		}
		info, err := fs.Stat(files, p) // follows links, but not out of the root
		if err != nil || !info.Mode().IsRegular() {
			if d.Type()&fs.ModeSymlink != 0 {
				out.Links = append(out.Links, p)
				return nil
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil // a socket, or removed meanwhile
		}
		if Secret(p) {
			secrets = append(secrets, p)
			return nil
		}
		out.Bytes += info.Size()
		sizes[p] = info.Size()
		out.Entries = append(out.Entries, Entry{Path: p, Info: info})
		return nil
	})
	switch {
	case err != nil:
		return Listing{}, err
	case len(secrets) > 0:
		return Listing{}, &SecretsError{secrets}
	case out.Bytes > maxBytes || len(out.Entries) > maxFiles:
		return Listing{}, &TooLargeError{Bytes: out.Bytes, Files: len(out.Entries), Largest: largest(sizes)}
	case len(out.Entries) == 0:
		return Listing{}, ErrNothing
	}
	return out, nil
}

// read reads a file up to the limit of all.
func read(root *os.Root, name string) ([]byte, error) {
	f, err := tarball.Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxBytes+1))
}

// largest returns the paths of the five largest files.
func largest(sizes map[string]int64) []string {
	var names []string
	for name := range sizes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if sizes[a] != sizes[b] {
			return int(min(1, max(-1, sizes[b]-sizes[a])))
		}
		return strings.Compare(a, b)
	})
	return names[:min(5, len(names))]
}

// ignored reads the .gitignore of a folder.
func ignored(files fs.FS, folder string, domain []string) (out []gitignore.Pattern, err error) {
	name := path.Join(folder, ".gitignore")
	info, err := fs.Stat(files, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() { // a pipe may have no writer
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := bounded.ReadAll(f, maxIgnoreFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		out = append(out, gitignore.ParsePattern(line, domain))
	}
	return out, lines.Err()
}
