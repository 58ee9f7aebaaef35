package kubeconfig

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

var entry = Entry{Name: "arn:aws:eks:us-west-2:123456789012:cluster/ml", Context: "arn:aws:eks:us-west-2:123456789012:cluster/ml", Namespace: "team-a",
	Server: "https://ml.example", CA: "QQ==", Exec: Exec{APIVersion: "client.authentication.k8s.io/v1", Command: "hyperpod", Args: []string{"get-token", "ml", "--region", "us-west-2"}}}

const added = `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://ml.example
    certificate-authority-data: QQ==
  name: arn:aws:eks:us-west-2:123456789012:cluster/ml
contexts:
- context:
    cluster: arn:aws:eks:us-west-2:123456789012:cluster/ml
    namespace: team-a
    user: arn:aws:eks:us-west-2:123456789012:cluster/ml
  name: arn:aws:eks:us-west-2:123456789012:cluster/ml
users:
- name: arn:aws:eks:us-west-2:123456789012:cluster/ml
  user:
    exec: {}
`

// free is a lock that nobody has.
var free = Lock{Wait: time.Second, Poll: time.Second, After: func(time.Duration) <-chan time.Time { c := make(chan time.Time, 1); c <- time.Time{}; return c }}

func TestEditKeepsOrderAndComments(t *testing.T) {
	old := `# my clusters, do not sort
apiVersion: v1
kind: Config
users: # people
- name: zoe
  user:
    token: "0123" # secret
contexts:
- name: z # the last letter
  context: {cluster: z, user: zoe, namespace: default}
clusters:
- name: z
  cluster:
    server: https://z.example
    proxy-url: http://proxy
current-context: z
preferences: {}
extensions:
- name: mine
  extension: {a: 1}
`
	out, err := edit([]byte(old), entry)
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, part := range []string{"# my clusters, do not sort\n", "users: # people\n", `token: "0123" # secret`, "- name: arn:aws", "contexts:", "- name: z # the last letter\n  context: {cluster: z, user: zoe, namespace: default}\n",
		"clusters:\n- name: z\n", "proxy-url: http://proxy", "current-context: arn:aws:eks", "preferences: {}", "extension: {a: 1}"} {
		at := strings.Index(string(out), part)
		if at < last || at < 0 {
			t.Fatalf("%q is missing or not in its order:\n%s", part, out)
		}
		last = at
	}
	again, err := edit(out, entry)
	if err != nil || string(again) != string(out) {
		t.Errorf("a second edit changes the file: %v\n%s", err, again)
	}
	c, err := clientcmd.Load(out)
	if err != nil || c.CurrentContext != entry.Context || c.Contexts[entry.Context].Namespace != "team-a" || c.AuthInfos[entry.Name].Exec.Args[1] != "ml" || c.AuthInfos["zoe"].Token != "0123" {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestEditChangesAnEntryInPlace(t *testing.T) {
	out, err := edit([]byte(strings.Replace(strings.Replace(added, "    certificate-authority-data: QQ==\n", "    insecure-skip-tls-verify: true\n    proxy-url: http://p\n", 1), "team-a", "old", 1)), entry)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clientcmd.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	cluster := c.Clusters[entry.Name]
	if cluster.InsecureSkipTLSVerify || cluster.ProxyURL != "http://p" || string(cluster.CertificateAuthorityData) != "A" || c.Contexts[entry.Context].Namespace != "team-a" || len(c.Contexts) != 1 {
		t.Errorf("%s", out)
	}
	e := entry
	e.Namespace = ""
	if out, err = edit(out, e); err != nil || strings.Contains(string(out), "namespace") {
		t.Errorf("the namespace stays: %v\n%s", err, out)
	}
}

func TestEditStartsANewFile(t *testing.T) {
	for _, old := range []string{"", "\n", "# nothing yet\n", "apiVersion: v1\nkind: Config\nclusters: null\ncontexts: []\nusers: null\n", `{"apiVersion":"v1","kind":"Config","clusters":[],"users":[],"contexts":[]}`} {
		out, err := edit([]byte(old), entry)
		if err != nil {
			t.Errorf("%q: %v", old, err)
			continue
		}
		if c, err := clientcmd.Load(out); err != nil || c.CurrentContext != entry.Context || len(c.Clusters) != 1 {
			t.Errorf("%q: %v\n%s", old, err, out)
		}
	}
}

func TestEditRefusesWhatIsNoKubeconfig(t *testing.T) {
	for _, old := range []string{"- a\n", "clusters: {a: b}\n", "a: [\n", "apiVersion: v1\n---\napiVersion: v1\n", "text"} {
		if out, err := edit([]byte(old), entry); err == nil {
			t.Errorf("%q became\n%s", old, out)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kube", "config")
	for _, want := range []Change{Added, Unchanged} {
		if got, err := Write(t.Context(), path, entry, free); err != nil || got != want {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
	other := entry
	other.Server = "https://new.example"
	if got, err := Write(t.Context(), path, other, free); err != nil || got != Updated {
		t.Fatalf("%v, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", err, info.Mode())
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", err, left)
	}
}

func TestWriteFollowsALink(t *testing.T) {
	dir := t.TempDir()
	target, link, dangling := filepath.Join(dir, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	for name, to := range map[string]string{link: "real", dangling: "later"} {
		if err := os.Symlink(to, name); err != nil {
			t.Skip(err)
		}
	}
	if err := os.WriteFile(target, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{link: target, dangling: filepath.Join(dir, "later")} {
		if _, err := Write(t.Context(), name, entry, free); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s was a link before: %v", name, err)
		}
		if _, err := clientcmd.LoadFromFile(file); err != nil {
			t.Error(err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	locked := file("locked", "", 0o600)
	file("locked.lock", "", 0o600)
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Skip(err)
	}
	for path, why := range map[string]string{file("readonly", "", 0o400): "read-only", file("broken", "a: [", 0o600): "invalid YAML", locked: "another program is writing it", loop: "too many symbolic links"} {
		before, _ := os.ReadFile(path)
		_, err := Write(t.Context(), path, entry, free)
		after, _ := os.ReadFile(path)
		if err == nil || !strings.Contains(err.Error(), why) || string(before) != string(after) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Writers at the same time wait for each other, and none loses what another wrote.
func TestWritersWaitForEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		wg.Go(func() {
			e := entry
			e.Name, e.Context = name, name
			if _, err := Write(context.Background(), path, e, Lock{Wait: time.Hour, Poll: time.Millisecond, After: time.After}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c, err := clientcmd.LoadFromFile(path); err != nil || len(c.Contexts) != 6 {
		t.Errorf("%v, %d contexts", err, len(c.Contexts))
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if _, err := Write(t.Context(), b, entry, free); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		return map[string]string{"KUBECONFIG": a + string(filepath.ListSeparator) + b, "HOME": dir}[name]
	}
	for cluster, want := range map[string]string{entry.Name: b, "other": a} {
		if got, err := File("", cluster, env); err != nil || got != want {
			t.Errorf("%s: %s, %v", cluster, got, err)
		}
	}
	if got, _ := File("x", entry.Name, env); got != "x" {
		t.Error(got)
	}
	home := func(name string) string { return map[string]string{"HOME": dir}[name] }
	if got, _ := File("", "x", home); got != filepath.Join(dir, ".kube", "config") {
		t.Error(got)
	}
}
