package tarball

import (
	"io/fs"
	"os"
)

// SourceError is a path to copy that is neither a file nor a folder. Link is where a symbolic link leads.
type SourceError struct {
	Path string
	Mode fs.FileMode
	Link string
}

func (e *SourceError) Error() string { return e.Path + " is " + e.Kind() }

// Kind names what the path is.
func (e *SourceError) Kind() string {
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case e.Mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case e.Mode&fs.ModeSocket != 0:
		return "a socket"
	case e.Mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "neither a file nor a folder"
}

// CheckSource returns a SourceError if what a path names is neither a file nor a folder.
func CheckSource(path string, mode fs.FileMode) error {
	if mode.IsRegular() || mode.IsDir() {
		return nil
	}
	return &SourceError{Path: path, Mode: mode.Type()}
}

// Open opens a regular file below a root. It does not wait for the writer of a pipe that took the file's place.
func Open(root *os.Root, path string) (*os.File, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &SourceError{Path: path, Mode: info.Mode().Type()}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
