// Package atomicfile replaces files in one step: whoever reads sees the old
// content or the new one, and a failed write leaves the old one.
package atomicfile

import (
	"os"
	"path/filepath"
)

// Write replaces the file at path, or makes it, with what write puts into the
// file it is given. The file can be read and written by its owner only. The
// result describes the new file.
func Write(path string, write func(*os.File) error) (info os.FileInfo, err error) {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp") // mode 0600
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
	if err = tmp.Close(); err != nil {
		return nil, err
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return nil, err
	}
	// The new name must survive a crash too. Not every system can sync a folder.
	if d, openErr := os.Open(dir); openErr == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return info, nil
}
