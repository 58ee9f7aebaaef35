package sandbox

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/shell"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// podFiles returns the folder of the files in pods, next to the sandbox's file. It has a folder for
// each pod by its UID, and one for each claim, which all pods that mount it share.
func (f file) podFiles() string { return strings.TrimSuffix(f.path, Extension) + ".pods" }

// claimPrefix begins the names of folders that belong to claims.
const claimPrefix = "claim-"

// PodFiles opens the files of a pod's container, for as long as the pod exists. The files of
// pods and claims that no longer exist are removed.
func (b backend) PodFiles(st *store.Store, pod *store.Object, container string) (*shell.Files, error) {
	dir := b.s.file.podFiles()
	if err := removeStray(st, dir); err != nil {
		return nil, err
	}
	home := filepath.Base(pod.UID)
	folders := []string{path.Join(home, "tmp"), path.Join(home, "workspace"), path.Join(home, "data")}
	mounts := claimMounts(st, pod, container)
	for _, m := range mounts {
		folders = append(folders, m.Dir, path.Join(home, path.Clean("/"+m.At)))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range folders {
		if err := root.MkdirAll(name, 0o700); err != nil {
			_ = root.Close()
			return nil, err
		}
	}
	return &shell.Files{Root: root, Home: home, Mounts: mounts}, nil
}

// removeStray removes the folders of pods and claims that no longer exist.
func removeStray(st *store.Store, dir string) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) || len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, pod := range st.List(kinds.Pod.FullName(), "") {
		known[pod.UID] = true
	}
	for _, claim := range st.List(kinds.PersistentVolumeClaim.FullName(), "") {
		known[claimPrefix+claim.UID] = true
	}
	for _, e := range entries {
		if !known[e.Name()] {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// claimMounts returns the claims that a container mounts; "" is the first container.
func claimMounts(st *store.Store, pod *store.Object, container string) (out []shell.Mount) {
	claims := map[string]string{}
	for _, v := range object.List(pod.Map(), "spec", "volumes") {
		name := object.Text(v, "persistentVolumeClaim", "claimName")
		if claim := st.Get(kinds.PersistentVolumeClaim.FullName(), pod.Namespace, name); name != "" && claim != nil {
			claims[object.Text(v, "name")] = claimPrefix + filepath.Base(claim.UID)
		}
	}
	for i, c := range object.List(pod.Map(), "spec", "containers") {
		if name := object.Text(c, "name"); name != container && (container != "" || i > 0) {
			continue
		}
		for _, m := range object.List(c, "volumeMounts") {
			dir := claims[object.Text(m, "name")]
			if dir == "" {
				continue
			}
			readOnly, _ := object.At(m, "readOnly").(bool)
			out = append(out, shell.Mount{At: object.Text(m, "mountPath"), Dir: path.Join(dir, path.Clean("/"+object.Text(m, "subPath"))), ReadOnly: readOnly})
		}
	}
	return out
}
