package kubeconfig

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// File returns the kubeconfig to write an entry to: the named one, else of the files of
// KUBECONFIG the first that has the cluster already, else the first, else ~/.kube/config.
func File(named, cluster string, env func(string) string) (string, error) {
	if named != "" {
		return named, nil
	}
	var files []string
	for _, path := range filepath.SplitList(env("KUBECONFIG")) {
		if path != "" {
			files = append(files, path)
		}
	}
	for _, path := range files {
		if c, err := clientcmd.LoadFromFile(path); err == nil && c.Clusters[cluster] != nil {
			return path, nil
		}
	}
	if len(files) > 0 {
		return files[0], nil
	}
	for _, variable := range []string{"HOME", "USERPROFILE"} {
		if home := env(variable); home != "" {
			return filepath.Join(home, ".kube", "config"), nil
		}
	}
	return "", errs.New("cannot find the kubeconfig", "neither KUBECONFIG nor HOME is set")
}

// Change is what a write did.
type Change string

// The changes of a kubeconfig.
const (
	Added     Change = "Added"
	Updated   Change = "Updated"
	Unchanged Change = "Unchanged"
)

// Preview returns the file's text with the entry in it.
func Preview(path string, e Entry) ([]byte, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	out, err := edit(text, e)
	return out, explain(path, err)
}

// Lock says how long and how often Write waits for another writer.
type Lock struct {
	Wait, Poll time.Duration
	// After is time.After or a test's.
	After func(time.Duration) <-chan time.Time
}

// Write adds the entry to the file in one step, and makes it the current context. The
// file can then be read by its owner only. A symbolic link stays one: the file that it
// names is replaced.
func Write(ctx context.Context, path string, e Entry, l Lock) (Change, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", cannotWrite(path, err)
	}
	unlock, err := lock(ctx, path, l)
	if err != nil {
		return "", err
	}
	defer unlock()
	target, err := resolve(path)
	if err != nil {
		return "", cannotWrite(path, err)
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.Mode().Perm()&0o222 == 0:
		return "", errs.New("cannot write the kubeconfig "+path, "the file is read-only").WithCode(errs.Failure)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", cannotWrite(path, err)
	}
	old, err := read(target)
	if err != nil {
		return "", err
	}
	text, err := edit(old, e)
	if err != nil {
		return "", explain(path, err)
	}
	change := Updated
	if before, err := clientcmd.Load(old); err != nil || before.Contexts[e.Context] == nil {
		change = Added
	}
	if bytes.Equal(text, old) {
		if info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(target, 0o600) // it may hold secrets, like any kubeconfig
		}
		return Unchanged, err
	}
	if _, err := atomicfile.Write(target, func(f *os.File) error { _, err := f.Write(text); return err }); err != nil {
		return "", cannotWrite(path, err)
	}
	return change, nil
}

// read returns the text of a file, none if it does not exist.
func read(path string) ([]byte, error) {
	text, err := bounded.File(path, bounded.Kubeconfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errs.New("cannot read the kubeconfig "+path, errs.FileReason(err)).WithCause(err)
	}
	return text, nil
}

func cannotWrite(path string, err error) error {
	return errs.New("cannot write the kubeconfig "+path, errs.FileReason(err)).WithCause(err)
}

func explain(path string, err error) error {
	var e *errs.Error
	if errors.As(err, &e) {
		return errs.New("cannot change the kubeconfig "+path, e.Error()).WithCause(err)
	}
	if err != nil {
		return errs.New("cannot change the kubeconfig "+path, err.Error()).WithCause(err)
	}
	return nil
}

// mostLinks bounds a chain of symbolic links.
const mostLinks = 16

// resolve follows symbolic links, also to a file that does not exist yet.
func resolve(path string) (string, error) {
	for range mostLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many symbolic links")}
}

// lock takes kubectl's lock of a kubeconfig: a file beside it that only one can create. It
// removes the lock of a killed hyperpod; kubectl's may be in use.
func lock(ctx context.Context, path string, l Lock) (func(), error) {
	name := path + ".lock"
	for waited := time.Duration(0); ; waited += l.Poll {
		release, err := atomicfile.Exclusive(name)
		if err == nil {
			return release, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, cannotWrite(path, err)
		}
		if waited >= l.Wait {
			return nil, errs.New("cannot write the kubeconfig "+path, "another program is writing it").
				WithFact("lock", name).WithAdvice("delete the lock file if no program is writing the kubeconfig").WithCause(err)
		}
		select {
		case <-l.After(l.Poll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
