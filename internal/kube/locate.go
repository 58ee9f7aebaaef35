package kube

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube/kubeconfig"
	"github.com/hyperpod-cli/hyperpod/internal/suggest"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Location is where to look for a cluster; empty fields mean the defaults.
type Location struct {
	Kubeconfig string // a file
	Context    string // a context in it
}

// Target is the cluster that Locate found.
type Target struct {
	Config    *rest.Config
	Context   string
	Cluster   string
	User      string // its name in the kubeconfig; "" for none
	Namespace string // of the context; "" when it has none
	Server    string
	InCluster bool
}

// ErrNoCluster is the cause of an error of Locate if nothing names a cluster.
var ErrNoCluster = errors.New("no kubeconfig names a cluster")

// serviceAccountDir is where a pod finds its credentials.
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// Locate finds the cluster to talk to, in kubectl's order: the file of the flag,
// the files of KUBECONFIG merged, ~/.kube/config, and inside a pod its service
// account. env reads an environment variable. No request is sent.
func Locate(l Location, env func(string) string) (Target, error) {
	return locate(l, env, serviceAccountDir)
}

func locate(l Location, env func(string) string, podDir string) (Target, error) {
	rules := loadingRules(l.Kubeconfig, env)
	raw, err := load(rules)
	if err != nil {
		return Target{}, err
	}
	if len(raw.Contexts) == 0 && l.Context == "" && l.Kubeconfig == "" && env("KUBERNETES_SERVICE_HOST") != "" {
		return inCluster(env, podDir)
	}
	name, err := pickContext(l, raw, missingFiles(l, env))
	if err != nil {
		return Target{}, err
	}
	c := raw.Contexts[name]
	if err := checkContext(name, c, raw); err != nil {
		return Target{}, err
	}
	if err := takeFiles(name, raw.Clusters[c.Cluster], raw.AuthInfos[c.AuthInfo]); err != nil {
		return Target{}, err
	}
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*raw, name, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return Target{}, explainSetup(cannotUse(name), err)
	}
	// Waiting is the server's business (API priority and fairness) and the
	// limiter's; a client-side rate limit only makes many small requests slow.
	cfg.QPS = -1
	return Target{Config: cfg, Context: name, Cluster: c.Cluster, User: c.AuthInfo, Namespace: c.Namespace, Server: serverName(cfg.Host)}, nil
}

// load reads the files of the rules.
func load(rules *clientcmd.ClientConfigLoadingRules) (*api.Config, error) {
	paths := rules.Precedence
	if rules.ExplicitPath != "" {
		paths = []string{rules.ExplicitPath}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil || info.IsDir():
			continue // reported below
		case info.Mode().IsRegular() && info.Size() > bounded.Kubeconfig:
			return nil, explainFile(path, &bounded.TooLarge{Most: bounded.Kubeconfig})
		case info.Mode().IsRegular():
			continue
		}
		// A pipe or a device can be read once, and may have no end.
		data, err := bounded.File(path, bounded.Kubeconfig)
		if err != nil {
			return nil, explainFile(path, err)
		}
		if len(paths) == 1 {
			raw, err := clientcmd.Load(data)
			if err != nil {
				return nil, explainFile(path, err)
			}
			return raw, nil
		}
		if len(data) > 0 {
			return nil, explainFile(path, &fs.PathError{Op: "read", Path: path, Err: errors.New("one of several files must be a regular file")})
		}
	}
	raw, err := rules.Load()
	if err != nil {
		return nil, explainLoad(rules, err)
	}
	return raw, nil
}

// loadingRules are kubectl's: the file of the flag, else the files of KUBECONFIG
// merged, else the one in the home directory.
func loadingRules(file string, env func(string) string) *clientcmd.ClientConfigLoadingRules {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
	if list := env("KUBECONFIG"); list != "" {
		rules.Precedence = filepath.SplitList(list)
	} else if home := homeDir(env); home != "" {
		rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
	}
	return rules
}

// serverName returns an address without a password in it.
func serverName(host string) string {
	if u, err := url.Parse(host); err == nil {
		return u.Redacted()
	}
	return host
}

func homeDir(env func(string) string) string {
	if h := env("HOME"); h != "" {
		return h
	}
	return env("USERPROFILE")
}

// pickContext chooses the context; missing are files that KUBECONFIG names and that
// do not exist.
func pickContext(l Location, raw *api.Config, missing []string) (string, error) {
	names := contextNames(raw)
	name := l.Context
	if name == "" {
		name = raw.CurrentContext
	}
	if name == "" {
		why := "no kubeconfig"
		if len(names) > 0 {
			e := errs.New("no cluster found", "the kubeconfig has no current context").WithCause(ErrNoCluster).WithFact("contexts", words.Some(names, 8))
			return "", e.Suggest(suggest.Context(names[0]), suggest.ConnectCluster("NAME"))
		}
		e := errs.New("no cluster found", why).WithCause(ErrNoCluster)
		if len(missing) > 0 {
			e.WithFact("KUBECONFIG", "no such file: "+words.Some(missing, 8))
		}
		return "", e.Suggest(suggest.ConnectCluster("NAME"), suggest.Sandbox())
	}
	if _, ok := raw.Contexts[name]; ok {
		return name, nil
	}
	e := errs.NotFoundf("context %q not found in the kubeconfig", name)
	if len(names) == 0 {
		return "", e.Suggest(suggest.ConnectCluster("NAME"))
	}
	if near := errs.Near(name, names); len(near) > 0 {
		return "", e.WithFact("did you mean", strings.Join(near, ", ")).Suggest(suggest.Context(near[0]))
	}
	return "", e.WithFact("available", words.Some(names, 8))
}

