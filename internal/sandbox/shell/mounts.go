package shell

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"
)

// Files are the files of a pod. Paths of the pod are below Home in Root, or in the folder of
// the claim that is mounted there.
type Files struct {
	Root   *os.Root
	Home   string
	Mounts []Mount
}

// Mount is a claim in a pod: the files at a path of the pod are those of the folder Dir.
type Mount struct {
	At, Dir  string
	ReadOnly bool
}

// Close closes the root.
func (f *Files) Close() error { return f.Root.Close() }

// Find returns where a path of the pod is below Root, and whether the pod can write there.
func (f *Files) Find(name string) (at string, readOnly bool) {
	p := path.Clean("/" + name)
	best := Mount{Dir: f.Home, At: "/"}
	for _, m := range f.Mounts {
		m.At = path.Clean("/" + m.At)
		if (p == m.At || strings.HasPrefix(p, strings.TrimSuffix(m.At, "/")+"/")) && len(m.At) >= len(best.At) {
			best = m
		}
	}
	return path.Join(".", best.Dir, strings.TrimPrefix(p, best.At)), best.ReadOnly
}

// errReadOnly is the error of every write to a read-only mount, and of every path where a shell has no files.
var errReadOnly = errors.New("Read-only file system")

// at returns a path as one below the root of the files.
func (s *Shell) at(name string) string {
	p, _ := s.Files.Find(name)
	return p
}

// writable returns a path as one below the root of the files, where the pod can write.
func (s *Shell) writable(name string) (string, error) {
	if s.Files == nil {
		return "", errReadOnly
	}
	p, readOnly := s.Files.Find(name)
	if readOnly {
		return "", errReadOnly
	}
	return p, nil
}

// mounted reports whether a path is the root of the pod's files, or where a claim is mounted.
func (s *Shell) mounted(name string) bool {
	p := path.Clean("/" + name)
	return p == "/" || slices.ContainsFunc(s.Files.Mounts, func(m Mount) bool { return path.Clean("/"+m.At) == p })
}
