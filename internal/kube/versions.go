package kube

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

const (
	// servedFor is how long the versions of a group are believed.
	servedFor = 6 * time.Hour
	// absentFor is how long a group that is not served is believed to be so: an
	// operator may be installed at any time.
	absentFor = 10 * time.Minute
)

// versionCache remembers which versions of an API group a server has.
type versionCache struct {
	server string
	dir    string

	mu     sync.Mutex
	groups map[string]*groupEntry
	loaded bool
	disk   map[string]groupVersions
}

// groupEntry is one group. Kinds of one group ask together: asking is the request that
// is under way, nil for none.
type groupEntry struct {
	mu     sync.Mutex
	valid  bool
	asking *lookup
	groupVersions
}

// lookup is one request for the versions of a group, with its result once done is closed.
type lookup struct {
	done     chan struct{}
	versions []string
	err      error
}

// groupVersions is what is known of one group; no versions: it is not served.
type groupVersions struct {
	Versions []string  `json:"versions"`
	Taken    time.Time `json:"taken"`
}

func (g groupVersions) fresh(now time.Time) bool {
	age, limit := now.Sub(g.Taken), servedFor
	if len(g.Versions) == 0 {
		limit = absentFor
	}
	return age >= 0 && age < limit
}

// ServedVersions returns the served versions of an API group, the preferred one first; none, without an error, if the
// group is not served. The answer is kept for hours, on disk if the client has a CacheDir.
func (c *Client) ServedVersions(ctx context.Context, group string) ([]string, error) {
	e := c.versions.entry(group)
	for {
		l, mine := c.look(e, group)
		if mine {
			c.ask(ctx, e, l, group)
			return l.versions, l.err
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, c.explain(ctx, versionsCall(group), ctx.Err())
		}
		// Who asked may have been stopped; a failure is shared.
		if givenUp := l.err != nil && (errors.Is(l.err, context.Canceled) || errors.Is(l.err, context.DeadlineExceeded)); !givenUp || ctx.Err() != nil {
			return l.versions, l.err
		}
	}
}

// look returns what is known of a group, the request that is under way for it, or a new
// one that is the caller's to send.
func (c *Client) look(e *groupEntry, group string) (l *lookup, mine bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.valid {
		if g, ok := c.versions.remembered(group); ok && g.fresh(c.o.Now()) {
			e.groupVersions, e.valid = g, true
		}
	}
	switch {
	case e.valid:
		l = &lookup{done: make(chan struct{}), versions: e.Versions}
		close(l.done)
		return l, false
	case e.asking != nil:
		return e.asking, false
	}
	e.asking = &lookup{done: make(chan struct{})}
	return e.asking, true
}

// ask sends the request of a lookup and keeps a success.
func (c *Client) ask(ctx context.Context, e *groupEntry, l *lookup, group string) {
	l.versions, l.err = c.askVersions(ctx, group)
	e.mu.Lock()
	defer e.mu.Unlock()
	if l.err == nil {
		e.groupVersions, e.valid = groupVersions{Versions: l.versions, Taken: c.o.Now().UTC()}, true
		c.versions.store(group, &e.groupVersions)
	}
	e.asking = nil
	close(l.done)
}

// forgetVersions makes the next ServedVersions of a group ask the server.
func (c *Client) forgetVersions(group string) {
	e := c.versions.entry(group)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.valid = false
	c.versions.store(group, nil)
}

// RecheckVersions reads the versions of a group again, unless they were read in the last minutes, and reports whether
// the version that failed is gone. Use it when a kind is not served under the cached version. Concurrent callers all get
// the answer.
func (c *Client) RecheckVersions(ctx context.Context, group, failed string) (gone bool, err error) {
	e := c.versions.entry(group)
	e.mu.Lock()
	now, recent := e.Versions, e.valid && c.o.Now().Sub(e.Taken) < absentFor
	e.mu.Unlock()
	if !recent {
		c.forgetVersions(group)
		if now, err = c.ServedVersions(ctx, group); err != nil {
			return false, err
		}
	}
	return !slices.Contains(now, failed), nil
}

func versionsCall(group string) call {
	return call{method: http.MethodGet, path: "/apis/" + group, safe: true, most: bounded.Settings, implied: true, verb: "read the versions of " + group, res: kinds.Resource{}}
}

func (c *Client) askVersions(ctx context.Context, group string) ([]string, error) {
	var answer struct {
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
		Preferred struct {
			Version string `json:"version"`
		} `json:"preferredVersion"`
	}
	err := c.object(ctx, versionsCall(group), &answer)
	if err != nil && !IsNotFound(err) {
		return nil, err
	}
	var out []string
	if answer.Preferred.Version != "" {
		out = append(out, answer.Preferred.Version)
	}
	for _, v := range answer.Versions {
		if v.Version != answer.Preferred.Version {
			out = append(out, v.Version)
		}
	}
	return out, nil
}

func (v *versionCache) entry(group string) *groupEntry {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.groups == nil {
		v.groups = map[string]*groupEntry{}
	}
	if v.groups[group] == nil {
		v.groups[group] = &groupEntry{}
	}
	return v.groups[group]
}

// path returns the cache file of the server; its address is hashed because it cannot be a file name.
func (v *versionCache) path() string {
	sum := sha256.Sum256([]byte(v.server))
	return filepath.Join(v.dir, "versions-"+hex.EncodeToString(sum[:8])+".json")
}

// remembered reads the cache file once; an unusable file counts as missing.
func (v *versionCache) remembered(group string) (groupVersions, bool) {
	if v.dir == "" {
		return groupVersions{}, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load()
	g, ok := v.disk[group]
	return g, ok
}

func (v *versionCache) load() {
	if v.loaded {
		return
	}
	v.loaded = true
	if data, err := bounded.File(v.path(), bounded.Settings); err == nil && json.Unmarshal(data, &v.disk) != nil {
		v.disk = nil
	}
	if v.disk == nil {
		v.disk = map[string]groupVersions{}
	}
}

// store changes one group (nil: forgets it) and replaces the cache file. Losing
// it costs a request, so failures and races are not errors.
func (v *versionCache) store(group string, g *groupVersions) {
	if v.dir == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load()
	if _, known := v.disk[group]; g == nil && !known {
		return
	}
	delete(v.disk, group)
	if g != nil {
		v.disk[group] = *g
	}
	if data, err := json.Marshal(v.disk); err == nil {
		_ = atomicfile.Replace(v.path(), data)
	}
}