// missingFiles returns the files of KUBECONFIG that do not exist: kubectl's rules
// pass over them in silence.
func missingFiles(l Location, env func(string) string) (out []string) {
	if l.Kubeconfig != "" {
		return nil
	}
	for _, path := range filepath.SplitList(env("KUBECONFIG")) {
		if path != "" && !fileExists(path) {
			out = append(out, path)
		}
	}
	return out
}

// explainLoad says which file cannot be read, and why in words of its own: the
// library's name Go types.
func explainLoad(rules *clientcmd.ClientConfigLoadingRules, err error) error {
	paths := rules.Precedence
	if rules.ExplicitPath != "" {
		paths = []string{rules.ExplicitPath}
	}
	for _, path := range paths {
		if _, fileErr := clientcmd.LoadFromFile(path); fileErr != nil && (rules.ExplicitPath != "" || !errors.Is(fileErr, fs.ErrNotExist)) {
			return explainFile(path, fileErr)
		}
	}
	return errs.New("cannot read the kubeconfig", kubeconfig.Fault(err))
}

func explainFile(path string, err error) error {
	what := "cannot read the kubeconfig " + path
	var fileError *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return (&errs.Error{What: what, Why: "the file does not exist", Code: errs.NotFound}).WithCause(err)
	case errors.Is(err, fs.ErrPermission):
		return (&errs.Error{What: what, Why: "permission denied", Code: errs.Denied}).WithCause(err)
	case errors.As(err, &fileError):
		return errs.New(what, fileError.Err.Error()).WithCause(err)
	case errors.As(err, new(*bounded.TooLarge)):
		return errs.New(what, "it is "+err.Error()).WithCause(err)
	}
	return errs.New(what, "not a valid kubeconfig: "+kubeconfig.Fault(err)) // without the cause, which may repeat a token
}

func cannotUse(context string) string {
	return fmt.Sprintf("cannot use context %q of the kubeconfig", context)
}

// checkContext finds what a context names but the kubeconfig does not have.
func checkContext(name string, c *api.Context, raw *api.Config) error {
	cluster, ok := raw.Clusters[c.Cluster]
	switch {
	case !ok:
		return errs.New(cannotUse(name), fmt.Sprintf("cluster %q not found in the kubeconfig", c.Cluster))
	case cluster.Server == "":
		return errs.New(cannotUse(name), fmt.Sprintf("cluster %q has no server address", c.Cluster))
	}
	if _, ok := raw.AuthInfos[c.AuthInfo]; !ok && c.AuthInfo != "" {
		return errs.New(cannotUse(name), fmt.Sprintf("user %q not found in the kubeconfig", c.AuthInfo))
	}
	return nil
}

// takeFiles checks the files of certificates and tokens that a context names: client-go reads them without a limit. The
// text of a pipe or a device, which can be read once, takes the place of its name.
func takeFiles(context string, cluster *api.Cluster, user *api.AuthInfo) error {
	if user == nil {
		user = &api.AuthInfo{}
	}
	var token []byte
	for _, f := range []struct {
		path *string
		data *[]byte
	}{{&cluster.CertificateAuthority, &cluster.CertificateAuthorityData}, {&user.ClientCertificate, &user.ClientCertificateData},
		{&user.ClientKey, &user.ClientKeyData}, {&user.TokenFile, &token}} {
		info, err := os.Stat(*f.path)
		if *f.path == "" || err != nil || info.IsDir() {
			continue // client-go says what is wrong
		}
		var data []byte
		if info.Mode().IsRegular() && info.Size() > bounded.Settings {
			err = &bounded.TooLarge{Most: bounded.Settings}
		} else if !info.Mode().IsRegular() {
			data, err = bounded.File(*f.path, bounded.Settings)
		}
		if err != nil {
			return errs.New(cannotUse(context), *f.path+" is "+err.Error()).WithCause(err)
		}
		if data != nil {
			*f.path, *f.data = "", data
		}
	}
	if token != nil {
		user.Token = strings.TrimSpace(string(token))
	}
	return nil
}

// inCluster makes a target of a pod's service account.
func inCluster(env func(string) string, dir string) (Target, error) {
	host, port := env("KUBERNETES_SERVICE_HOST"), env("KUBERNETES_SERVICE_PORT")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	token := filepath.Join(dir, "token")
	data, err := bounded.File(token, bounded.Settings)
	if err != nil {
		return Target{}, errs.New("no cluster found", "no kubeconfig, and no service account token in this pod").WithCause(err)
	}
	cfg := &rest.Config{Host: "https://" + host, BearerToken: strings.TrimSpace(string(data)), BearerTokenFile: token, QPS: -1}
	if ca := filepath.Join(dir, "ca.crt"); fileExists(ca) {
		cfg.CAFile = ca
	}
	ns, _ := bounded.File(filepath.Join(dir, "namespace"), bounded.Settings) // a missing file means no default
	return Target{Config: cfg, Cluster: "in-cluster", Namespace: strings.TrimSpace(string(ns)), Server: cfg.Host, InCluster: true}, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
