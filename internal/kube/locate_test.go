package kube

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// env is an environment for tests.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// configFile writes a file with the given clusters (name=server), contexts
// (name=cluster/user/namespace) and users (YAML below the user's name).
func configFile(t testing.TB, current string, clusters, contexts, users []string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Config\ncurrent-context: %q\nclusters:\n", current)
	for _, c := range clusters {
		name, rest, _ := strings.Cut(c, "=")
		fmt.Fprintf(&b, "- name: %s\n  cluster: {server: %q%s}\n", name, strings.Split(rest, "|")[0], strings.Join(append([]string{""}, strings.Split(rest, "|")[1:]...), ", "))
	}
	b.WriteString("contexts:\n")
	for _, c := range contexts {
		name, rest, _ := strings.Cut(c, "=")
		p := strings.Split(rest, "/")
		fmt.Fprintf(&b, "- name: %s\n  context: {cluster: %q, user: %q, namespace: %q}\n", name, p[0], p[1], p[2])
	}
	b.WriteString("users:\n")
	for _, u := range users {
		name, rest, _ := strings.Cut(u, "=")
		fmt.Fprintf(&b, "- name: %s\n  user: %s\n", name, rest)
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLocateNothing(t *testing.T) {
	_, err := Locate(Location{}, env("HOME", t.TempDir()))
	want := `Error: no cluster found: no kubeconfig
  try:  hyperpod connect-cluster NAME   # an Amazon SageMaker HyperPod cluster
        hyperpod list-jobs -A --sandbox   # a practice cluster on this machine
`
	if got := errs.Text(err, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A KUBECONFIG of files that are not there is nothing, too.
	_, err = Locate(Location{}, env("KUBECONFIG", filepath.Join(t.TempDir(), "a")+string(filepath.ListSeparator)+filepath.Join(t.TempDir(), "b")))
	mustSay(t, err, errs.Failure, "no cluster found")
}

// TestFaultsOfAKubeconfig: what is wrong is named, and nothing of the file is repeated, not even by --debug.
func TestFaultsOfAKubeconfig(t *testing.T) {
	const head, lists = "apiVersion: v1\nkind: Config\n", "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'https://c'}}]\n"
	for name, c := range map[string]struct{ text, want string }{
		"a user twice":     {head + lists + "users: [{name: u, user: {token: hush}}, {name: u, user: {password: hush}}]", `it has the user "u" a second time`},
		"a context twice":  {head + "contexts: [{name: 'a \"b', context: {user: hush}}, {name: 'a \"b', context: {}}]", `it has the context "a \"b" a second time`},
		"a cluster twice":  {head + "clusters: [{name: c, cluster: {server: hush}}, {name: c, cluster: {}}]", `it has the cluster "c" a second time`},
		"a list as token":  {head + lists + "users: [{name: u, user: {token: [hush]}}]", "field users.user.token has the wrong type"},
		"a false tag":      {head + lists + "users: [{name: u, user: {token: !!int hush}}]", "invalid YAML"},
		"an escape":        {head + lists + "users: [{name: u, user: {token: \"hush\\q\"}}]", "invalid YAML at line 6"},
		"another version":  {"apiVersion: v2\nkind: Config\n", "it must have apiVersion v1 and kind Config"},
		"another kind":     {"apiVersion: v1\nkind: Secret\n", "it must have apiVersion v1 and kind Config"},
		"a text":           {"hush", "it must be a YAML map with apiVersion, clusters, contexts and users"},
		"a list":           {"[hush]", "it must be a YAML map with apiVersion, clusters, contexts and users"},
		"users as a map":   {head + "users: {hush: {token: hush}}", "field users has the wrong type"},
		"a user as a text": {head + "users: [hush]", "has the wrong type"},
	} {
		path, other := filepath.Join(t.TempDir(), "config"), filepath.Join(t.TempDir(), "other")
		for file, text := range map[string]string{path: c.text, other: head} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, files := range []string{path, other + string(filepath.ListSeparator) + path} {
			_, err := Locate(Location{}, env("KUBECONFIG", files))
			text := errs.Text(err, true)
			if !strings.Contains(text, "cannot read the kubeconfig "+path+": not a valid kubeconfig: ") || !strings.Contains(text, c.want) || strings.Contains(text, "hush") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}

func TestLocate(t *testing.T) {
	one := configFile(t, "dev", []string{"dev=https://dev.example:6443", "bare="}, []string{"dev=dev/me/team-a", "prod=prod/me/", "bare=bare/me/", "nouser=dev/nobody/"}, []string{"me={token: secret-token}"})
	two := configFile(t, "prod", []string{"prod=https://user:hidden@prod.example", "dev=https://other.example"}, nil, nil)
	both := one + string(filepath.ListSeparator) + filepath.Join(t.TempDir(), "missing") + string(filepath.ListSeparator) + two
	none := configFile(t, "", []string{"a=https://a"}, []string{"a=a/me/"}, []string{"me={}"})
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(one)
	if err := os.WriteFile(filepath.Join(home, ".kube", "config"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("a: [b"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := configFile(t, "dev", nil, nil, nil)
	if err := os.WriteFile(empty, []byte("current-context: dev\ncontexts:\n- null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name                              string
		l                                 Location
		env                               func(string) string
		context, server, namespace, token string
		code                              errs.Exit
		says                              []string
	}{
		{name: "file of the flag", l: Location{Kubeconfig: one}, env: env("KUBECONFIG", two), context: "dev", server: "https://dev.example:6443", namespace: "team-a", token: "secret-token"},
		{name: "home", env: env("HOME", home), context: "dev", server: "https://dev.example:6443", namespace: "team-a", token: "secret-token"},
		{name: "home on Windows", env: env("USERPROFILE", home), context: "dev", server: "https://dev.example:6443", namespace: "team-a", token: "secret-token"},
		{name: "several files: the first wins, the rest adds", env: env("KUBECONFIG", both), context: "dev", server: "https://dev.example:6443", namespace: "team-a", token: "secret-token"},
		{name: "context of the flag, cluster of another file", l: Location{Context: "prod"}, env: env("KUBECONFIG", both), context: "prod", server: "https://user:xxxxx@prod.example", token: "secret-token"},
		{name: "unknown context", l: Location{Context: "prd"}, env: env("KUBECONFIG", both), code: errs.NotFound, says: []string{`context "prd" not found in the kubeconfig`, "did you mean:  prod", "--context prod"}},
		{name: "unknown, nothing near", l: Location{Context: "zzzzzz"}, env: env("KUBECONFIG", both), code: errs.NotFound, says: []string{"available:  bare, dev, nouser, prod"}},
		{name: "unknown, no kubeconfig", l: Location{Context: "x"}, env: env(), code: errs.NotFound, says: []string{`context "x" not found`, "hyperpod connect-cluster NAME"}},
		{name: "current context that is gone", l: Location{Kubeconfig: two}, env: env(), code: errs.NotFound, says: []string{`context "prod" not found`}},
		{name: "context without a name: not offered", l: Location{Kubeconfig: empty}, env: env(), code: errs.NotFound, says: []string{`context "dev" not found`, "hyperpod connect-cluster NAME"}},
		{name: "no current context", l: Location{Kubeconfig: none}, env: env(), code: errs.Failure, says: []string{"no cluster found: the kubeconfig has no current context", "--context a"}},
		{name: "cluster that is gone", l: Location{Kubeconfig: one, Context: "prod"}, env: env(), code: errs.Failure, says: []string{`cannot use context "prod"`, `cluster "prod" not found in the kubeconfig`}},
		{name: "cluster without a server", l: Location{Kubeconfig: one, Context: "bare"}, env: env(), code: errs.Failure, says: []string{`cluster "bare" has no server address`}},
		{name: "user that is gone", l: Location{Kubeconfig: one, Context: "nouser"}, env: env(), code: errs.Failure, says: []string{`user "nobody" not found in the kubeconfig`}},
		{name: "file that is gone", l: Location{Kubeconfig: filepath.Join(home, "nope")}, env: env(), code: errs.NotFound, says: []string{"cannot read the kubeconfig", "the file does not exist"}},
		{name: "files of KUBECONFIG that are gone", env: env("KUBECONFIG", filepath.Join(home, "nope")), code: errs.Failure, says: []string{"no cluster found", "KUBECONFIG:  no such file: " + filepath.Join(home, "nope")}},
		{name: "one of several broken: named", env: env("KUBECONFIG", one+string(filepath.ListSeparator)+bad), code: errs.Failure, says: []string{"cannot read the kubeconfig " + bad}},
		{name: "not YAML", l: Location{Kubeconfig: bad}, env: env(), code: errs.Failure, says: []string{"not a valid kubeconfig"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Locate(tt.l, tt.env)
			if tt.code != errs.OK {
				mustSay(t, err, tt.code, tt.says...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Context != tt.context || got.Server != tt.server || got.Namespace != tt.namespace || got.Config.BearerToken != tt.token || got.InCluster || got.Config.QPS != -1 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestLocateInCluster(t *testing.T) {
	dir := t.TempDir()
	inside := env("HOME", t.TempDir(), "KUBERNETES_SERVICE_HOST", "fd00::1", "KUBERNETES_SERVICE_PORT", "443")
	if _, err := locate(Location{}, inside, dir); err == nil {
		t.Error("a pod without a token has no cluster")
	}
	for name, text := range map[string]string{"token": "pod-token\n", "namespace": "team-a", "ca.crt": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := locate(Location{}, inside, dir)
	if err != nil || !got.InCluster || got.Server != "https://[fd00::1]:443" || got.Namespace != "team-a" || got.Config.BearerToken != "pod-token" {
		t.Errorf("got %+v, %v", got, err)
	}
	// A kubeconfig goes first, and a named context is never guessed.
	one := configFile(t, "dev", []string{"dev=https://dev"}, []string{"dev=dev/me/"}, []string{"me={}"})
	got, err = locate(Location{}, env("KUBECONFIG", one, "KUBERNETES_SERVICE_HOST", "10.0.0.1"), dir)
	if err != nil || got.InCluster {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := locate(Location{Context: "x"}, inside, dir); err == nil {
		t.Error("a context that does not exist is an error in a pod, too")
	}
}

func TestContexts(t *testing.T) {
	one := configFile(t, "dev", nil, []string{"b=x/y/", "a=x/y/"}, nil)
	got, err := Contexts("", env("KUBECONFIG", one))
	if err != nil || fmt.Sprint(got) != "[a b]" {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = Contexts(filepath.Join(t.TempDir(), "nope"), env())
	mustSay(t, err, errs.NotFound, "cannot read the kubeconfig")
}

// located connects by a kubeconfig.
func located(t testing.TB, path string, change ...func(*Options)) *Client {
	t.Helper()
	target, err := Locate(Location{Kubeconfig: path}, env())
	if err != nil {
		t.Fatal(err)
	}
	c, _ := connect(t, target.Config, change...)
	return c
}

// Files that a kubeconfig names have a limit too.
func TestLargeFilesOfAKubeconfig(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, bounded.Settings+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"certificate-authority", "client-certificate", "client-key", "tokenFile"} {
		cluster, user := "dev=https://cluster.invalid", "me={token: x}"
		if named := fmt.Sprintf("%s: %q", field, large); field == "certificate-authority" {
			cluster += "|" + named
		} else {
			user = "me={" + named + "}"
		}
		_, err := Locate(Location{Kubeconfig: configFile(t, "dev", []string{cluster}, []string{"dev=dev/me/"}, []string{user})}, env())
		if err == nil || !strings.Contains(errs.Text(err, false), large+" is larger than 1 MiB") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestToken(t *testing.T) {
	cluster := secureServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret-token" || r.Header.Get("Impersonate-User") != "jane" {
			t.Errorf("got %v", r.Header)
		}
		if r.URL.Path != "/k8s/clusters/c-1/api/v1/namespaces/ns/configmaps/a" {
			t.Errorf("got %s", r.URL)
		}
		fmt.Fprint(w, object("a", "1", "1", 7))
	})
	c := located(t, configFile(t, "dev", []string{strings.Replace("dev="+cluster, "|", "/k8s/clusters/c-1|", 1)}, []string{"dev=dev/me/"}, []string{"me={token: secret-token, as: jane}"}))
	if i, err := getItem(c); err != nil || i.Value != 7 {
		t.Errorf("got %+v, %v", i, err)
	}
}
