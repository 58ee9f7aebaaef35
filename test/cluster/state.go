package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// define gives the bed, before its etcd starts, the state of a cluster that has the CRDs. To check, convert and publish them is
// most of the work of a start, so the cache keeps the state.
func (b *Bed) define(ctx context.Context, definitions []Object) error {
	state, err := b.state(ctx, definitions)
	if err != nil {
		return fmt.Errorf("cannot prepare the kinds of the operators: %w", err)
	}
	return os.CopyFS(filepath.Join(b.dir, "etcd"), os.DirFS(state))
}

// state returns the folder of an etcd of a cluster that has the CRDs and nothing else.
func (b *Bed) state(ctx context.Context, definitions []Object) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(definitions)
	if err != nil {
		return "", err
	}
	// The folder of the API server's binary has its version and the key of its build.
	key := fmt.Sprintf("%x", sha256.Sum256(append(text, filepath.Base(filepath.Dir(b.binaries.APIServer))...)))[:12]
	dir := filepath.Join(cache, "state-"+key)
	unlock, err := lockFile(ctx, filepath.Join(cache, "state.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		now := time.Now() // the last use
		return dir, os.Chtimes(dir, now, now)
	}
	work, err := os.MkdirTemp(cache, "building-")
	if err != nil {
		return "", fmt.Errorf("cannot write to the cache of test binaries: %w", err)
	}
	defer os.RemoveAll(work)
	if err := b.prepareState(ctx, work, definitions); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(work, "etcd"), dir); err != nil {
		return "", err
	}
	return dir, forgetStates(cache)
}

// keptStates is the number of states in the cache: those of the checkouts of a machine that differ.
const keptStates = 4

// forgetStates removes all but the newest states of a cache.
func forgetStates(cache string) error {
	found, err := filepath.Glob(filepath.Join(cache, "state-*"))
	if err != nil {
		return err
	}
	made := map[string]time.Time{}
	for _, dir := range found {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		made[dir] = info.ModTime()
	}
	slices.SortFunc(found, func(a, b string) int { return made[b].Compare(made[a]) })
	for _, dir := range found[min(keptStates, len(found)):] {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// prepareState runs a control plane in a folder until it serves the CRDs.
func (b *Bed) prepareState(ctx context.Context, folder string, definitions []Object) (err error) {
	other := &Bed{options: Options{Dir: folder, Log: b.options.Log}, binaries: b.binaries}
	defer func() {
		if stopErr := other.Stop(); err == nil {
			err = stopErr
		}
	}()
	for _, step := range []func() error{
		other.prepare,
		func() error { return other.startEtcd(ctx) },
		func() error { return other.startAPIServer(ctx) },
		func() error { return other.install(ctx, definitions) },
		func() error { return other.waitServed(ctx, definitions) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
