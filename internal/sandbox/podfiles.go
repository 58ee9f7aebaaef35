package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// podFiles is the folder of the files that copies wrote into pods, next to the sandbox's
// file, with a folder for each pod by its UID.
func (f file) podFiles() string { return strings.TrimSuffix(f.path, Extension) + ".pods" }

// PodFiles opens the files of a pod, for as long as the pod exists. The files of pods
// that no longer exist are removed.
func (b backend) PodFiles(st *store.Store, uid string) (*os.Root, error) {
	dir := b.s.file.podFiles()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if len(entries) > 0 {
		known := map[string]bool{}
		for _, pod := range st.List("pods", "") {
			known[pod.UID] = true
		}
		for _, e := range entries {
			if !known[e.Name()] {
				if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, name := range []string{"tmp", "workspace", "data"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Base(uid), name), 0o700); err != nil {
			return nil, err
		}
	}
	return os.OpenRoot(filepath.Join(dir, filepath.Base(uid)))
}
