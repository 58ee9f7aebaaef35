package kube

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func group(versions ...string) http.HandlerFunc {
	text := ""
	for _, v := range versions {
		text += fmt.Sprintf(`,{"groupVersion":"g/%[1]s","version":%[1]q}`, v)
	}
	return answer(fmt.Sprintf(`{"kind":"APIGroup","name":"g","versions":[%s],"preferredVersion":{"version":%q}}`, text[1:], versions[len(versions)-1]))
}

func noGroup(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 page not found", 404) }

func TestServedVersions(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	dir := filepath.Join(t.TempDir(), "cache")
	srv := newServer(t, inTurn(t, group("v1beta1", "v1beta2"), noGroup, group("v1"), group("v2"), group("v3"), group("v4")))
	client := func() *Client {
		c, _ := connect(t, &rest.Config{Host: srv.URL}, func(o *Options) { o.CacheDir = dir; o.Now = func() time.Time { return now } })
		return c
	}
	check := func(c *Client, group, want string, requests int) {
		t.Helper()
		got, err := c.ServedVersions(bg, group)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("got %v, %v; want %s", got, err, want)
		}
		mustHaveSent(t, c, requests)
	}
	c := client()
	var wg sync.WaitGroup
	for range 8 { // kinds of one group ask once
		wg.Go(func() { _, _ = c.ServedVersions(bg, "kueue.x-k8s.io") })
	}
	wg.Wait()
	check(c, "kueue.x-k8s.io", "[v1beta2 v1beta1]", 1)
	check(c, "ray.io", "[]", 2)
	check(c, "ray.io", "[]", 2)

	// The next program knows it from the disk.
	c = client()
	check(c, "kueue.x-k8s.io", "[v1beta2 v1beta1]", 0)
	check(c, "ray.io", "[]", 0)
	now = now.Add(11 * time.Minute)
	c = client()
	check(c, "ray.io", "[v1]", 1) // installed meanwhile
	check(c, "kueue.x-k8s.io", "[v1beta2 v1beta1]", 1)

	// What turns out to be wrong is looked up again, but not again and again.
	gone, err := c.RecheckVersions(bg, "kueue.x-k8s.io", "v1beta2")
	if !gone || err != nil {
		t.Errorf("got %v, %v", gone, err)
	}
	// Another kind of the group finds out a moment later.
	if gone, err := c.RecheckVersions(bg, "kueue.x-k8s.io", "v1beta1"); !gone || err != nil {
		t.Errorf("got %v, %v", gone, err)
	}
	check(c, "kueue.x-k8s.io", "[v2]", 2)
	if gone, err := c.RecheckVersions(bg, "kueue.x-k8s.io", "v2"); gone || err != nil {
		t.Errorf("got %v, %v", gone, err)
	}
	mustHaveSent(t, c, 2)
	c.forgetVersions("kueue.x-k8s.io")
	check(c, "kueue.x-k8s.io", "[v3]", 3)
	now = now.Add(servedFor)
	c = client()
	check(c, "kueue.x-k8s.io", "[v4]", 1)
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Errorf("%d files in the cache", len(files))
	}
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
}

// A cache that cannot be read or written costs requests, nothing else.
func TestServedVersionsBrokenCache(t *testing.T) {
	dir := t.TempDir()
	c, _ := serve(t, inTurn(t, group("v1"), group("v1")), func(o *Options) { o.CacheDir = dir })
	if err := os.WriteFile(c.versions.path(), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := c.ServedVersions(bg, "g"); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.versions.dir = filepath.Join(file, "x")
	c.forgetVersions("g")
	if got, err := c.ServedVersions(bg, "g"); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

// A failure is not remembered.
func TestServedVersionsFailure(t *testing.T) {
	c, _ := serve(t, inTurn(t, refuse(500, "InternalError", "x"), group("v1")))
	if _, err := c.ServedVersions(bg, "g"); err == nil {
		t.Error("no error")
	}
	if got, err := c.ServedVersions(bg, "g"); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
